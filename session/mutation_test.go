package session

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"conclave/internal/jsontext"
	"conclave/internal/sample"
	"conclave/session/kind"
	"conclave/transcript"
)

// all are the programs of which there are captures, old and new.
var all = append([]string{"claude", "claude-2.1.197", "codex"}, newcomers...)

// told is an entry that says something: its type, what it is of, and its words.
type told struct{ what, words string }

// known are the entries that say something: what a capture tells whoever reads it.
func known(k *kind.Kind, path string, lines [][]byte) (list []told, items []transcript.Item) {
	m := k.NewMapper(Of(path, k), kind.Options{})
	tell := func(items []transcript.Item) {
		for i := range items {
			it := &items[i]
			f := m.Facts(i)
			var words []byte
			if spoken(it.Type) {
				words = m.Words(nil, i)
			}
			switch {
			case it.Type == transcript.Unknown, it.Type == transcript.SystemEvent:
			case f.Usage != nil:
				list = append(list, told{fmt.Sprint(it.Type, f.Model, *f.Usage), ""})
			default:
				list = append(list, told{fmt.Sprint(it.Type, " ", f.Tool, f.ToolID, f.Failed), string(words)})
			}
		}
	}
	for _, line := range lines {
		now := m.Append(nil, line)
		tell(now)
		items = append(items, now...)
	}
	now := m.Flush()
	tell(now)
	return list, append(items, now...)
}

// lost says which of the entries that were told before are told no more. There may
// be new ones, and new words in one: what a tool is called with is the program's.
func lost(before, after []told) string {
	used := make([]bool, len(after))
	for _, e := range before {
		i := slices.IndexFunc(after, func(now told) bool { return now == e })
		for i >= 0 && used[i] {
			next := slices.IndexFunc(after[i+1:], func(now told) bool { return now == e })
			if i += 1 + next; next < 0 {
				i = -1
			}
		}
		if i < 0 {
			i = slices.IndexFunc(after, func(now told) bool { return now.what == e.what && within(now.words, e.words) })
		}
		if i < 0 {
			return e.what + ": " + e.words
		}
		used[i] = true
	}
	return ""
}

// within says whether all lines of some words are among those of others.
func within(words, some string) bool {
	have := strings.Split(words, "\n")
	for line := range strings.SplitSeq(some, "\n") {
		if !slices.Contains(have, line) {
			return false
		}
	}
	return true
}

// places are where the objects of a line begin, with their depth.
func places(line []byte) (list []int) {
	quoted := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == '{' && !quoted:
			list = append(list, i)
		}
	}
	return list
}

// arrays are where the arrays of objects in a line begin.
func arrays(line []byte) (list []int) {
	for _, at := range places(line) {
		if at > 0 && line[at-1] == '[' {
			list = append(list, at)
		}
	}
	return list
}

func insert(line []byte, at int, text string) []byte {
	return bytes.Join([][]byte{line[:at], []byte(text), line[at:]}, nil)
}

// mutation changes lines in a way that a later version of the program might; ok is
// false where there is no place for it.
type mutation struct {
	name string
	do   func(lines [][]byte, draw *rand.Rand) (changed [][]byte, ok bool)
}

