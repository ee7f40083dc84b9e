package offline

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"conclave/internal/pattern"
	"conclave/internal/project"
)

// wolf looks at who carries what, and at what is done in two ways.
func wolf() animal {
	return animal{
		name:    "wolf",
		opening: "Said plainly: there is no model behind me. I look, I do not reason.",
		nothing: "I looked for what one person carries alone, for what is done in two ways and for owners without a place, " +
			"and found nothing I could point at.",
		rules: []rule{
			oneHand, changedTogether, ownerless, twoLocks, twoConfigs, copied, unowned, oneOwner,
		},
	}
}

// oneHand is the busiest directory that one person carries nearly alone, in a
// project of several.
func oneHand(s *sight) []finding {
	authors := s.past.work().authors()
	if len(authors) < 2 || len(s.past.work()) < 20 {
		return nil
	}
	for _, h := range s.past.ownership() {
		most := h.authors[0]
		if h.total < 10 || most.n*10 < h.total*9 || h.last.path == "" || !s.worked(h.dir) ||
			s.past[0].date.Sub(h.when) > 365*24*time.Hour { // carried once
			continue
		}
		if authors[0].name == most.name && authors[0].n*3 > len(s.past.work())*2 {
			continue // whoever does most of the project does most of its parts
		}
		shown := "`" + h.dir + "/`"
		if h.dir == "." {
			shown = "the top directory"
		}
		return []finding{found(shown, "One person carries it: of the last %s in the log %d touch %s, and %d of these are by "+
			"%s, the latest %s. Commits of more than %d files, and those of programs, are left out.",
			count(len(s.past), "commit"), h.total, shown, most.n, printable(most.name), h.last, massChange).
			then("Let somebody else make the next change there, with "+printable(most.name)+" beside them.", costHalfDay,
				"the week in which "+printable(most.name)+" is away").
			weighs(costly+10, "owner ownership people team bus factor")}
	}
	most := authors[0]
	all := s.past.work()
	if len(all) < 30 || most.n*10 < len(all)*9 || authors[1].n < 5 {
		return nil // nobody else is there who could take some of it
	}
	i := slices.IndexFunc(all, func(c commit) bool { return c.author == most.name })
	if all[i].cite().quote == "" {
		return nil
	}
	return []finding{found("the whole project", "One person carries it: of the last %s in the log %d count here, and %d "+
		"of these are by %s, the latest %s. Merges, commits of more than %d files and those of programs are left out.",
		count(len(s.past), "commit"), len(all), most.n, printable(most.name), all[i].cite(), massChange).
		then("Let somebody else make the next change, with "+printable(most.name)+" beside them.", costHalfDay,
			"the week in which "+printable(most.name)+" is away").
		weighs(worthKnowing+5, "owner ownership people team bus factor")}
}

// worked says that a directory holds what people write here: several sources, or
// documents where there are none. One that is hidden holds settings.
func (s *sight) worked(dir string) bool {
	kind := project.Source
	if !s.HasCode() {
		kind = project.Doc
	}
	n := 0
	for _, f := range s.Files {
		if f.Kind == kind && within1(f.Path, dir) && !f.Aside() {
			n++
		}
	}
	return n > 1 && !strings.HasPrefix(dir, ".") && !slices.Contains(besides, path.Base(dir))
}

// besides are directories of what is not the work itself.
var besides = strings.Fields("ci script scripts tool tools hack bin sites site website www contrib etc " +
	"examples example perf-testing")

var companions = pattern.New(`(?i)(changelog|changes|news|version|package(-lock)?\.json|go\.(mod|sum)` +
	`|cargo\.(toml|lock)|pyproject|setup\.|pom\.xml|\.lock$|readme|\.md$|\.rst$|\.txt$)`)

// makers are directories of programs that write sources.
var makers = pattern.New(`(?i)(?:^|/)\w*(?:gen|generate|generator|codegen)s?/`)

// changedTogether are two sources in different directories that hardly ever
// change alone.
func changedTogether(s *sight) []finding {
	for _, c := range s.past.couples() {
		a, b := s.File(c.a), s.File(c.b)
		if a == nil || b == nil || a.Kind != project.Source || b.Kind != project.Source ||
			companions.MatchString(a.Base) || makers.MatchString(c.a) || makers.MatchString(c.b) ||
			companions.MatchString(b.Base) || c.first.quote == "" || c.second.quote == "" {
			continue
		}
		return []finding{found("`"+c.a+"` and `"+c.b+"`",
			"They lie in different directories and change together: of the last %s in the log %d touch either of them, and %d "+
				"both, the latest at %s and %s. Commits of more than 8 files, and those of programs, are left out.",
			count(len(s.past), "commit"), c.of, c.together, c.first, c.second).
			then("Write down what has to be kept alike in both, or put it in one place.", costHalfDay,
				"the change that is made in one of them only").
			weighs(costly+6, "coupling cohesion structure duplication")}
	}
	return nil
}

