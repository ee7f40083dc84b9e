package offline

import (
	"bytes"
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
)

func wolf() animal {
	return animal{
		name:    "wolf",
		opening: "Said plainly: there is no model behind me. I look, I do not reason. This is how the pack stands.",
		nothing: "I looked for what pulls this apart and for who is missing. I found neither in the files.",
		probes: []probe{
			spelling("z-spelling", `initialize[sd]?|initializing|organize[sd]?|normalize[sd]?|serialize[sd]?|optimize[sd]?|recognize[sd]?|summarize[sd]?|customize[sd]?`, "ize"),
			spelling("s-spelling", `initialise[sd]?|initialising|organise[sd]?|normalise[sd]?|serialise[sd]?|optimise[sd]?|recognise[sd]?|summarise[sd]?|customise[sd]?`, "ise"),
			spelling("color", `colors?|colored|behaviors?|favorites?`, "color", "behavior", "avorite"),
			spelling("colour", `colours?|coloured|behaviours?|favourites?`, "colour", "behaviour", "avourite"),
			{name: "addressed", kinds: []kind{code, test, doc}, words: []string{"TODO(", "FIXME("}, ok: matches(`\b(TODO|FIXME)\(\w[\w.@-]*\)`)},
			{name: "copyright", kinds: []kind{code, test}, words: []string{"Copyright", "SPDX-License-Identifier"}, ok: func(l string) bool { return !inCode(l) }},
			{name: "testify", kinds: []kind{test}, langs: goCode, words: []string{`"github.com/stretchr/testify`}},
			{name: "plain", kinds: []kind{test}, langs: goCode, words: []string{"t.Errorf(", "t.Fatalf(", "t.Fatal("}, ok: inCode},
			{name: "fmt-error", kinds: []kind{code}, langs: goCode, words: []string{"fmt.Errorf("}, ok: inCode},
			{name: "new-error", kinds: []kind{code}, langs: goCode, words: []string{"errors.New("}, ok: inCode},
		},
		look: func(s *survey) []observation {
			return slices.Concat(s.pack(), s.alone(), s.twins(), s.hub(), s.balance(), s.words(), s.habits(), s.naming(), s.addressed(), s.headers(), s.weights())
		},
	}
}

// spelling looks for one way to spell in documents and in comments.
func spelling(name, expr string, words ...string) probe {
	word := regexp.MustCompile(`(?i)\b(` + expr + `)\b`)
	return probe{name: name, kinds: []kind{doc, code, test}, words: words, ok: func(l string) bool {
		at := word.FindStringIndex(l)
		if at == nil || strings.Contains(l, "http") {
			return false
		}
		comment := inComment.FindStringIndex(l)
		return isProse(l) || comment != nil && comment[0] < at[0]
	}}
}

func (s *survey) pack() []observation {
	authors := s.history.authors()
	if len(s.history) < 5 || len(authors) == 0 {
		return nil
	}
	top := authors[0]
	i := slices.IndexFunc(s.history, func(c commit) bool { return c.author == top.name })
	if s.history[i].cite().quote == "" {
		return nil
	}
	share := percent(top.n, len(s.history))
	if share < 50 {
		return []observation{observe("", "The load is carried by more than one: of %s no author made more than %d (%d %%), %s, last at %s.",
			count(len(s.history), "commit"), top.n, share, printable(top.name), s.history[i].cite())}
	}
	return []observation{observe("Let somebody other than "+printable(top.name)+" make the next change and ask for help where it is needed.",
		"One carries most: %d of %s (%d %%) are by %s, the latest %s; %s in the log.",
		top.n, count(len(s.history), "commit"), share, printable(top.name), s.history[i].cite(), was(len(authors), "author"))}
}

// alone finds what only one person has ever touched.
func (s *survey) alone() []observation {
	who, n, row := map[string]map[string]bool{}, map[string]int{}, map[string]change{}
	for _, c := range s.history {
		for _, ch := range c.changes {
			if who[ch.path] == nil {
				who[ch.path], row[ch.path] = map[string]bool{}, ch
			}
			who[ch.path][c.author] = true
			n[ch.path]++
		}
	}
	if len(s.history.authors()) < 2 {
		return nil
	}
	single := 0
	best := ""
	for _, x := range ranked(n) {
		f := s.file(x.name)
		if f == nil || f.kind != code || len(who[x.name]) != 1 {
			continue
		}
		single++
		if best == "" && x.n >= 2 && quote(row[x.name].path) != "" {
			best = x.name
		}
	}
	if best == "" {
		return nil
	}
	at := cite{path: historyFile, line: row[best].line, quote: quote(row[best].path)}
	return []observation{observe("Have the one who knows `"+best+"` walk somebody through it.",
		"Knowledge that sits with one person: %s have had a single author in the log; the one changed most is `%s`, %s, last at %s.",
		count(single, "source file"), best, count(n[best], "change"), at)}
}

