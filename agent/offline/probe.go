package offline

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// probe looks for lines that hold one of its words and pass its test.
type probe struct {
	name  string
	words []string
	kinds []kind
	langs []string          // empty: all
	ok    func(string) bool // nil: every line
}

const keptHits = 4

func (p *probe) run(f *file, data []byte) {
	if !slices.Contains(p.kinds, f.kind) || len(p.langs) > 0 && !slices.Contains(p.langs, f.lang) {
		return
	}
	var all []hit
	for _, w := range p.words {
		all = p.word(all, data, []byte(w))
	}
	if len(all) == 0 {
		return
	}
	slices.SortStableFunc(all, func(a, b hit) int { return a.line - b.line })
	all = slices.CompactFunc(all, func(a, b hit) bool { return a.line == b.line })
	if f.found == nil {
		f.found = map[string]*found{}
	}
	f.found[p.name] = &found{n: len(all), hits: slices.Clone(all[:min(len(all), keptHits)])}
}

// word adds the lines that hold the word.
func (p *probe) word(all []hit, data, word []byte) []hit {
	line, counted := 1, 0
	for at := 0; at < len(data); {
		i := bytes.Index(data[at:], word)
		if i < 0 {
			break
		}
		i += at
		start := bytes.LastIndexByte(data[:i], '\n') + 1
		end := len(data)
		if n := bytes.IndexByte(data[i:], '\n'); n >= 0 {
			end = i + n
		}
		line += bytes.Count(data[counted:start], []byte("\n"))
		counted, at = start, max(end, i+1)
		if end-start > 1000 {
			continue // no line that a person wrote
		}
		text := strings.TrimRight(string(data[start:end]), "\r")
		if p.ok == nil || p.ok(text) {
			all = append(all, hit{line, text, min(i-start, len(text))})
		}
	}
	return all
}

// where is a line of a file.
type where struct {
	f *file
	hit
}

// met sums up a probe over the files: how many lines, in how many files, and
// the best line to show, by a rank where less is better (nil: first wins).
func (s *survey) met(name string, rank func(where) int, kinds ...kind) (lines, files int, best where) {
	lowest := 0
	for _, f := range s.files {
		got := f.found[name]
		if got == nil || len(kinds) > 0 && !slices.Contains(kinds, f.kind) {
			continue
		}
		lines += got.n
		files++
		for _, h := range got.hits {
			w := where{f, h}
			r := 0
			if rank != nil {
				r = rank(w)
			}
			if h.quote() != "" && (best.f == nil || r < lowest) {
				best, lowest = w, r
			}
		}
	}
	return lines, files, best
}

// tell makes one observation of a probe: how many lines, in how many files, and
// the best of them. The step has a place for where that is.
func (s *survey) tell(name string, rank func(where) int, line, file, step, format string) []observation {
	n, files, at := s.met(name, rank)
	if at.f == nil {
		return nil
	}
	step = strings.Replace(step, "%s", at.cite().place(), 1)
	return []observation{observe(step, format, count(n, line), count(files, file), at.cite())}
}

// byKind ranks by the order of kinds: code before tests, tests before documents.
func byKind(w where) int { return int(w.f.kind) }

var (
	inComment = regexp.MustCompile(`(?:^|\s)(?://|#|/\*|\*|--|;|<!--|%|"""|\.\.)`)
	todoNote  = regexp.MustCompile(`\bTODO\b`)
	fixNote   = regexp.MustCompile(`\b(FIXME|XXX|HACK|BUG)\b`)
)

// note makes a test for marks in comments; in documents every line counts.
func note(mark *regexp.Regexp) func(string) bool {
	return func(line string) bool {
		at := mark.FindStringIndex(line)
		if at == nil {
			return false
		}
		comment := inComment.FindStringIndex(line)
		return comment != nil && comment[0] <= at[0] && !strings.ContainsAny(line[:at[0]], "\"'`")
	}
}

func matches(expr string) func(string) bool {
	re := regexp.MustCompile(expr)
	return re.MatchString
}

// inCode is true of lines that are more than a comment.
func inCode(line string) bool {
	t := strings.TrimSpace(line)
	return !strings.HasPrefix(t, "//") && !strings.HasPrefix(t, "#") && !strings.HasPrefix(t, "*") && !strings.HasPrefix(t, "/*")
}
