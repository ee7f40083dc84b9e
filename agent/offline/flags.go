package offline

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"conclave/internal/project"
)

var (
	flagForm = regexp.MustCompile(`(?:^|\s)--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)`)
	wordForm = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*`)
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

var majorEnd = regexp.MustCompile(`/v\d+$`)

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
					then("Correct "+at(f, c.n).place()+", or bring the flag back.", costMinutes, "a command that is refused").
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
	packageLine = regexp.MustCompile(`(?m)^package (\w+)`)
	exportedDef = regexp.MustCompile(`(?m)^(?:func (?:\([^)]*\) )?|type |var |const )([A-Z]\w*)`)
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
		before := strings.TrimRight(f.Text[:at[0]], " \t")
		if strings.HasSuffix(before, "\n") && !strings.HasSuffix(before, "\n\n") && before != "\n" &&
			!strings.Contains(lastLine(before), "//go:") && !strings.Contains(lastLine(before), "+build") {
			p.said = true
		}
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

func lastLine(s string) string {
	s = strings.TrimRight(s, "\n")
	return s[strings.LastIndexByte(s, '\n')+1:]
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