// twins are files that are the same, byte for byte.
func (s *survey) twins() []observation {
	by := map[uint64][]*file{}
	for _, f := range s.of(code, test, config, doc) {
		if f.lines >= 10 {
			by[f.sum] = append(by[f.sum], f)
		}
	}
	groups, best := 0, []*file(nil)
	for _, f := range s.files { // in order, so that the answer is always the same
		g := by[f.sum]
		if len(g) < 2 || g[0] != f {
			continue
		}
		groups++
		if g[0].head.line > 0 && (best == nil || g[0].lines > best[0].lines) {
			best = g
		}
	}
	if best == nil || !s.same(best[0], best[1]) {
		return nil
	}
	return []observation{observe("Decide which of `"+best[0].path+"` and `"+best[1].path+"` is the one, and let the other point to it.",
		"Two files mean the same thing twice: %s is byte for byte %s, %s long. I found %s like that.",
		best[0].top(), best[1].top(), count(best[0].lines, "line"), count(groups, "group"))}
}

// same compares two files themselves: a checksum is a hint and no proof.
func (s *survey) same(a, b *file) bool {
	one, err := readLimited(s.tree, a.path, s.opts.fileSize)
	if err != nil {
		return false
	}
	two, err := readLimited(s.tree, b.path, s.opts.fileSize)
	return err == nil && bytes.Equal(one, two)
}

var goImport = regexp.MustCompile(`^\s*(?:import\s+)?(?:[\w.]+\s+)?"([^"]+)"`)

// hub is the package of this module that most others of it import. It reads
// the first lines of the files again: imports stand there.
func (s *survey) hub() []observation {
	at := map[string]where{}
	base, name := s.goModule()
	if name == "" {
		return nil
	}
	users := map[string]map[string]bool{}
	packages := map[string]bool{}
	for _, f := range s.of(code) {
		if f.lang != "Go" {
			continue
		}
		packages[f.dir] = true
		for _, h := range s.imports(f) {
			m := goImport.FindStringSubmatch(h.text)
			if rest, ok := strings.CutPrefix(m[1], name+"/"); ok && path.Join(base, rest) != f.dir {
				if users[rest] == nil {
					users[rest], at[rest] = map[string]bool{}, where{f, h}
				}
				users[rest][f.dir] = true
			}
		}
	}
	counts := map[string]int{}
	for dir, by := range users {
		counts[dir] = len(by)
	}
	if len(counts) == 0 {
		return nil
	}
	top := ranked(counts)[0]
	if top.n < 2 {
		return nil
	}
	return []observation{observe("Let those who import `"+top.name+"` agree on what it promises them.",
		"What holds the parts together is `%s`: of the %s with code that people wrote, %d import it, one at %s. A change there is a change for all of them.",
		top.name, count(len(packages), "package"), top.n, at[top.name].cite())}
}

// goModule is the module that lies highest: its directory and its name.
func (s *survey) goModule() (dir, name string) {
	for _, f := range s.files {
		if path.Base(f.path) != "go.mod" || name != "" && strings.Count(f.dir, "/") >= strings.Count(dir, "/") {
			continue
		}
		if h := lineWith(s.texts[f.path], "module"); h.line > 0 {
			dir, name = f.dir, strings.TrimSpace(strings.TrimPrefix(h.text, "module"))
		}
	}
	return dir, name
}

func (s *survey) imports(f *file) []hit {
	data, err := readHead(s.tree, f.path, 4<<10)
	if err != nil {
		return nil
	}
	var out []hit
	for n, line := range numbered(string(data)) {
		if strings.HasPrefix(line, "func ") || strings.HasPrefix(line, "type ") || strings.HasPrefix(line, ")") {
			break
		}
		if goImport.MatchString(line) {
			out = append(out, hit{line: n, text: line})
		}
	}
	return out
}

// balance compares the longest file with the middle one.
func (s *survey) balance() []observation {
	var list []*file
	for _, f := range s.of(code) {
		if f.lines > 0 {
			list = append(list, f)
		}
	}
	if len(list) < 5 {
		return nil
	}
	slices.SortStableFunc(list, func(a, b *file) int { return cmp.Compare(b.lines, a.lines) })
	middle := list[len(list)/2]
	if list[0].lines < 3*middle.lines {
		return []observation{observe("", "The parts are of a size: the longest of %s ends at %s, the middle one at %s.", count(len(list), "source file"), list[0].end(), middle.end())}
	}
	return []observation{observe("Ask who would review a change to `"+list[0].path+"` besides the one who wrote it.",
		"One part outgrows the rest: of %s the longest ends at %s, the middle one at %s, %d times shorter.",
		count(len(list), "source file"), list[0].end(), middle.end(), list[0].lines/max(1, middle.lines))}
}