// ownerless are lines of CODEOWNERS for places that are not there.
func ownerless(s *sight) []finding {
	for _, name := range []string{"CODEOWNERS", ".github/CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"} {
		f := s.File(name)
		if f == nil || !f.Read {
			continue
		}
		for n, line := range project.Lines(f.Text) {
			line, _, _ = strings.Cut(line, "#")
			fields := strings.Fields(line)
			if len(fields) < 2 || strings.ContainsAny(fields[0], "*?[!\\") {
				continue
			}
			p := strings.Trim(fields[0], "/")
			if !strings.Contains(fields[0], "/") || p == "" {
				continue
			}
			if strings.HasPrefix(fields[0], "/") && s.gone(p) || !strings.HasPrefix(fields[0], "/") && s.gone(p) && !s.below(p) {
				return []finding{found("`"+p+"`", "Somebody is named as its owner, %s, and the tree holds no `%s`.", at(f, n),
					printable(p)).
					then("Find out where it went, and name its owner there.", costMinutes, "changes that nobody is asked about").
					weighs(contradicted-4, "owner ownership people review")}
			}
		}
	}
	return nil
}

// below says that some directory holds the path.
func (s *sight) below(p string) bool {
	return slices.ContainsFunc(s.Files, func(f *project.File) bool { return strings.Contains("/"+f.Path+"/", "/"+p+"/") })
}

// twoLocks: two package managers keep a lock file in the same directory.
func twoLocks(s *sight) []finding {
	for _, pair := range [][2]string{
		{"package-lock.json", "yarn.lock"}, {"package-lock.json", "pnpm-lock.yaml"}, {"yarn.lock", "pnpm-lock.yaml"},
		{"poetry.lock", "uv.lock"}, {"poetry.lock", "Pipfile.lock"},
	} {
		for _, f := range s.Of(project.Lock) {
			if f.Base != pair[0] || !f.Read || f.Lines == 0 {
				continue
			}
			other := s.File(path.Join(f.Dir, pair[1]))
			if other == nil || !other.Read || other.Lines == 0 || !citable(f.Path) {
				continue
			}
			a, b := cite{path: f.Path, line: 1}, cite{path: other.Path, line: 1}
			x := found("lock files", "Two package managers have a lock file side by side: %s and %s.", a, b)
			step := "Agree on one of them and delete the other's file."
			if named, stray := s.managerOf(f, other); stray != nil {
				x = found("lock files", "Two package managers have a lock file side by side, %s and %s; the manifest names the "+
					"manager, %s.", a, b, named)
				step = "Delete `" + stray.Path + "`, or name the other manager."
			}
			return []finding{x.then(step, costMinutes, "two people who install two different things").
				weighs(contradicted, "dependencies lock conventions")}
		}
	}
	return nil
}

var managerLine = pattern.New(`"packageManager"\s*:\s*"(npm|yarn|pnpm)@`)

// managerOf is where the manifest beside two lock files says which manager is used,
// and the lock file of the other one; nil where it does not.
func (s *sight) managerOf(locks ...*project.File) (cite, *project.File) {
	m := s.File(path.Join(locks[0].Dir, "package.json"))
	if m == nil || !m.Read {
		return cite{}, nil
	}
	h := lineWhere(m.Text, managerLine.MatchString)
	if h.line == 0 || quote(h.text) == "" {
		return cite{}, nil
	}
	own := map[string]string{"npm": "package-lock.json", "yarn": "yarn.lock",
		"pnpm": "pnpm-lock.yaml"}[managerLine.FindStringSubmatch(h.text)[1]]
	if !slices.ContainsFunc(locks, func(f *project.File) bool { return f.Base == own }) {
		return cite{}, nil
	}
	return at(m, h.line), locks[slices.IndexFunc(locks, func(f *project.File) bool { return f.Base != own })]
}

