// Package redact takes secrets out of text before it leaves the machine:
// tokens of known shape and private keys, in base64 too, high-entropy values of names that sound
// secret, passwords in addresses and commands, authorisation headers, the values of
// secret-looking environment variables, and what the person's own patterns say.
//
// It reads text as it lies in files, JSON inside JSON inside JSON included: an
// escaped quote or newline is a border like a plain one, and no replacement
// cuts an escape sequence or removes a quote, so that JSON stays JSON.
//
// One automaton over all anchors (the few letters that every secret of a kind
// has beside or in it) goes over the text once; only where an anchor stands is
// a rule asked. A rule looks at a bounded piece of text around its anchor.
//
// It refuses to guess from entropy alone: a digest, a uuid or an image is not a
// secret because it looks random; there must be a shape or a name. Placeholders
// are left as they are. It stores nothing, and a Redactor is never changed
// after New: any number of goroutines may share it.
//
// What it does not promise: a secret of no known shape that stands under no
// name, or one that is spread over several calls, is not found.
package redact

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// Pattern is something more to remove: the person's own.
type Pattern struct {
	Kind   string // what it is counted as; empty means "pattern"
	Regexp *regexp.Regexp
}

// Options configure a Redactor. The zero value knows everything but the
// person's own secrets.
type Options struct {
	// EnvValues are texts to remove wherever they stand: see SecretEnv. They
	// are also found percent-encoded, JSON-escaped and in base64. Values
	// shorter than six bytes are ignored.
	EnvValues []string
	// Patterns are asked in addition. Each is a pass of its own.
	Patterns []Pattern
}

// Counts says how much of each kind was removed.
type Counts map[string]int

// Add adds other to c.
func (c Counts) Add(other Counts) {
	for kind, n := range other {
		c[kind] += n
	}
}

// Total is the sum over all kinds.
func (c Counts) Total() int {
	sum := 0
	for n := range maps.Values(c) {
		sum += n
	}
	return sum
}

// Redactor removes secrets. It is safe for concurrent use.
type Redactor struct {
	auto     *automaton
	rules    []rule
	patterns []Pattern
	spare    map[string]bool
	digest   [sha256.Size]byte
}

// rule is what is asked where an anchor stands: at is where the anchor
// begins, after is the place behind it.
type rule struct {
	anchor string
	exact  bool // the anchor's case counts
	match  func(s *scan, at, after int) (span, bool)
}

// span is a piece of text to be replaced. Where several meet, the one with the
// highest rank gives the name.
type span struct {
	start, end int
	kind       string
	rank       int8
}

// The ranks: a shape knows best what it found.
const (
	rankName int8 = iota
	rankEnv
	rankHeader
	rankShape
	rankKey
)

// scan is the state of one call.
type scan struct {
	src   []byte
	spare map[string]bool
	spans []span
	// noPEMEnd is set once the text has no end of a private key from some
	// place on, so that it is not looked for again and again.
	noPEMEnd bool
	runs     [4]stretch
	oldest   int
}

// New makes a Redactor.
func New(o Options) *Redactor {
	r := &Redactor{patterns: slices.Clone(o.Patterns)}
	r.rules = slices.Concat(shapeRules(), structuredRules(), encodedRules(), discordRules(), headerRules(), commandRules(), nameRules(),
		envRules(o.EnvValues))
	anchors := make([]string, len(r.rules))
	for i, rule := range r.rules {
		anchors[i] = rule.anchor
	}
	r.auto = newAutomaton(anchors)
	h := sha256.New()
	for _, p := range o.Patterns {
		fmt.Fprintf(h, "%q %v\n", p.Kind, p.Regexp)
	}
	fmt.Fprintf(h, "%q", o.EnvValues)
	h.Sum(r.digest[:0])
	return r
}

// Sparing is r, but for a value that a name alone does not condemn any more: it
// looks secret, and is known not to be.
func (r *Redactor) Sparing(value string) *Redactor {
	other := *r
	if other.spare = maps.Clone(r.spare); other.spare == nil {
		other.spare = map[string]bool{}
	}
	other.spare[value] = true
	return &other
}

// Digest tells redactors apart that were made with different options.
func (r *Redactor) Digest() []byte { return r.digest[:] }

// Bytes appends src to dst with every secret replaced by "[redacted:kind]",
// and says what it replaced; counts is nil when that was nothing. A number
// that stands where JSON may have one is replaced by 0.
func (r *Redactor) Bytes(dst, src []byte) (out []byte, counts Counts) {
	var few [8]span
	return replace(dst, src, merge(r.own(src, r.find(src, few[:0]))))
}

