package table

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"
)

// runWords is how many words in a row make a verbatim run.
const runWords = 8

// Guard compares texts with what only the GM may know.
type Guard struct {
	paths   []string
	runs    map[uint64]int // hash of a run to the index of its path
	secrets []guardSecret
}

type guardSecret struct {
	id, path string
	n        int // words of a run
	runs     map[uint64]bool
}

// GuardText is a text that a reader must not see, and where it comes from.
type GuardText struct{ Path, Text string }

// Leak is a place where a text says what its reader may not know.
type Leak struct {
	Path   string // where the words come from
	Secret string // id of the tagged secret, if it is one
	Words  string // the words
}

func (l Leak) String() string {
	if l.Secret != "" {
		return fmt.Sprintf("secret %s of %s: %q", l.Secret, l.Path, clip(l.Words, 120))
	}
	return fmt.Sprintf("words of %s: %q", l.Path, clip(l.Words, 120))
}

// NewGuard takes the texts to protect: story state, beats, NPCs, and the sheets
// and journals of others.
func NewGuard(texts []GuardText) *Guard {
	g := &Guard{runs: map[uint64]int{}}
	for i, t := range texts {
		g.paths = append(g.paths, t.Path)
		for h := range windows(words(secretTag.ReplaceAllString(t.Text, " ")), runWords) {
			g.runs[h] = i
		}
		for _, s := range Secrets(t.Text) {
			w := words(s.Text)
			gs := guardSecret{id: s.ID, path: t.Path, n: min(runWords, len(w)), runs: map[uint64]bool{}}
			if len(w) == 1 && len(w[0]) < 5 {
				gs.n = 0 // a single short word is everywhere
			}
			for h := range windows(w, gs.n) {
				gs.runs[h] = true
			}
			g.secrets = append(g.secrets, gs)
		}
	}
	return g
}

// Check looks for runs of eight words, for tagged secrets (shorter ones whole)
// and for their tags. What stands in allowed, the texts that the reader has
// anyway, is no leak.
func (g *Guard) Check(text string, allowed ...string) []Leak {
	var out []Leak
	w := words(text)
	known := func(n int) map[uint64]bool {
		m := map[uint64]bool{}
		for _, a := range allowed {
			for h := range windows(words(a), n) {
				m[h] = true
			}
		}
		return m
	}
	for _, s := range g.secrets {
		if found := firstRun(w, s.n, s.runs, known(s.n)); found != "" {
			out = append(out, Leak{s.path, s.id, found})
		} else if mentionsTag(text, s.id) {
			out = append(out, Leak{s.path, s.id, "secret:" + s.id})
		}
	}
	return append(out, g.verbatim(w, known(runWords))...)
}

func firstRun(w []string, n int, runs, known map[uint64]bool) string {
	for i := 0; n > 0 && i+n <= len(w); i++ {
		if h := hashWords(w[i : i+n]); runs[h] && !known[h] {
			return strings.Join(w[i:i+n], " ")
		}
	}
	return ""
}

func mentionsTag(text, id string) bool {
	return slices.ContainsFunc(secretTag.FindAllStringSubmatch(text, -1), func(m []string) bool {
		return strings.EqualFold(m[1], id)
	})
}

// verbatim reports runs, neighbouring ones as one.
func (g *Guard) verbatim(w []string, known map[uint64]bool) []Leak {
	var out []Leak
	start, end, src := -1, 0, 0
	flush := func() {
		if start >= 0 {
			out = append(out, Leak{Path: g.paths[src], Words: strings.Join(w[start:end], " ")})
		}
		start = -1
	}
	for i := 0; i+runWords <= len(w); i++ {
		h := hashWords(w[i : i+runWords])
		p, hit := g.runs[h]
		if !hit || known[h] {
			continue
		}
		if start >= 0 && (i > end || p != src) {
			flush()
		}
		if start < 0 {
			start, src = i, p
		}
		end = i + runWords
	}
	flush()
	return out
}

// words are the letters and digits of a text in lower case.
func words(text string) []string {
	text = strings.Map(func(r rune) rune {
		if strings.ContainsRune(apostrophes, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

func windows(w []string, n int) func(func(uint64) bool) {
	return func(yield func(uint64) bool) {
		for i := 0; n > 0 && i+n <= len(w); i++ {
			if !yield(hashWords(w[i : i+n])) {
				return
			}
		}
	}
}

func hashWords(w []string) uint64 {
	h := fnv.New64a()
	for _, s := range w {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return h.Sum64()
}

// GuardLevel says what a leak leads to.
type GuardLevel string

const (
	GuardBlock GuardLevel = "block"
	GuardWarn  GuardLevel = "warn"
	GuardOff   GuardLevel = "off"
)

// GuardSettings of a table; empty fields take block for tagged secrets and warn
// for runs.
type GuardSettings struct{ Tagged, Runs GuardLevel }

// Sort splits leaks by what they lead to.
func (s GuardSettings) Sort(leaks []Leak) (block, warn []Leak) {
	for _, l := range leaks {
		level, fallback := s.Runs, GuardWarn
		if l.Secret != "" {
			level, fallback = s.Tagged, GuardBlock
		}
		if level == "" {
			level = fallback
		}
		switch level {
		case GuardOff:
		case GuardWarn:
			warn = append(warn, l)
		default:
			block = append(block, l)
		}
	}
	return block, warn
}