var mutations = []mutation{
	{"a member", func(lines [][]byte, draw *rand.Rand) ([][]byte, bool) {
		n := draw.IntN(len(lines))
		at := places(lines[n])
		if len(at) == 0 {
			return nil, false
		}
		i := at[draw.IntN(len(at))] + 1
		member := `"neverSeen":{"deep":[1,{"text":"x"}],"n":null}`
		if bytes.HasPrefix(bytes.TrimLeft(lines[n][i:], " "), []byte("}")) {
			return with(lines, n, insert(lines[n], i, member)), true
		}
		return with(lines, n, insert(lines[n], i, member+",")), true
	}},
	{"a block", func(lines [][]byte, draw *rand.Rand) ([][]byte, bool) {
		n := draw.IntN(len(lines))
		at := arrays(lines[n])
		if len(at) == 0 {
			return nil, false
		}
		return with(lines, n, insert(lines[n], at[draw.IntN(len(at))], `{"type":"never_seen","neverSeen":true},`)), true
	}},
	{"a line of no known type", func(lines [][]byte, draw *rand.Rand) ([][]byte, bool) {
		return between(lines, draw, `{"type":"never.seen","id":"n1","timestamp":"2026-11-16T06:30:53.018Z","data":{"text":"x"}}`), true
	}},
	{"a line like its neighbour's, of no known type", func(lines [][]byte, draw *rand.Rand) ([][]byte, bool) {
		n := draw.IntN(len(lines))
		typ := jsontext.Get(lines[n], "type")
		if typ == nil {
			return nil, false
		}
		copied := bytes.Replace(lines[n], typ, []byte(`"never.seen"`), 1)
		for _, id := range []string{"id", "uuid", "key"} {
			if v := jsontext.Get(copied, id); len(v) > 4 && v[0] == '"' {
				copied = bytes.ReplaceAll(copied, v, jsontext.Quote("other-"+jsontext.Text(v)))
			}
		}
		return between(lines, draw, string(copied)), true
	}},
	{"a line that is an array", func(lines [][]byte, draw *rand.Rand) ([][]byte, bool) {
		return between(lines, draw, `[{"type":"user"},3]`), true
	}},
	{"a line that is no JSON", func(lines [][]byte, draw *rand.Rand) ([][]byte, bool) {
		return between(lines, draw, `{"type":"user","message":`), true
	}},
	{"a line that is empty of everything", func(lines [][]byte, draw *rand.Rand) ([][]byte, bool) {
		return between(lines, draw, `{}`), true
	}},
	{"members in another order", func(lines [][]byte, draw *rand.Rand) ([][]byte, bool) {
		n := draw.IntN(len(lines))
		turned := reversed(lines[n])
		return with(lines, n, turned), turned != nil
	}},
	{"space between members", func(lines [][]byte, draw *rand.Rand) ([][]byte, bool) {
		n := draw.IntN(len(lines))
		at := places(lines[n])
		if len(at) == 0 {
			return nil, false
		}
		return with(lines, n, insert(lines[n], at[draw.IntN(len(at))]+1, " \t")), true
	}},
}

func with(lines [][]byte, n int, line []byte) [][]byte {
	out := append([][]byte(nil), lines...)
	out[n] = line
	return out
}

// between puts a line somewhere behind the first, which says whose file it is.
func between(lines [][]byte, draw *rand.Rand, line string) [][]byte {
	n := 1 + draw.IntN(len(lines))
	out := append([][]byte(nil), lines[:n]...)
	return append(append(out, []byte(line)), lines[n:]...)
}

// reversed is an object with its members in reverse order; nil when it has none,
// or one twice, of which the last counts.
func reversed(line []byte) []byte {
	var members [][]byte
	seen := map[string]bool{}
	err := jsontext.Walk(line, func(key, value []byte) error {
		if seen[string(key)] {
			members = nil
			return jsontext.ErrNotObject
		}
		seen[string(key)] = true
		quoted, _ := jsontext.AppendString(nil, key)
		members = append([][]byte{append(append(quoted, ':'), value...)}, members...)
		return nil
	})
	if err != nil || len(members) < 2 {
		return nil
	}
	return append(append([]byte{'{'}, bytes.Join(members, []byte{','})...), '}')
}

// TestMutations: an unknown member, type, block or order added anywhere in what a
// real program wrote leaves no byte unaccounted for, and loses no entry that was
// known.
func TestMutations(t *testing.T) {
	t.Parallel()
	made := map[string]int{}
	rounds := sample.Count(1, 1, 60)
	most := sample.Count(40<<10, 40<<10, 300<<10)
	for i, c := range captures(t, all...) {
		if len(c.text) > most {
			continue
		}
		lines := c.lines()
		before, items := known(c.kind, c.path, lines)
		if what := unaccounted(items, lines); what != "" {
			continue // two directions in one file: see the tests of that program
		}
		for m := range mutations {
			if !sample.All() && (i+m)%3 != 0 {
				continue
			}
			for round := range rounds {
				draw := rand.New(rand.NewPCG(uint64(round), uint64(m)))
				changed, ok := mutations[m].do(lines, draw)
				if !ok {
					continue
				}
				made[mutations[m].name]++
				after, items := known(c.kind, c.path, changed)
				if what := unaccounted(items, changed); what != "" {
					t.Errorf("%s, %s (%d): %s", c.name, mutations[m].name, round, what)
				}
				if what := lost(before, after); what != "" {
					t.Errorf("%s, %s (%d): lost: %.300s\n%s", c.name, mutations[m].name, round, what, difference(lines, changed))
				}
			}
		}
	}
	for _, m := range mutations {
		if made[m.name] < 5 {
			t.Errorf("%s was tried %d times", m.name, made[m.name])
		}
	}
}

// difference is the first line that differs.
func difference(a, b [][]byte) string {
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			return fmt.Sprintf("line %d: %.600s", i+1, strings.ToValidUTF8(string(b[i]), "?"))
		}
	}
	return "at its end"
}