// replace appends src to dst with spans replaced.
func replace(dst, src []byte, spans []span) ([]byte, Counts) {
	if len(spans) == 0 {
		return append(dst, src...), nil
	}
	counts := Counts{}
	at := 0
	for _, sp := range spans {
		found := 0
		for _, piece := range pieces(src, sp) {
			if piece.start < at || piece.end == piece.start {
				continue
			}
			dst = append(dst, src[at:piece.start]...)
			dst = appendMark(dst, src[piece.start:piece.end], sp.kind)
			at, found = piece.end, 1
		}
		if found > 0 {
			counts[sp.kind]++
		}
	}
	if at == 0 {
		counts = nil
	}
	return append(dst, src[at:]...), counts
}

// Has says whether there is anything to remove.
func (r *Redactor) Has(src []byte) bool {
	var few [8]span
	return len(r.own(src, r.find(src, few[:0]))) > 0
}

// find returns what the rules find, unordered.
func (r *Redactor) find(src []byte, spans []span) []span {
	s := &scan{src: src, spare: r.spare, spans: spans}
	r.auto.scan(src, func(rule, end int) {
		ru := &r.rules[rule]
		at := end - len(ru.anchor)
		if ru.exact && string(src[at:end]) != ru.anchor {
			return
		}
		if n := len(s.spans); n > 0 && s.spans[n-1].rank == rankKey && end <= s.spans[n-1].end {
			return // within a private key
		}
		if sp, ok := ru.match(s, at, end); ok && sp.end > sp.start {
			s.spans = append(s.spans, sp)
		}
	})
	return s.spans
}

// own adds what the person's own patterns find.
func (r *Redactor) own(src []byte, spans []span) []span {
	for _, p := range r.patterns {
		for _, m := range p.Regexp.FindAllIndex(src, -1) {
			if m[1] > m[0] {
				spans = append(spans, span{m[0], m[1], cmp.Or(p.Kind, "pattern"), rankEnv})
			}
		}
	}
	return spans
}

// merge sorts spans and joins those that overlap.
func merge(spans []span) []span {
	if len(spans) < 2 {
		return spans
	}
	slices.SortFunc(spans, func(a, b span) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end
	})
	out := spans[:1]
	for _, sp := range spans[1:] {
		last := &out[len(out)-1]
		if sp.start >= last.end {
			out = append(out, sp)
			continue
		}
		last.end = max(last.end, sp.end)
		if sp.rank > last.rank {
			last.kind, last.rank = sp.kind, sp.rank
		}
	}
	return out
}

func appendMark(dst, removed []byte, kind string) []byte {
	if isDigits(removed) {
		return append(dst, '0') // it may be a number in JSON
	}
	dst = append(dst, "[redacted:"...)
	dst = append(dst, kind...)
	return append(dst, ']')
}

// pieces divides a span at quotes, and moves its ends off escape sequences:
// what is replaced is never a part of JSON's own structure.
func pieces(src []byte, sp span) []span {
	if isDigits(src[sp.start:sp.end]) {
		for sp.start > 0 && isDigit(src[sp.start-1]) {
			sp.start--
		}
		for sp.end < len(src) && isDigit(src[sp.end]) {
			sp.end++
		}
		return []span{sp}
	}
	sp.start = pastEscape(src, sp.start)
	sp.end = max(sp.start, pastEscape(src, sp.end))
	if bytes.IndexByte(src[sp.start:sp.end], '"') < 0 {
		for sp.end > sp.start && src[sp.end-1] == '\\' {
			sp.end-- // it belongs to what follows
		}
		return []span{sp}
	}
	var out []span
	at := sp.start
	for at < sp.end {
		n := bytes.IndexByte(src[at:sp.end], '"')
		stop, next := sp.end, sp.end
		if n >= 0 {
			stop, next = at+n, at+n+1
		}
		for stop > at && src[stop-1] == '\\' {
			stop--
		}
		// Between the lines of a key stand \n and the like.
		if piece := bytes.TrimSpace(src[at:stop]); len(piece) > 3 || sp.rank != rankKey && bytes.ContainsFunc(piece, isAlnum) {
			out = append(out, span{at, stop, sp.kind, sp.rank})
		}
		at = next
	}
	return out
}

func isAlnum(r rune) bool { return r < 128 && alnum[byte(r)] }

// pastEscape is at, or the place behind the escape sequence that at is within.
func pastEscape(src []byte, at int) int {
	// \uXXXX: at may be up to five bytes into it.
	for back := 1; back <= 5 && at-back >= 0; back++ {
		if src[at-back] != '\\' {
			continue
		}
		if !oddBackslashes(src, at-back) {
			return at
		}
		if back == 1 {
			if at < len(src) && src[at] == 'u' {
				return min(at+5, len(src))
			}
			return min(at+1, len(src))
		}
		if src[at-back+1] == 'u' {
			return min(at-back+6, len(src))
		}
		return at
	}
	return at
}

// oddBackslashes says whether the backslash at i begins an escape: an even
// number of them stands before it.
func oddBackslashes(src []byte, i int) bool {
	n := 0
	for i >= 0 && src[i] == '\\' {
		n++
		i--
	}
	return n%2 == 1
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isDigits(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) {
			return false
		}
	}
	return len(b) > 0
}
