package offline

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// finding is what a search met: how often, in how many files, and the lines
// worth showing.
type finding struct {
	word  string
	lines int
	files int
	best  []where
}

// search looks for words in a tree, whatever their case.
func search(tree fs.FS, opts limits, words []string, alive func() error) ([]finding, *survey, error) {
	kinds := []kind{other, code, test, doc, config}
	var probes []probe
	for _, w := range words {
		lower := strings.ToLower(w)
		variants := []string{w}
		for _, v := range []string{lower, strings.ToUpper(w), titled(lower)} {
			if !slices.Contains(variants, v) {
				variants = append(variants, v)
			}
		}
		probes = append(probes, probe{name: lower, words: variants, kinds: kinds, ok: wholeWord(lower)})
	}
	s, err := look(tree, opts, probes, alive)
	if err != nil {
		return nil, nil, err
	}
	var out []finding
	for _, w := range words {
		f := finding{word: w}
		for _, x := range s.files {
			if got := x.found[strings.ToLower(w)]; got != nil {
				f.lines += got.n
				f.files++
				for _, h := range got.hits {
					if quote(h.text) != "" {
						f.best = append(f.best, where{x, h})
					}
				}
			}
		}
		slices.SortStableFunc(f.best, func(a, b where) int { return worth(a, w) - worth(b, w) })
		out = append(out, f)
	}
	return out, s, nil
}

// worth ranks a line: documents that lie high before code, code before tests,
// and a line whose quotation shows the word before one where it is cut off.
func worth(w where, word string) int {
	rank := map[kind]int{doc: 0, code: 1, config: 2, test: 3, other: 4}[w.f.kind]*4 + min(strings.Count(w.f.path, "/"), 3)
	if !strings.Contains(strings.ToLower(quote(w.text)), strings.ToLower(word)) {
		rank += 100
	}
	return rank
}

func titled(w string) string {
	r, n := utf8.DecodeRuneInString(w)
	return string(unicode.ToUpper(r)) + w[n:]
}

// wholeWord accepts the word and its endings, not other words that hold it.
func wholeWord(lower string) func(string) bool {
	return func(line string) bool {
		line = strings.ToLower(line)
		for at := 0; ; {
			i := strings.Index(line[at:], lower)
			if i < 0 {
				return false
			}
			i += at
			if i == 0 || !isLetter(line[i-1]) || !isLetter(lower[0]) {
				return true
			}
			at = i + 1
		}
	}
}

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 0x80 }

// searchFor answers what was asked by looking again for its words. Alone says
// that nothing else will be said in this turn.
func (t *turn) searchFor(tree fs.FS, alone bool) error {
	asked := ownWords(t.text)
	words := searchWords(asked)
	if len(words) == 0 {
		if alone {
			t.say("I look for words, and I find none in that which I could look for. Ask me about a file, a name or a thing, and I will go and see.")
		}
		return nil
	}
	var found []finding
	var s *survey
	err := t.look("search", map[string]any{"path": "workspace", "words": words}, func() (string, error) {
		var err error
		found, s, err = search(tree, t.opts, words, t.Alive)
		if err != nil {
			return "", err
		}
		var all []string
		for _, f := range found {
			all = append(all, fmt.Sprintf("%s: %d", f.word, f.lines))
		}
		return strings.Join(all, ", "), nil
	})
	if err != nil || s == nil {
		return err
	}
	text, err := t.report(tree, s, found, alone)
	t.say(text)
	return err
}

// report puts findings into words, rarest first: a word that is everywhere
// tells least.
func (t *turn) report(tree fs.FS, s *survey, found []finding, alone bool) (string, error) {
	var met []finding
	var missing []string
	for _, f := range found {
		if len(f.best) == 0 && s.named(f.word) == nil {
			missing = append(missing, f.word)
			continue
		}
		met = append(met, f)
	}
	slices.SortStableFunc(met, func(a, b finding) int { return a.files - b.files })
	var b strings.Builder
	for _, f := range met[:min(len(met), 3)] {
		text, err := t.describe(tree, s, f)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	if b.Len() == 0 {
		if !alone {
			return "", nil
		}
		return fmt.Sprintf("I looked for %s in %s and no line bears any of it. I cannot say more than that.", quotedList(missing), count(len(s.files), "file")), nil
	}
	if len(missing) > 0 && alone {
		fmt.Fprintf(&b, "\nI also looked for %s and found nothing.", quotedList(missing))
	}
	return "I looked for the words of your question.\n\n" + b.String(), nil
}

// describe shows a file that was named, or the lines that bear a word.
func (t *turn) describe(tree fs.FS, s *survey, f finding) (string, error) {
	var o observation
	if named := s.named(f.word); named != nil && named.lines > 0 {
		o = observe("", "- `%s` has %s; it begins %s and ends at %s.\n", named.path, count(named.lines, "line"), named.top(), named.end())
	} else if len(f.best) == 0 {
		return "", nil
	} else {
		format, args := "- “%s” stands in %s of %s: %s", []any{f.word, count(f.lines, "line"), count(f.files, "file"), f.best[0].cite()}
		for _, w := range f.best[1:] {
			if w.f != f.best[0].f {
				format, args = format+"; %s", append(args, w.cite())
				break
			}
		}
		o = observe("", format+".\n", args...)
	}
	ok, err := t.verified(tree, o)
	if err != nil || !ok {
		return "", err
	}
	return o.text, nil
}

// named is the file that bears the name, by its path or its last part.
func (s *survey) named(name string) *file {
	if !strings.ContainsAny(name, "./") {
		return nil
	}
	if f := s.file(path.Clean(name)); f != nil {
		return f
	}
	for _, f := range s.files {
		if path.Base(f.path) == name {
			return f
		}
	}
	return nil
}