// twoConfigs: one tool is told what to do in two places, of which it reads one.
func twoConfigs(s *sight) []finding {
	for _, pair := range [][2]string{
		{".eslintrc.js", ".eslintrc.json"}, {".eslintrc.json", "eslint.config.js"}, {".eslintrc.js", "eslint.config.js"},
		{".eslintrc", "eslint.config.js"},
		{".eslintrc.json", "eslint.config.mjs"}, {".eslintrc.js", "eslint.config.mjs"}, {".eslintrc.cjs",
			"eslint.config.js"}, {".prettierrc", "prettier.config.js"}, {".prettierrc", ".prettierrc.json"},
		{"jest.config.js", "jest.config.ts"}, {"babel.config.js", ".babelrc"}, {"pytest.ini", "tox.ini"}, {".golangci.yml",
			".golangci.yaml"}, {".flake8", "tox.ini"},
	} {
		a, b := s.File(pair[0]), s.File(pair[1])
		if a == nil || b == nil || !a.Read || !b.Read || a.Lines == 0 || b.Lines == 0 {
			continue
		}
		tool, _, _ := strings.Cut(strings.Trim(pair[0], "."), ".")
		tool = strings.TrimSuffix(tool, "rc")
		lineA, lineB := 1, 1
		if pair[1] == "tox.ini" {
			h := lineWhere(b.Text, func(l string) bool { return strings.HasPrefix(l, "["+tool+"]") })
			if h.line == 0 {
				continue
			}
			lineB = h.line
		}
		return []finding{found("the rules of "+tool,
			"%s is told what to do in two places, %s and %s, and reads one of them.", tool, cite{path: a.Path, line: lineA},
			cite{path: b.Path, line: lineB}).
			then("Keep the one that is read, and delete the other.", costMinutes,
				"rules that somebody changes and nothing obeys").
			weighs(contradicted-6, "lint conventions configuration")}
	}
	return nil
}

// copied are sources that are the same, byte for byte: no licence, nothing
// generated, no example, no test.
func copied(s *sight) []finding {
	by := map[uint64]*project.File{}
	var a, b *project.File
	for _, f := range s.own(project.Source) {
		if f.Lines < 30 || !inFive(f.Lang) || strings.Contains(f.Base, ".d.") || translated.MatchString(f.Path) {
			continue
		}
		old := by[f.Sum]
		if old == nil {
			by[f.Sum] = f
			continue
		}
		if old.Text == f.Text && old.Dir != f.Dir+"/" && (a == nil || f.Lines > a.Lines) {
			a, b = old, f
		}
	}
	if a == nil {
		a, b = s.nearlyCopied()
		if a == nil {
			return nil
		}
		return []finding{found("`"+b.Path+"`", "It is a copy of another file in all but a few lines: %s (%s) and %s (%s).",
			at(a, 1), count(a.Lines, "line"), at(b, 1), count(b.Lines, "line")).
			then("Find the lines in which they differ, and decide whether that is meant.", costHour,
				"the mistake that is mended in one of them only").
			weighs(costly, "duplication copy cohesion")}
	}
	return []finding{found("`"+b.Path+"`", "It is the same as another file, byte for byte: %s and %s, %s.", at(a, 1),
		at(b, 1), count(a.Lines, "line")).
		then("Let one of the two use the other, or write down why both are needed.", costHour,
			"the mistake that is mended in one of them only").
		weighs(costly+8, "duplication copy cohesion")}
}

// goBuild marks a source that is for some systems: its counterpart for others is
// alike on purpose.
var goBuild = pattern.New(`(?m)^//go:build `)

var fiveLanguages = []string{"Go", "Python", "JavaScript", "TypeScript", "Rust", "Java"}

func inFive(lang string) bool { return slices.Contains(fiveLanguages, lang) }

// nearlyCopied finds two sources of one language that share nine of ten lines.
// Only files whose names or sizes are near each other are compared.
func (s *sight) nearlyCopied() (a, b *project.File) {
	bySize := map[string][]*project.File{}
	for _, f := range s.own(project.Source) {
		if f.Lines >= 100 && f.Lines <= 3000 && inFive(f.Lang) && !strings.Contains(f.Base, ".d.") &&
			!translated.MatchString(f.Path) && !(f.Lang == "Go" && goBuild.MatchString(f.Text)) {
			for _, n := range []int{f.Lines / 16, f.Lines/16 + 1} {
				key := fmt.Sprint(f.Lang, n)
				bySize[key] = append(bySize[key], f)
			}
		}
	}
	sets := map[*project.File]map[string]int{}
	set := func(f *project.File) map[string]int {
		if sets[f] == nil {
			m := map[string]int{}
			for _, line := range project.Lines(f.Text) {
				if t := strings.TrimSpace(line); len(t) > 3 && !isComment(t) {
					m[t]++
				}
			}
			sets[f] = m
		}
		return sets[f]
	}
	compared := 0
	for _, key := range sortedKeys(bySize) {
		list := bySize[key]
		for i, x := range list {
			for _, y := range list[i+1:] {
				if compared++; compared > 20_000 {
					return a, b
				}
				if len(x.Text)*10 > len(y.Text)*11 || len(y.Text)*10 > len(x.Text)*11 || x.Base != y.Base &&
					path.Ext(x.Base) != path.Ext(y.Base) {
					continue
				}
				p, q := set(x), set(y)
				same, all := 0, 0
				for line, n := range p {
					same += min(n, q[line])
					all += n
				}
				if all >= 40 && same*100 >= all*92 && (a == nil || x.Lines > a.Lines) {
					a, b = x, y
				}
			}
		}
	}
	return a, b
}

