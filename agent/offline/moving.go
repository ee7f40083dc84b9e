package offline

import (
	"slices"
	"strings"

	"conclave/internal/pattern"
	"conclave/internal/project"
)

// movingSource is a dependency that is whatever a repository holds that day: it
// names neither a release nor a commit, and no lock file does.
func movingSource(s *sight) []finding {
	for _, m := range s.Manifests() {
		if !citable(m.File.Path) || s.LockOf(m) != nil || s.published() {
			continue
		}
		for _, d := range m.Deps {
			if !d.Floats || d.Scope == project.Managed || d.Scope == project.Peer {
				continue
			}
			return []finding{found(d.Name, "It is taken from a repository without a release or a commit being named, and no "+
				"lock file names one: %s.", at(m.File, d.Line)).
				then("Name the commit that was tried at "+at(m.File, d.Line).place()+".", costMinutes,
					"the day on which that repository changes").
				weighs(costly+6, "dependencies versions reproducible")}
		}
	}
	return nil
}

// unreleasedDependency: a version that is no snapshot itself is built with one of
// another.
func unreleasedDependency(s *sight) []finding {
	for _, m := range s.Manifests() {
		if m.Tool != "maven" || !citable(m.File.Path) || m.Version.Text == "" || strings.Contains(m.Version.Text, "$") ||
			strings.HasSuffix(m.Version.Text, "-SNAPSHOT") {
			continue
		}
		for _, d := range m.Deps {
			if !strings.HasSuffix(d.Want, "-SNAPSHOT") || d.Conditional {
				continue
			}
			return []finding{found(d.Name, "This is version %s, %s, and it asks for something that is not released: %s.",
				m.Version.Text, at(m.File, m.Version.Line), at(m.File, d.Line)).
				then("Ask for a release of it at "+at(m.File, d.Line).place()+".", costMinutes,
					"a release that cannot be built again").
				weighs(contradicted+4, "dependencies versions release")}
		}
	}
	return nil
}

var rustTodo = pattern.New(`\btodo!\(`)

// unwritten are places in a Rust source that are to be written, and panic.
func unwritten(s *sight) []finding {
	var g grouped
	for _, f := range s.own(project.Source) {
		if f.Lang != "Rust" || f.Aside() || !strings.Contains(f.Text, "todo!(") || strings.Contains(f.Text, "quote!") {
			continue
		}
		text, _, _ := strings.Cut(f.Text, "#[cfg(test)]")
		for n, line := range project.Lines(text) {
			if rustTodo.MatchString(line) && comment(line, f.Lang) == "" && strings.Count(line, `"`)%2 == 0 {
				g.add(f, n)
			}
		}
	}
	if g.n == 0 {
		return nil
	}
	return []finding{g.said("`todo!`", "What is to be written here panics when it is reached, %s.").
		then("Write it, or return an error at "+g.where[0].place()+".", costHour, "the user who reaches it first").
		weighs(costly+13, "todo unfinished panic")}
}

var flagItem = pattern.New("^\\s*[-*+]\\s+`--([a-z][a-z0-9]*(?:[.-][a-z0-9]+)+)")

// listedFlags: the README has a list of the program's own flags, and one of them is
// in no source.
func listedFlags(s *sight) []finding {
	f := s.readme()
	if f == nil || len(s.programs()) == 0 || !s.Looked.Whole() {
		return nil
	}
	var texts []*project.File
	for _, x := range s.Files {
		if x.Read && x != f && x.Kind != project.Doc {
			texts = append(texts, x)
		}
	}
	known, odd := 0, link{}
	for _, l := range proseOf(f) {
		m := flagItem.FindStringSubmatch(l.code)
		if m == nil {
			continue
		}
		if slices.ContainsFunc(texts, func(x *project.File) bool { return strings.Contains(x.Text, m[1]) }) {
			known++
		} else if odd.n == 0 {
			odd = link{n: l.n, as: m[1]}
		}
	}
	if odd.n == 0 || known < 3 {
		return nil
	}
	return []finding{found("`--"+odd.as+"`", "The README lists it, %s, as it does %d flags that the sources know; none of "+
		"them knows this one.", at(f, odd.n), known).
		then("Correct "+at(f, odd.n).place()+", or give it that flag.", costMinutes, "a command that is refused").
		weighs(contradicted+1, "documentation readme flags options cli")}
}
