package gateway

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// needles are the forms of a key that a stream is searched for, as one
// automaton that takes every byte once: the key itself, its hexadecimal digits,
// and what base64 makes of it wherever it stands in what was encoded. Escapes
// are taken off before a byte comes here (see text).
type needles struct {
	forms [][]byte
	nodes []node
	first [256]int32 // the children of the root
	dull  [256]bool  // bytes that begin neither a form, nor an escape, nor end a string
	blank [256]bool  // of these, those that mean nothing between strings either
}

type node struct {
	c             byte
	whole         bool
	depth         int32
	fail          int32
	child, sister int32
}

// newNeedles is nil where no key is long enough to be told from ordinary text.
func newNeedles(keys ...string) *needles {
	n := &needles{nodes: make([]node, 1)}
	for _, key := range keys {
		if len(key) >= guardLeast {
			n.forms = append(n.forms, forms([]byte(key))...)
		}
	}
	if len(n.forms) == 0 {
		return nil
	}
	for _, f := range n.forms {
		n.add(f)
	}
	n.link()
	for c := range n.dull {
		n.dull[c] = n.first[c] == 0 && strings.IndexByte("\"\\%\r\n", byte(c)) < 0
		n.blank[c] = n.dull[c] && strings.IndexByte("{}[],", byte(c)) < 0
	}
	return n
}

// skip is how many bytes of a kind a text begins with.
func skip(kind *[256]bool, b []byte) int {
	for i, c := range b {
		if !kind[c] {
			return i
		}
	}
	return len(b)
}

func forms(key []byte) [][]byte {
	digits := hex.EncodeToString(key)
	out := [][]byte{key, []byte(digits), []byte(strings.ToUpper(digits))}
	for shift := range 3 {
		// The letters at either end depend on what stands beside the key.
		text := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), key...))
		text = text[(shift*8+5)/6 : (shift+len(key))*8/6]
		for _, form := range []string{text, strings.NewReplacer("+", "-", "/", "_").Replace(text)} {
			if len(form) >= guardLeast {
				out = append(out, []byte(form))
			}
		}
	}
	return out
}

func (n *needles) add(form []byte) {
	at := int32(0)
	for _, c := range form {
		next := n.childOf(at, c)
		if next == 0 {
			next = int32(len(n.nodes))
			made := node{c: c, depth: n.nodes[at].depth + 1}
			if at == 0 {
				n.first[c] = next
			} else {
				made.sister, n.nodes[at].child = n.nodes[at].child, next
			}
			n.nodes = append(n.nodes, made)
		}
		at = next
	}
	n.nodes[at].whole = true
}

func (n *needles) childOf(at int32, c byte) int32 {
	if at == 0 {
		return n.first[c]
	}
	for next := n.nodes[at].child; next != 0; next = n.nodes[next].sister {
		if n.nodes[next].c == c {
			return next
		}
	}
	return 0
}

// link notes for each node where its longest own ending begins a form, going
// from the root outwards.
func (n *needles) link() {
	var queue []int32
	for _, next := range n.first {
		if next != 0 {
			queue = append(queue, next)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for next := n.nodes[at].child; next != 0; next = n.nodes[next].sister {
			n.nodes[next].fail = n.step(n.nodes[at].fail, n.nodes[next].c)
			n.nodes[next].whole = n.nodes[next].whole || n.nodes[n.nodes[next].fail].whole
			queue = append(queue, next)
		}
	}
}

// step is where the automaton is after one more byte.
func (n *needles) step(at int32, c byte) int32 {
	for {
		if next := n.childOf(at, c); next != 0 {
			return next
		}
		if at == 0 {
			return 0
		}
		at = n.nodes[at].fail
	}
}

// in says whether a text holds the key in any form, escaped or not.
func (n *needles) in(b []byte) bool {
	if n == nil {
		return false
	}
	if slices.ContainsFunc(n.forms, func(f []byte) bool { return bytes.Contains(b, f) }) {
		return true
	}
	if bytes.IndexByte(b, '%') < 0 && !bytes.Contains(b, []byte(`\u00`)) && !bytes.Contains(b, []byte(`\/`)) {
		return false // nothing is escaped that a key has
	}
	t := text{n: n}
	return t.holds(b)
}