// words finds two spellings of one word.
func (s *survey) words() []observation {
	for _, pair := range [][2]string{{"color", "colour"}, {"z-spelling", "s-spelling"}} {
		a, _, first := s.met(pair[0], nil)
		b, _, second := s.met(pair[1], nil)
		if first.f == nil || second.f == nil {
			continue
		}
		return []observation{observe("Agree on one spelling, and write it down where newcomers look.",
			"Two tongues in one text: %s spelled like %s and %d like %s.", count(a, "line"), first.cite(), b, second.cite())}
	}
	return nil
}

// habits finds two ways of doing the same thing.
func (s *survey) habits() []observation {
	for _, pair := range [][3]string{{"testify", "plain", "Tests are written in two ways"}, {"fmt-error", "new-error", "Errors are made in two ways"}} {
		a, fa, first := s.met(pair[0], nil)
		b, fb, second := s.met(pair[1], nil)
		if first.f == nil || second.f == nil || a < 2 || b < 2 {
			continue
		}
		return []observation{observe("Agree which of the two a newcomer should copy.",
			pair[2]+": %s in %s like %s, %d in %d like %s.", count(a, "line"), count(fa, "file"), first.cite(), b, fb, second.cite())}
	}
	return nil
}

var (
	snakeName = regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)+$`)
	camelName = regexp.MustCompile(`^[a-zA-Z0-9_]*[a-z0-9][A-Z][a-zA-Z0-9_]*$`)
	kebabName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)+$`)
)

// naming finds the file whose name follows another habit than the rest.
func (s *survey) naming() []observation {
	n, odd := map[string]int{}, map[string]*file{}
	for _, f := range s.of(code) {
		base := strings.TrimSuffix(path.Base(f.path), path.Ext(f.path))
		for style, re := range map[string]*regexp.Regexp{"snake_case": snakeName, "camelCase": camelName, "kebab-case": kebabName} {
			if re.MatchString(base) {
				n[style]++
				if odd[style] == nil && f.head.line > 0 {
					odd[style] = f
				}
			}
		}
	}
	list := ranked(n)
	if len(list) < 2 || odd[list[1].name] == nil || list[0].n < 3 {
		return nil
	}
	return []observation{observe("Agree on one way to name files.",
		"Names follow two habits: %s are in %s, %d in %s, for instance %s.", count(list[0].n, "source file"), list[0].name, list[1].n, list[1].name, odd[list[1].name].top())}
}

var addressee = regexp.MustCompile(`\b(?:TODO|FIXME)\((\w[\w.@-]*)\)`)

// addressed counts the notes that are left for somebody by name.
func (s *survey) addressed() []observation {
	n, _, at := s.met("addressed", nil)
	if at.f == nil {
		return nil
	}
	who := addressee.FindStringSubmatch(at.text)[1]
	return []observation{observe("Ask "+who+" whether "+at.cite().place()+" is still theirs.",
		"%s carry a name, for instance %s. What is left for one person waits for that person.", count(n, "note"), at.cite())}
}

// headers finds out whether all files begin with the same notice.
func (s *survey) headers() []observation {
	var with, without *file
	n, all := 0, 0
	for _, f := range s.of(code, test) {
		if f.lines == 0 || quote(f.head.text) == "" {
			continue
		}
		all++
		if got := f.found["copyright"]; got != nil && got.hits[0].line <= 10 && got.hits[0].quote() != "" {
			n++
			if with == nil {
				with = f
			}
		} else if without == nil {
			without = f
		}
	}
	if with == nil || without == nil {
		return nil
	}
	return []observation{observe("Agree whether files bear a notice, and let a check say so.",
		"Not all follow the same rule: %d of %s bear a notice like %s, and %s does not.", n, count(all, "source file"), with.at(with.found["copyright"].hits[0]), without.top())}
}

// weights compares what is built with what watches over it.
func (s *survey) weights() []observation {
	sum := func(list []*file) (lines int, longest *file) {
		for _, f := range list {
			lines += f.lines
			if longest == nil || f.lines > longest.lines {
				longest = f
			}
		}
		return lines, longest
	}
	built, _ := sum(s.of(code))
	watching, longest := sum(s.of(test))
	if built == 0 || watching == 0 {
		return nil
	}
	return []observation{observe("", "Code and tests stand %d to %d lines; the longest test ends at %s. Who writes the one should know who writes the other.", built, watching, longest.end())}
}