func sortedKeys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

var (
	ownerHead = pattern.New(`(?i)^(owner|who|responsible|assigned(?: to)?|assignee|person|lead|by whom)$`)
	nobody    = pattern.New(`(?i)^(tbd|tbc|\?+|n/?a|none|nobody|unassigned|-|–|—|)$`)
	doneWord  = pattern.New(`(?i)^(done|paid|finished|complete[d]?|closed|yes|booked|confirmed|✓|✔|x|cancelled)$`)
	stateHead = pattern.New(`(?i)^(status|state|done\??|paid\??)$`)
)

// task is an open row of a table that has a column for who does it.
type task struct {
	f     *project.File
	row   row
	owner string
}

// tasks reads the open rows of tables with owners.
func (s *sight) tasks() []task {
	var out []task
	s.tables(func(f *project.File, rows []row) {
		if len(rows) < 3 || f.Kind == project.Data && !slices.ContainsFunc(rows[0].cells,
			func(c string) bool { return stateHead.MatchString(strings.TrimSpace(c)) }) {
			return
		}
		who := slices.IndexFunc(rows[0].cells, func(c string) bool { return ownerHead.MatchString(strings.TrimSpace(c)) })
		state := slices.IndexFunc(rows[0].cells, func(c string) bool { return stateHead.MatchString(strings.TrimSpace(c)) })
		if who < 0 {
			return
		}
		for _, r := range rows[1:] {
			if who >= len(r.cells) || state >= 0 && state < len(r.cells) &&
				doneWord.MatchString(strings.TrimSpace(r.cells[state])) ||
				slices.ContainsFunc(r.cells, func(c string) bool { return totalCell.MatchString(c) }) {
				continue
			}
			out = append(out, task{f, r, strings.Trim(strings.TrimSpace(r.cells[who]), "*_@")})
		}
	})
	return append(out, s.ownedBoxes()...)
}

// unowned are open tasks that nobody has.
func unowned(s *sight) []finding {
	var where places
	n := 0
	for _, t := range s.tasks() {
		if nobody.MatchString(t.owner) {
			if n++; len(where) < maxPlaces && at(t.f, t.row.n).quote != "" {
				where = append(where, at(t.f, t.row.n))
			}
		}
	}
	if len(where) == 0 {
		return nil
	}
	text, args := "Nobody has taken %s.", []any{where}
	if n > len(where) {
		text, args = "Nobody has taken %d open tasks, among them %s.", []any{n, where}
	}
	return []finding{found("tasks without an owner", text, args...).
		then("Ask who takes "+where[0].place()+".", costMinutes, "a thing that each thought the other would do").
		weighs(costly+12, "owner people tasks plan who")}
}

// oneOwner: one person has most of the open tasks, while others have a few.
func oneOwner(s *sight) []finding {
	counts, firstOf := map[string]int{}, map[string]task{}
	total := 0
	for _, t := range s.tasks() {
		if nobody.MatchString(t.owner) {
			continue
		}
		if counts[t.owner]++; counts[t.owner] == 1 {
			firstOf[t.owner] = t
		}
		total++
	}
	list := ranked(counts)
	if len(list) < 3 || total < 8 || list[0].n*10 < total*7 {
		return nil
	}
	t := firstOf[list[0].name]
	return []finding{found(printable(list[0].name), "%d of %d open tasks that have an owner are %s's, the first %s.",
		list[0].n, total, printable(list[0].name), at(t.f, t.row.n)).
		then("Ask "+printable(list[0].name)+" which of them somebody else could take.", costMinutes,
			"one person's evenings, and the plan with them").
		weighs(costly+2, "owner people tasks plan who balance")}
}
