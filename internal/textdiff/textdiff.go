// Package textdiff says how two texts differ, as hunks of a unified diff.
//
// The same two texts always give the same bytes, on every machine and whatever
// git is installed there: a digest of a change can be checked elsewhere. The hunks
// are those that patch and git apply take. They are as short as the search finds
// within bounds; texts that have little in common are shown as one taken away and
// the other put in its place. It knows nothing of files, names and attributes.
package textdiff

import (
	"bytes"
	"fmt"
	"slices"
)

const (
	around  = 3    // lines of context
	maxCost = 1000 // differing lines that the shortest way is looked for
)

// Hunks are the differences of two texts; none if they are the same.
func Hunks(from, to []byte) []byte {
	d := &differ{ids: map[string]int32{}}
	d.a, d.b = d.lines(from), d.lines(to)
	d.keptA, d.keptB = make([]bool, len(d.a)), make([]bool, len(d.b))
	d.compare(0, len(d.a), 0, len(d.b))
	return d.render()
}

// Binary says whether bytes are no text, as git tells it: by a NUL at the
// beginning.
func Binary(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0
}

// differ marks the lines that stay.
type differ struct {
	ids          map[string]int32
	texts        [][]byte // by number
	a, b         []int32  // the lines of both, as numbers
	keptA, keptB []bool
}

func (d *differ) lines(text []byte) []int32 {
	var out []int32
	for line := range bytes.Lines(text) {
		id, there := d.ids[string(line)]
		if !there {
			id = int32(len(d.texts))
			d.ids[string(line)] = id
			d.texts = append(d.texts, line)
		}
		out = append(out, id)
	}
	return out
}

func (d *differ) keep(i, j int) { d.keptA[i], d.keptB[j] = true, true }

// compare marks what is common to a[i:m] and b[j:n].
func (d *differ) compare(i, m, j, n int) {
	for i < m && j < n && d.a[i] == d.b[j] {
		d.keep(i, j)
		i, j = i+1, j+1
	}
	for i < m && j < n && d.a[m-1] == d.b[n-1] {
		m, n = m-1, n-1
		d.keep(m, n)
	}
	if i == m || j == n || d.shortest(i, m, j, n) {
		return
	}
	fixed := d.anchors(i, m, j, n) // too different for that
	for _, p := range fixed {
		d.compare(i, p[0], j, p[1])
		d.keep(p[0], p[1])
		i, j = p[0]+1, p[1]+1
	}
	if len(fixed) > 0 {
		d.compare(i, m, j, n)
	}
}

// shortest marks the longest common lines, by the way of Myers: for each number
// of differences, how far one comes on each diagonal. It gives up, and marks
// nothing, where there are too many.
func (d *differ) shortest(i, m, j, n int) bool {
	a, b := d.a[i:m], d.b[j:n]
	most := min(len(a)+len(b), maxCost)
	far := make([]int32, 2*most+3) // by diagonal, from -most-1 on
	at := func(k int) *int32 { return &far[k+most+1] }
	var trace [][]int32 // of each number of differences, what was before
	for cost := 0; cost <= most; cost++ {
		trace = append(trace, slices.Clone(far[most+1-cost-1:most+1+cost+2]))
		for k := -cost; k <= cost; k += 2 {
			x := *at(k - 1) + 1
			if k == -cost || k != cost && *at(k - 1) < *at(k + 1) {
				x = *at(k + 1)
			}
			y := int(x) - k
			for int(x) < len(a) && y < len(b) && a[x] == b[y] {
				x, y = x+1, y+1
			}
			*at(k) = x
			if int(x) >= len(a) && y >= len(b) {
				d.walkBack(trace, i, j, len(a), len(b))
				return true
			}
		}
	}
	return false
}

