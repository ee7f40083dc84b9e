package redact

// automaton finds all of many short words in one pass (Aho and Corasick). It
// folds ASCII letters: a rule that minds the case looks again.
type automaton struct {
	class  [256]uint8 // bytes that no anchor has are one class
	width  int
	next   []uint32 // next[state+class]; states are multiples of width
	speaks uint32   // states from here on end an anchor
	out    [][]int  // anchors by state, from speaks on
}

type node struct {
	next map[byte]int
	fail int
	out  []int
}

func fold(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func newAutomaton(words []string) *automaton {
	nodes := trie(words)
	order := link(nodes)
	a := &automaton{width: 1}
	for _, w := range words {
		for i := range len(w) {
			if c := fold(w[i]); a.class[c] == 0 {
				a.class[c] = uint8(a.width)
				a.width++
			}
		}
	}
	for c := byte('A'); c <= 'Z'; c++ {
		a.class[c] = a.class[fold(c)]
	}
	a.fill(nodes, order)
	return a
}

func trie(words []string) []node {
	nodes := []node{{next: map[byte]int{}}}
	for i, w := range words {
		at := 0
		for j := range len(w) {
			c := fold(w[j])
			to, ok := nodes[at].next[c]
			if !ok {
				to = len(nodes)
				nodes = append(nodes, node{next: map[byte]int{}})
				nodes[at].next[c] = to
			}
			at = to
		}
		nodes[at].out = append(nodes[at].out, i)
	}
	return nodes
}

// link sets the fail links and returns the nodes in the order of their depth.
func link(nodes []node) []int {
	order := []int{0}
	for i := 0; i < len(order); i++ {
		at := order[i]
		for c, to := range nodes[at].next {
			order = append(order, to)
			if at == 0 {
				continue
			}
			f := nodes[at].fail
			for f != 0 {
				if _, ok := nodes[f].next[c]; ok {
					break
				}
				f = nodes[f].fail
			}
			if g, ok := nodes[f].next[c]; ok {
				f = g
			}
			nodes[to].fail = f
		}
	}
	for _, n := range order[1:] {
		nodes[n].out = append(nodes[n].out, nodes[nodes[n].fail].out...)
	}
	return order
}

// fill writes the table. States that end an anchor are numbered last, so that
// the loop needs one comparison to see them.
func (a *automaton) fill(nodes []node, order []int) {
	number := make([]int, len(nodes))
	count := 0
	for _, loud := range []bool{false, true} {
		if loud {
			a.speaks = uint32(count * a.width)
		}
		for _, n := range order {
			if (len(nodes[n].out) > 0) == loud {
				number[n] = count
				count++
				if loud {
					a.out = append(a.out, nodes[n].out)
				}
			}
		}
	}
	a.next = make([]uint32, count*a.width)
	for _, n := range order {
		row := a.next[number[n]*a.width : (number[n]+1)*a.width]
		if n != 0 {
			fail := number[nodes[n].fail]
			copy(row, a.next[fail*a.width:(fail+1)*a.width])
		}
		for c, to := range nodes[n].next {
			row[a.class[c]] = uint32(number[to] * a.width)
		}
	}
}

// scan calls found with each anchor and the place behind it.
func (a *automaton) scan(src []byte, found func(word, end int)) {
	state := uint32(0)
	for i, c := range src {
		state = a.next[state+uint32(a.class[c])]
		if state >= a.speaks {
			for _, w := range a.out[(state-a.speaks)/uint32(a.width)] {
				found(w, i+1)
			}
		}
	}
}
