package offline

import (
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"

	"conclave/internal/pattern"
	"conclave/internal/project"
)

var (
	flagForm = pattern.New(`(?:^|\s)--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)`)
	wordForm = pattern.New(`[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*`)
)

// programs are the names under which the project's own programs are started.
func (s *sight) programs() []string {
	var out []string
	add := func(name string) {
		if name = path.Base(name); len(name) > 1 && name != "." && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, m := range s.Manifests() {
		if m.Tool == "cargo" && m.Name.Text != "" && s.Has(path.Join(m.File.Dir, "src/main.rs")) ||
			m.Tool == "cargo" && m.Name.Text != "" && s.Has(path.Join(m.File.Dir, "src/bin", m.Name.Text)) {
			add(m.Name.Text)
		}
		if m.Tool == "pip" && m.Name.Text != "" {
			add(strings.ToLower(m.Name.Text))
		}
		if m.Tool == "go" && s.Has(path.Join(m.File.Dir, "main.go")) {
			add(majorEnd.ReplaceAllString(m.Name.Text, ""))
		}
	}
	for _, f := range s.own(project.Source) {
		if f.Lang == "Go" && strings.HasPrefix(f.Dir, "cmd/") && strings.Count(f.Dir, "/") == 1 &&
			strings.Contains("\n"+f.Text, "\npackage main\n") {
			add(f.Dir)
		}
	}
	return out
}

var majorEnd = pattern.New(`/v\d+$`)

// deadFlags are flags that a prominent document shows with the project's own
// program, and that no source speaks of under any spelling.
func deadFlags(s *sight) []finding {
	names := s.programs()
	if len(names) == 0 || !s.Looked.Whole() {
		return nil
	}
	var words map[string]bool
	docs := s.documents()
	slices.SortStableFunc(docs, first)
	for _, f := range docs {
		if !prominent(f) || strings.Count(f.Path, "/") > 1 {
			continue
		}
		for _, c := range typed(f) {
			call := ownCall(c.text, names)
			if call == "" {
				continue
			}
			for _, m := range flagForm.FindAllStringSubmatch(call, -1) {
				if words == nil {
					words = s.sourceWords()
				}
				flag := m[1]
				if s.flagKnown(words, flag) {
					continue
				}
				return []finding{found("`--"+flag+"`", "Newcomers are shown `--%s` at %s, and no source of the project has that "+
					"name under any spelling.", flag, at(f, c.n)).
					then("Correct "+at(f, c.n).place()+", or give it that flag.", costMinutes, "a command that is refused").
					weighs(contradicted+1, "documentation readme flags options cli")}
			}
		}
	}
	return nil
}

// ownCall is the part of a line that starts one of the programs, up to where
// another one begins.
func ownCall(line string, names []string) string {
	for _, part := range splitShell.Split(strings.TrimSpace(line), -1) {
		fields := strings.Fields(part)
		if len(fields) > 1 && slices.Contains(names, strings.TrimPrefix(fields[0], "./")) && !strings.ContainsAny(part,
			"`$()\"'") {
			part, _, _ = strings.Cut(part, " #")
			part, _, _ = strings.Cut(part, " -- ")
			for _, word := range []string{" run ", " exec ", " x "} { // what follows is for another program
				part, _, _ = strings.Cut(part, word)
			}
			return part
		}
	}
	return ""
}

// sourceWords are the names in all sources, folded, and in what programs wrote.
func (s *sight) sourceWords() map[string]bool {
	out := map[string]bool{}
	for _, f := range s.Files {
		if f.Read && (f.Kind == project.Source || f.Kind == project.Generated || f.Kind == project.Config ||
			f.Kind == project.Other) {
			for _, w := range wordForm.FindAllString(f.Text, -1) {
				out[bare(w)] = true
			}
		}
	}
	return out
}

func (s *sight) flagKnown(words map[string]bool, flag string) bool {
	if flag == "help" || flag == "version" || words[bare(flag)] {
		return true
	}
	for _, lead := range []string{"no-", "with-", "without-", "enable-", "disable-"} {
		if rest, ok := strings.CutPrefix(flag, lead); ok && words[bare(rest)] {
			return true
		}
	}
	for part := range strings.SplitSeq(flag, "-") { // put together from parts, as some programs do
		if !words[part] {
			return false
		}
	}
	return strings.Contains(flag, "-") && len(strings.Split(flag, "-")) > 2
}

var (
	packageLine = pattern.New(`(?m)^package (\w+)`)
	exportedDef = pattern.New(`(?m)^(?:func (?:\([^)]*\) )?|type |var |const )([A-Z]\w*)`)
)

// unexplained is a Go package that others import and that says nowhere what it
// is.
func unexplained(s *sight) []finding {
	if !s.Looked.Whole() || len(s.programs()) > 0 {
		return nil // a program's packages are for itself
	}
	type pkg struct {
		file *project.File
		line int
		n    int
		said bool
	}
	dirs := map[string]*pkg{}
	for _, f := range s.own(project.Source, project.Generated) {
		if f.Lang != "Go" || slices.ContainsFunc(strings.Split(f.Dir, "/"), func(d string) bool {
			return d == "internal" || d == "cmd" || d == "test" || d == "tests" || d == "tools" || d == "hack"
		}) {
			continue
		}
		at := packageLine.FindStringSubmatchIndex(f.Text)
		if at == nil || f.Text[at[2]:at[3]] == "main" {
			continue
		}
		p := dirs[f.Dir]
		if p == nil {
			p = &pkg{}
			dirs[f.Dir] = p
		}
		p.said = p.said || saysWhat(f.Text)
		n := len(exportedDef.FindAllString(f.Text, -1))
		if p.n += n; p.file == nil || n > 0 && p.file.Kind == project.Generated {
			p.file, p.line = f, 1+strings.Count(f.Text[:at[0]], "\n")
		}
	}
	best := ""
	for _, dir := range sortedKeys(dirs) {
		p := dirs[dir]
		if !p.said && p.n >= 8 && p.file.Kind == project.Source && (best == "" || p.n > dirs[best].n) {
			best = dir
		}
	}
	if best == "" {
		return nil
	}
	p := dirs[best]
	name := "`" + best + "/`"
	if best == "." {
		name = "the package at the top"
	}
	return []finding{found(name, "It is there for others to import, and no file of it has a comment that says what it "+
		"is: it begins at %s.", at(p.file, p.line)).
		then("Write the one sentence above `package` that says what it is for.", costMinutes, "every reader's guess").
		weighs(worthKnowing-4, "documentation package comment api")}
}

var notAbout = pattern.New(`(?i)copyright|licen[cs]e|all rights reserved|^code generated|^\+build`)

// saysWhat says that a Go source has a comment on its package: the one directly
// above the clause, or one that a blank line cuts off from it and that is neither
// of the law nor for a machine.
func saysWhat(text string) bool {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", text, parser.PackageClauseOnly|parser.ParseComments)
	if err != nil {
		return true // who knows
	}
	for _, c := range f.Comments {
		words := strings.TrimSpace(c.Text())
		if c.End() >= f.Package || words == "" || strings.HasPrefix(words, "+build") {
			continue
		}
		if c == f.Doc || !notAbout.MatchString(words) {
			return true
		}
	}
	return false
}

// twoSetups: setup.py and setup.cfg, or pyproject.toml, ask for one thing in two
// ways.
func twoSetups(s *sight) []finding {
	var list []*project.Manifest
	for _, m := range s.Manifests() {
		if m.Tool == "pip" && m.File.Dir == "." && !strings.HasSuffix(m.File.Base, ".txt") {
			list = append(list, m)
		}
	}
	for i, a := range list {
		for _, b := range list[i+1:] {
			for _, d := range a.Deps {
				for _, e := range b.Deps {
					if d.Scope == project.Main && e.Scope == project.Main && project.Normal(d.Name) == project.Normal(e.Name) &&
						!d.Conditional && !e.Conditional &&
						strings.ReplaceAll(d.Want, " ", "") != strings.ReplaceAll(e.Want, " ", "") {
						return []finding{found(d.Name, "It is asked for in two files and differently: %s and %s.", at(a.File, d.Line),
							at(b.File, e.Line)).
							then("Keep what is needed in one of the two.", costMinutes, "the question which version is meant").
							weighs(contradicted+5, "dependencies versions")}
					}
				}
			}
			if a.Needs.Text != "" && b.Needs.Text != "" && strings.ReplaceAll(a.Needs.Text, " ",
				"") != strings.ReplaceAll(b.Needs.Text, " ", "") {
				return []finding{found("the Python version", "Two files demand two versions of Python: %s and %s.", at(a.File,
					a.Needs.Line), at(b.File, b.Needs.Line)).
					then("Keep one of the two.", costMinutes, "the question which one holds").
					weighs(contradicted+5, "dependencies versions python")}
			}
		}
	}
	return nil
}

var variableForm = pattern.New(`\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b`)

// deadVariables are variables of the environment that a prominent document
// names after the project's own program, and that no other file knows.
func deadVariables(s *sight) []finding {
	names := s.programs()
	if len(names) == 0 || !s.Looked.Whole() {
		return nil
	}
	docs := s.documents()
	slices.SortStableFunc(docs, first)
	for _, f := range docs {
		if !prominent(f) || f.Dir != "." {
			continue
		}
		for n, line := range project.Lines(f.Text) {
			for _, v := range variableForm.FindAllString(line, -1) {
				if !slices.ContainsFunc(names, func(p string) bool {
					return strings.HasPrefix(v, strings.ToUpper(strings.ReplaceAll(p, "-", "_"))+"_")
				}) {
					continue
				}
				if slices.ContainsFunc(s.Files, func(x *project.File) bool {
					return x != f && x.Read && x.Kind != project.Doc && strings.Contains(x.Text, v)
				}) || s.putTogether(v) {
					continue
				}
				return []finding{found("`"+v+"`", "%s tells of `%s`, and no source or script of the project has that name.",
					at(f, n), v).
					then("Correct "+at(f, n).place()+", or read the variable.", costMinutes, "a setting that does nothing").
					weighs(contradicted, "documentation readme settings environment")}
			}
		}
	}
	return nil
}

var readsEnv = pattern.New(`(?i)getenv|lookupenv|environ|process\.env|env::var|env!\(|\benv:`)

// putTogether says that a source may make such names from a beginning and the
// rest: it holds a part of this one, or none of the kind is written out anywhere.
func (s *sight) putTogether(v string) bool {
	lead, _, _ := strings.Cut(v, "_")
	written := regexp.MustCompile(`\b` + regexp.QuoteMeta(lead) + `_[A-Z0-9_]*[A-Z0-9]\b`)
	var parts []string
	for i := range v {
		if v[i] == '_' {
			parts = append(parts, v[:i+1])
		}
	}
	part := regexp.MustCompile(`\b(?:` + strings.Join(parts, "|") + `)(?:\W|$)`)
	out := false
	for _, f := range s.Of(project.Source) {
		if !f.Read {
			continue
		}
		if strings.Contains(f.Text, "SetEnvPrefix") || strings.Contains(f.Text, "env_prefix") || part.MatchString(f.Text) {
			return true
		}
		out = out || readsEnv.MatchString(f.Text) && written.MatchString(f.Text)
	}
	return !out
}

// olderModule: the README names the module by another major version than its
// own.
func olderModule(s *sight) []finding {
	f := s.readme()
	for _, m := range s.Manifests() {
		if m.Tool != "go" || m.File.Dir != "." || f == nil {
			continue
		}
		base := majorEnd.ReplaceAllString(m.Name.Text, "")
		own := strings.TrimPrefix(m.Name.Text, base)
		re := regexp.MustCompile(regexp.QuoteMeta(base) + `(/v\d+)?(/[\w./-]*)?@`)
		for _, c := range typed(f) {
			if x := re.FindStringSubmatch(c.text); x != nil && x[1] != own && strings.HasPrefix(c.text, "go ") {
				return []finding{found("the version", "Readers are told to ask for %s, and the module calls itself otherwise: "+
					"%s.", at(f, c.n), at(m.File, m.Name.Line)).
					then("Put the module's own path into "+at(f, c.n).place()+".", costMinutes, "newcomers who get an old release").
					weighs(contradicted+3, "version readme documentation")}
			}
		}
	}
	return nil
}

var (
	licensedUnder = pattern.New(`(?i)\b(?:licen[sc]ed|released|available|distributed|published) under (?:the ` +
		`)?(?:terms of (?:the )?)?\W{0,3}((?:MIT|Apache|BSD|ISC|MPL|Mozilla|L?GPL|AGPL|GNU|Unlicense)[\w .,-]{0,40})`)
	licenceHead = pattern.New(`(?i)^#{1,3}\s+licen[sc]e\s*$`)
	licenceWord = pattern.New(`(?i)\b(MIT|Apache|BSD|ISC|MPL|Mozilla|AGPL|LGPL|GPL|GNU|Unlicense)\b`)
)

// readmeLicence: the README names a licence, and the text beside it is another
// one.
func readmeLicence(s *sight) []finding {
	f := s.readme()
	var texts []*project.File
	for _, x := range s.Of(project.Licence) {
		if base := strings.ToUpper(x.Base); x.Dir == "." && x.Read && (strings.HasPrefix(base, "LICEN") ||
			strings.HasPrefix(base, "COPYING")) {
			texts = append(texts, x)
		}
	}
	if f == nil || len(texts) != 1 || !citable(texts[0].Path) {
		return nil
	}
	have := family(licenceOf(texts[0].Text))
	if have == "" {
		return nil
	}
	under := 0
	for n, line := range project.Lines(f.Text) {
		if licenceHead.MatchString(line) {
			under = n
		}
		said := licensedUnder.FindString(line)
		if said == "" && under > 0 && n > under && n <= under+3 && len(line) < 80 {
			said = line
		}
		words := licenceWord.FindAllString(said, -1)
		if len(words) == 0 || len(words) > 2 {
			continue
		}
		want := family(words[0])
		if want == "" || strings.EqualFold(words[0], "GNU") || strings.EqualFold(words[0], "Mozilla") || want == have ||
			slices.ContainsFunc(words, func(w string) bool { return family(w) == have }) || strings.Contains(want, "GPL") &&
			strings.Contains(have, "GPL") {
			continue
		}
		h := lineWhere(texts[0].Text, func(l string) bool { return quote(l) != "" })
		return []finding{found("the licence", "%s names another licence than the text in %s, which is that of %s.", at(f,
			n), at(texts[0], h.line), licenceOf(texts[0].Text)).
			then("Ask who decides which of the two holds, and correct the other.", costHour,
				"somebody who relies on the wrong one").
			weighs(contradicted+9, "licence license legal readme")}
	}
	return nil
}