// walkBack marks what stays on the way that was found.
func (d *differ) walkBack(trace [][]int32, i, j, x, y int) {
	for cost := len(trace) - 1; cost >= 0; cost-- {
		before := func(k int) int { return int(trace[cost][k+cost+1]) }
		k := x - y
		from := k - 1
		if k == -cost || k != cost && before(k-1) < before(k+1) {
			from = k + 1
		}
		px := before(from)
		py := px - from
		for x > max(px, 0) && y > max(py, 0) {
			x, y = x-1, y-1
			d.keep(i+x, j+y)
		}
		x, y = px, py
	}
}

// anchors are lines that stand once in each part, in the same order in both: the
// longest such row.
func (d *differ) anchors(i, m, j, n int) [][2]int {
	count := map[int32][4]int{} // how often and where, in a and in b
	for x := i; x < m; x++ {
		c := count[d.a[x]]
		count[d.a[x]] = [4]int{c[0] + 1, x, c[2], c[3]}
	}
	for y := j; y < n; y++ {
		c := count[d.b[y]]
		count[d.b[y]] = [4]int{c[0], c[1], c[2] + 1, y}
	}
	var pairs [][2]int
	for x := i; x < m; x++ {
		if c := count[d.a[x]]; c[0] == 1 && c[2] == 1 {
			pairs = append(pairs, [2]int{x, c[3]})
		}
	}
	return rising(pairs)
}

// rising is the longest row of pairs whose second numbers rise.
func rising(pairs [][2]int) [][2]int {
	var tails []int // of the row of each length, the pair that it ends with
	before := make([]int, len(pairs))
	for p, pair := range pairs {
		at, _ := slices.BinarySearchFunc(tails, pair[1], func(t, y int) int { return pairs[t][1] - y })
		before[p] = -1
		if at > 0 {
			before[p] = tails[at-1]
		}
		if at == len(tails) {
			tails = append(tails, p)
		}
		tails[at] = p
	}
	if len(tails) == 0 {
		return nil
	}
	var out [][2]int
	for p := tails[len(tails)-1]; p >= 0; p = before[p] {
		out = append(out, pairs[p])
	}
	slices.Reverse(out)
	return out
}

// change is a row of lines that differ: a[i:m] became b[j:n].
type change struct{ i, m, j, n int }

func (d *differ) changes() []change {
	var out []change
	for i, j := 0, 0; i < len(d.a) || j < len(d.b); {
		if i < len(d.a) && d.keptA[i] && j < len(d.b) && d.keptB[j] {
			i, j = i+1, j+1
			continue
		}
		c := change{i: i, j: j}
		for i < len(d.a) && !d.keptA[i] {
			i++
		}
		for j < len(d.b) && !d.keptB[j] {
			j++
		}
		c.m, c.n = i, j
		out = append(out, c)
	}
	return out
}

func (d *differ) render() []byte {
	var out bytes.Buffer
	all := d.changes()
	for first := 0; first < len(all); {
		last := first
		for last+1 < len(all) && all[last+1].i-all[last].m <= 2*around {
			last++
		}
		d.hunk(&out, all[first:last+1])
		first = last + 1
	}
	return out.Bytes()
}

func (d *differ) hunk(out *bytes.Buffer, list []change) {
	lead := min(around, list[0].i)
	end := list[len(list)-1]
	tail := min(around, len(d.a)-end.m)
	i, j := list[0].i-lead, list[0].j-lead
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(i, end.m+tail), span(j, end.n+tail))
	for _, c := range list {
		d.write(out, ' ', d.a[i:c.i])
		d.write(out, '-', d.a[c.i:c.m])
		d.write(out, '+', d.b[c.j:c.n])
		i = c.m
	}
	d.write(out, ' ', d.a[i:end.m+tail])
}

// span is where lines stand, as hunks say it: the number of the first, unless
// there is none, and how many unless it is one.
func span(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func (d *differ) write(out *bytes.Buffer, mark byte, lines []int32) {
	for _, id := range lines {
		line := d.texts[id]
		out.WriteByte(mark)
		out.Write(line)
		if line[len(line)-1] != '\n' {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}
