package table

import (
	"crypto/sha256"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"

	"conclave/internal/shingle"
)

// runWords is how many words in a row make a verbatim run.
const runWords = 8

// Kept is a text that a reader must not see, as the hashes of its words.
type Kept struct {
	Path    string // where it comes from
	Print   shingle.Print
	pieces  []*piece
	secrets []guardSecret
}

// piece is some thousand bytes of a text.
type piece struct {
	sum  [sha256.Size]byte
	runs []uint64 // its runs of runWords words
	part shingle.Part
}

type guardSecret struct {
	id   string
	n    int // words of a run
	runs map[uint64]bool
}

func runsOf(text string) []uint64 {
	return slices.Collect(windows(words(untagged(text)), runWords))
}

func guardSecrets(text string) []guardSecret {
	var out []guardSecret
	for _, s := range taggedSecrets(text) {
		w := words(s.Text)
		gs := guardSecret{id: s.ID, n: min(runWords, len(w)), runs: map[uint64]bool{}}
		if len(w) == 1 && len(w[0]) < 5 {
			gs.n = 0 // a single short word is everywhere
		}
		for h := range windows(w, gs.n) {
			gs.runs[h] = true
		}
		out = append(out, gs)
	}
	return out
}

// Leak is a place where a text says what its reader may not know.
type Leak struct {
	Path   string // where the words come from
	Secret string // id of the tagged secret, if it is one
	Words  string // the words
}

func (l Leak) String() string {
	if l.Secret != "" {
		return fmt.Sprintf("secret %s of %s: %q", l.Secret, l.Path, Clip(l.Words, 120))
	}
	return fmt.Sprintf("words of %s: %q", l.Path, Clip(l.Words, 120))
}

// Guard compares texts with what their reader may not know: story state, beats,
// NPCs, the sheets and journals of others.
type Guard []*Kept

// Check looks for runs of eight words, for tagged secrets (shorter ones whole)
// and for their tags. What stands in allowed, the texts that the reader has
// anyway, is no leak.
func (g Guard) Check(text string, allowed ...string) []Leak {
	var out []Leak
	w := words(text)
	runs := map[int]map[uint64]bool{} // of the allowed texts, by their length
	known := func(n int) map[uint64]bool {
		if runs[n] == nil {
			runs[n] = map[uint64]bool{}
			for _, a := range allowed {
				for h := range windows(words(a), n) {
					runs[n][h] = true
				}
			}
		}
		return runs[n]
	}
	for _, k := range g {
		for _, s := range k.secrets {
			if found := firstRun(w, s.n, s.runs, known(s.n)); found != "" {
				out = append(out, Leak{k.Path, s.id, found})
			} else if mentionsTag(text, s.id) {
				out = append(out, Leak{k.Path, s.id, "secret:" + s.id})
			}
		}
	}
	return append(out, g.verbatim(w, known(runWords))...)
}

// find returns which of the runs of a text stand in which of the kept. It goes
// through what is kept and looks for it in the text, which is short.
func (g Guard) find(w []string, known map[uint64]bool) map[uint64]int {
	sought := map[uint64]bool{}
	var filter [64]uint64 // rules out nearly all of what is kept
	for h := range windows(w, runWords) {
		if !known[h] {
			sought[h] = true
			filter[h>>6&63] |= 1 << (h & 63)
		}
	}
	found := map[uint64]int{}
	for i, k := range g {
		for _, p := range k.pieces {
			for _, h := range p.runs {
				if filter[h>>6&63]&(1<<(h&63)) != 0 && sought[h] {
					found[h] = i
				}
			}
		}
	}
	return found
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
	tags, _ := findTags(text)
	return slices.ContainsFunc(tags, func(t tag) bool { return !t.gm && t.id == id })
}

// verbatim reports runs, neighbouring ones as one.
func (g Guard) verbatim(w []string, known map[uint64]bool) []Leak {
	var out []Leak
	runs := g.find(w, known)
	start, end, src := -1, 0, 0
	flush := func() {
		if start >= 0 {
			out = append(out, Leak{Path: g[src].Path, Words: strings.Join(w[start:end], " ")})
		}
		start = -1
	}
	for i := 0; i+runWords <= len(w); i++ {
		p, hit := runs[hashWords(w[i:i+runWords])]
		if !hit {
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

func windows(w []string, n int) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for i := 0; n > 0 && i+n <= len(w); i++ {
			if !yield(hashWords(w[i : i+n])) {
				return
			}
		}
	}
}

func hashWords(w []string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a
	h := uint64(offset)
	for _, s := range w {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * prime
		}
		h *= prime // a zero byte between words
	}
	return h
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
