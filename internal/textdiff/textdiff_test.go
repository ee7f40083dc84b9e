package textdiff

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestHunks(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{"the same", "a\nb\n", "a\nb\n", ""},
		{"both empty", "", "", ""},
		{"new", "", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"gone", "a\n", "", "@@ -1 +0,0 @@\n-a\n"},
		{"one line", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n",
			"@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"},
		{"newline at the end", "a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{"two hunks", "a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n",
			"@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n"},
		{"one hunk", "a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n",
			"@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n"},
		{"moved", "a\nb\nc\n", "b\nc\na\n", "@@ -1,3 +1,3 @@\n-a\n b\n c\n+a\n"},
	} {
		if got := string(Hunks([]byte(c.from), []byte(c.to))); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// What hunks say, done to the one text, gives the other; done backwards too.
func TestHunksAreTrue(t *testing.T) {
	line := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\n", "\n", "-x\n", "+y\n", "@@ -1 +1 @@\n", "\\ No\n"})
	text := rapid.Custom(func(t *rapid.T) []byte {
		b := strings.Join(rapid.SliceOfN(line, 0, 40).Draw(t, "lines"), "")
		return []byte(b + rapid.SampledFrom([]string{"", "a", "z"}).Draw(t, "end"))
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		hunks := Hunks(a, b)
		got, err := apply(a, hunks)
		if err != nil || !bytes.Equal(got, b) {
			t.Fatalf("%v\n%s\nmakes\n%q of\n%q, want\n%q", err, hunks, got, a, b)
		}
		if (len(hunks) == 0) != bytes.Equal(a, b) {
			t.Fatalf("%q and %q differ by %q", a, b, hunks)
		}
		if n := bytes.Count(hunks, []byte("\n-")) + bytes.Count(hunks, []byte("\n+")); n > 2*(len(a)+len(b))+2 {
			t.Fatalf("%d lines of change", n)
		}
	})
}

// Large texts with much and with little in common take no time, and are true.
func TestLargeTexts(t *testing.T) {
	var a, b, c bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&a, "line %d\n", i)
		switch {
		case i%3 == 0:
			fmt.Fprintf(&b, "line %d\n", i)
		default:
			fmt.Fprintf(&b, "other %d\n", i)
		}
		fmt.Fprintf(&c, "%d\n", i%7)
	}
	for _, p := range [][2][]byte{{a.Bytes(), b.Bytes()}, {a.Bytes(), c.Bytes()}, {c.Bytes(), c.Bytes()[100:]}, {nil, a.Bytes()}} {
		hunks := Hunks(p[0], p[1])
		if got, err := apply(p[0], hunks); err != nil || !bytes.Equal(got, p[1]) {
			t.Fatalf("it is not true: %v", err)
		}
	}
	if n := bytes.Count(Hunks(a.Bytes(), b.Bytes()), []byte("\n-")); n > 14_000 {
		t.Errorf("%d of 13,000 changed lines: what is common is not found", n)
	}
}

func TestBinary(t *testing.T) {
	if Binary([]byte("text")) || !Binary([]byte("a\x00b")) || Binary(append(bytes.Repeat([]byte("a"), 8000), 0)) {
		t.Error("what git calls binary, this does not")
	}
}

var head = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\n$`)

// apply does what hunks say, and believes nothing of them.
func apply(text, hunks []byte) ([]byte, error) {
	in := bytes.SplitAfter(text, []byte("\n"))
	var out []byte
	next, left, right := 0, 0, 0
	lines := bytes.SplitAfter(hunks, []byte("\n"))
	for n := 0; n < len(lines)-1; n++ {
		line := lines[n]
		if left == 0 && right == 0 {
			m := head.FindSubmatch(line)
			if m == nil {
				return nil, fmt.Errorf("no hunk: %q", line)
			}
			count := func(b []byte) int {
				if len(b) == 0 {
					return 1
				}
				c, _ := strconv.Atoi(string(b))
				return c
			}
			from, _ := strconv.Atoi(string(m[1]))
			left, right = count(m[2]), count(m[4])
			if left > 0 {
				from--
			}
			for ; next < from; next++ {
				out = append(out, in[next]...)
			}
			continue
		}
		said := line[1:]
		if n+1 < len(lines) && bytes.HasPrefix(lines[n+1], []byte("\\ No newline at end")) {
			said = said[:len(said)-1]
			n++
		}
		switch line[0] {
		case ' ', '-':
			if !bytes.Equal(in[next], said) {
				return nil, fmt.Errorf("line %d is %q, not %q", next+1, in[next], said)
			}
			next, left = next+1, left-1
			if line[0] == ' ' {
				out, right = append(out, said...), right-1
			}
		case '+':
			out, right = append(out, said...), right-1
		default:
			return nil, fmt.Errorf("%q", line)
		}
	}
	for ; next < len(in); next++ {
		out = append(out, in[next]...)
	}
	return out, nil
}
