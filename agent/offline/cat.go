package offline

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"conclave/internal/pattern"
	"conclave/internal/project"
)

// cat looks for what can go wrong unseen.
func cat() animal {
	return animal{
		name:    "cat",
		opening: "No model behind me: I look, I do not reason.",
		nothing: "I walked along the walls and found no hole that I could point at. That is not the same as there being " +
			"none.",
		rules: []rule{
			unsettledMerge, focusedTests, swallowed, unchecked, skippedTests, busyUntested, deadEntryPoint, sharedDefault,
			noTests,
			brokenNames, emptyWork, retiredAPI, branchActions, longFunction,
		},
	}
}

// own are the sources that people of this project wrote to be run.
func (s *sight) own(kinds ...project.Kind) []*project.File {
	return slices.DeleteFunc(s.Of(kinds...), func(f *project.File) bool {
		return !f.Read || !citable(f.Path) || strings.HasPrefix(f.Path, "debian/")
	})
}

// grouped collects the places of one kind of thing: how many, and the first.
type grouped struct {
	n     int
	files map[string]bool
	where places
}

func (g *grouped) add(f *project.File, line int) {
	if g.files == nil {
		g.files = map[string]bool{}
	}
	g.n++
	if c := at(f, line); !g.files[f.Path] && len(g.where) < maxPlaces {
		g.where = append(g.where, c)
	}
	g.files[f.Path] = true
}

// tell is "at A", or "in N places, among them A, B and C".
func (g *grouped) tell() string {
	if g.n == len(g.where) {
		return "at " + g.where.String()
	}
	return fmt.Sprintf("in at least %s of %s, among them %s", count(g.n, "place"), count(len(g.files), "file"), g.where)
}

// said makes a finding of the places.
func (g *grouped) said(subject, format string) finding {
	f := found(subject, format, g.tell())
	f.cites = g.where
	return f
}

// unsettledMerge are the marks that git leaves, all three and in order.
func unsettledMerge(s *sight) []finding {
	for _, f := range s.Files {
		if !f.Read || f.Kind == project.Test || f.Kind == project.Licence || f.Kind == project.Other ||
			f.Kind == project.Doc && !isMarkdown(f) || !citable(f.Path) || !strings.Contains(f.Text,
			"<<<<<<< ") {
			continue
		}
		if from, to := mergeMarks(f.Path, f.Text); from > 0 {
			return []finding{found("`"+f.Path+"`", "A merge was committed before it was settled: it begins at %s and ends at "+
				"%s.", at(f, from), at(f, to)).
				then("Decide between the two sides and take the marks out.", costMinutes, "a file that nobody can build or read").
				weighs(broken, "merge conflict")}
		}
	}
	return nil
}

var (
	yamlLoad = pattern.New(`\byaml\.load\(\s*[^,()]+(?:\([^()]*\))?\s*\)`)
	mktemp   = pattern.New(`\btempfile\.mktemp\(`)
)

// uncheckedWords stand in every line that the rule is about.
var uncheckedWords = []string{"yaml.load(", "mktemp("}

// unchecked: a foreign text is executed, or a name taken that another may have.
func unchecked(s *sight) []finding {
	var load, temp grouped
	for _, f := range s.own(project.Source) {
		if !slices.ContainsFunc(uncheckedWords, func(w string) bool { return strings.Contains(f.Text, w) }) {
			continue
		}
		for n, line := range project.Lines(f.Text) {
			switch t := strings.TrimSpace(line); {
			case strings.HasPrefix(t, "#"), strings.HasPrefix(t, "//"), strings.HasPrefix(t, "*"):
			case f.Lang == "Python" && yamlLoad.MatchString(line):
				load.add(f, n)
			case f.Lang == "Python" && mktemp.MatchString(line):
				temp.add(f, n)
			}
		}
	}
	var out []finding
	if load.n > 0 {
		out = append(out, load.said("`yaml.load`", "`yaml.load` is called without a loader %s: before PyYAML 6 it builds "+
			"any object that the text names, since then the call fails.").
			then("Use `yaml.safe_load` at "+load.where[0].place()+".", costMinutes,
				"a text from outside that runs code, or a crash after an update").
			weighs(costly+12, "security yaml risk"))
	}
	if temp.n > 0 && len(out) == 0 {
		out = append(out, temp.said("`tempfile.mktemp`",
			"A temporary name is made and opened later %s; Python's own documentation calls `mktemp` unsafe for that.").
			then("Use `tempfile.mkstemp` or `NamedTemporaryFile` there.", costMinutes,
				"a file that another process puts there first").
			weighs(costly, "security risk"))
	}
	return out
}

const cannotSee = "A test that reaches it through other files I cannot see."

// busyUntested is the source that changes most among those without a test.
func busyUntested(s *sight) []finding {
	bare := map[string]*project.File{}
	for _, f := range s.Untested() {
		bare[f.Path] = f
	}
	if len(bare) == 0 || s.testedWhole() {
		return nil
	}
	churn := s.past.churn()
	rank := -1
	for _, c := range churn {
		if x := s.File(c.name); x == nil || x.Kind != project.Source {
			continue
		}
		rank++
		f := bare[c.name]
		if rank >= 10 || c.n < 8 {
			return nil
		}
		if f == nil || !citable(f.Path) || strings.HasPrefix(f.Path, ".") || f.Aside() || !s.MostTested(f.Lang) {
			continue
		}
		ch, ok := s.past.newest(c.name)
		if !ok {
			return nil
		}
		return []finding{found("`"+f.Path+"`", "Most sources of its language here have a test beside or within them, or "+
			"one that names them or what they declare; for this one I found none, yet of the last %s in the log at least "+
			"%d changed it, the latest at %s. It begins at %s. %s",
			count(len(s.past), "commit"), c.n, ch, at(f, 1), cannotSee).
			then("Before its next change pin down what `"+f.Path+"` does now, with one test.", costHalfDay,
				"the next change that breaks it unseen").
			weighs(costly+15, "tests test coverage churn risk")}
	}
	return nil
}

// testedWhole says that the tests of a Rust program start it as a whole: they name
// no source.
func (s *sight) testedWhole() bool {
	return s.Has("src/main.rs") && slices.ContainsFunc(s.Of(project.Test), func(f *project.File) bool {
		return f.Lang == "Rust" && (f.Dir == "tests" || strings.HasPrefix(f.Dir, "tests/"))
	})
}

// last points at the last line of a file.
func last(f *project.File) cite { return cite{path: f.Path, line: f.Lines, last: true} }

var mutableDefault = pattern.New(`^\s*(?:async )?def (\w+)\([^#]*?(\w+)(?:\s*:\s*[^=,()]+)?\s*=\s*(\[\]|\{\}` +
	`|dict\(\)|list\(\)|set\(\))\s*[,)]`)

// sharedDefault: in Python a default is made once, and shared by all calls. Only
// where the function changes it does that matter.
func sharedDefault(s *sight) []finding {
	var g grouped
	name := ""
	for _, f := range s.own(project.Source) {
		if f.Lang != "Python" || !strings.Contains(f.Text, "=[]") && !strings.Contains(f.Text, "={}") &&
			!strings.Contains(f.Text, "= []") && !strings.Contains(f.Text, "= {}") {
			continue
		}
		lines := strings.Split(f.Text, "\n")
		for i, line := range lines {
			m := mutableDefault.FindStringSubmatch(line)
			if m == nil || !changes(lines, i, m[2]) {
				continue
			}
			if g.n == 0 {
				name = m[1]
			}
			g.add(f, i+1)
		}
	}
	if g.n == 0 {
		return nil
	}
	return []finding{g.said("`"+name+"`", "A default value is changed by the function that has it, and so is shared by "+
		"all its calls, %s.").
		then("Let the default be `None` and make the value inside.", costMinutes, "a call that sees what another one left").
		weighs(contradicted, "bug defaults risk")}
}

func changes(lines []string, def int, name string) bool {
	change := regexp.MustCompile(`^\s+` + regexp.QuoteMeta(name) +
		`(?:\[[^\]]+\]\s*=[^=]|\.(?:append|extend|update|add|insert|setdefault|pop|remove|clear)\()`)
	again := regexp.MustCompile(`^\s+` + regexp.QuoteMeta(name) + `\s*(?::[^=]+)?=[^=]`)
	indent := len(lines[def]) - len(strings.TrimLeft(lines[def], " \t"))
	for _, line := range lines[def+1:] {
		t := strings.TrimSpace(line)
		if t != "" && len(line)-len(strings.TrimLeft(line, " \t")) <= indent && t[0] != ')' && t[0] != '#' {
			return false
		}
		if again.MatchString(line) {
			return false
		}
		if change.MatchString(line) {
			return true
		}
	}
	return false
}

// declares knows the files that only declare what others hold.
var declares = pattern.New(`\.d\.[cm]?ts$`)

// runsTests says that a manifest runs tests: then they are somewhere, and were
// not packed.
func runsTests(f *project.File) bool {
	return f.Base == "package.json" && slices.Contains(project.ScriptNames(f), "test") &&
		!strings.Contains(f.Text, "no test specified")
}

// noTests: a project of some size without a single test.
func noTests(s *sight) []finding {
	if s.Tests() > 0 || !s.Looked.Whole() || slices.ContainsFunc(s.Files, runsTests) || s.published() {
		return nil
	}
	var big *project.File
	n, lines, prose := 0, 0, 0
	for _, f := range s.documents() {
		prose += f.Lines
	}
	for _, f := range s.own(project.Source) {
		if !slices.Contains([]string{"Go", "Python", "JavaScript", "TypeScript", "Rust", "Java"}, f.Lang) ||
			declares.MatchString(f.Base) {
			continue
		}
		if f.Lang == "Rust" && (strings.Contains(f.Text, "#[test]") || strings.Contains(f.Text, "/// ```")) ||
			f.Lang == "Python" && strings.Contains(f.Text, ">>> ") {
			return nil
		}
		n++
		lines += f.Lines
		if big == nil || f.Lines > big.Lines {
			big = f
		}
	}
	if n < 5 || big.Lines < 60 || lines < prose { // a text with examples
		return nil
	}
	return []finding{found("tests", "Among %s there is no test that I know by its name; the longest source ends at %s.",
		count(n, "source file"), last(big)).
		then("Write the first test, for `"+big.Path+"`.", costHalfDay, "finding out from users what broke").
		weighs(costly+5, "tests test coverage risk")}
}

// brokenNames are paths that a manifest needs and that are not there.
func brokenNames(s *sight) []finding {
	for _, m := range s.Manifests() {
		for _, p := range m.Paths {
			if !citable(m.File.Path) || !s.gone(p.Path) || p.What == "build" || p.What == "entry" && !s.entryGone(p.Path) {
				continue
			}
			saves := "a build that stops at once"
			if p.What == "subproject" {
				saves = "a part of the build that is empty, or a build that stops"
			}
			return []finding{found("`"+p.Path+"`", "The manifest names something that is not in the tree (%s): %s.", p.What,
				at(m.File, p.Line)).
				then("Take `"+printable(p.As)+"` out of the manifest, or bring it back.", costMinutes, saves).
				weighs(broken-5, "build manifest dependencies packaging")}
		}
	}
	return nil
}

// entryGone says that the file by which a package is entered is missing where
// its neighbours are: what a build would make has none.
func (s *sight) entryGone(p string) bool {
	dir := path.Dir(p)
	if path.Ext(p) == "" || strings.HasPrefix(p, "..") || dir == "." { // at the top lie other scripts too
		return false
	}
	return slices.ContainsFunc(s.Files, func(f *project.File) bool {
		return f.Dir == dir && (f.Kind == project.Source || f.Kind == project.Generated) && f.Lang != "" &&
			path.Ext(f.Base) == path.Ext(p)
	})
}

var entryForm = pattern.New(`^([A-Za-z_][\w.]*)(?::([A-Za-z_]\w*))?`)

// deadEntryPoint: a Python package installs a command whose module or function
// is not there.
func deadEntryPoint(s *sight) []finding {
	for _, m := range s.Manifests() {
		if m.Tool != "pip" || !citable(m.File.Path) || !s.Looked.Whole() {
			continue
		}
		for _, name := range sortedKeys(m.Scripts) {
			v := m.Scripts[name]
			x := entryForm.FindStringSubmatch(v.Text)
			if x == nil {
				continue
			}
			module := strings.ReplaceAll(x[1], ".", "/")
			top, _, _ := strings.Cut(module, "/")
			known := false
			var file *project.File
			for _, root := range []string{".", "src", "lib"} {
				known = known || s.IsDir(path.Join(root, top))
				for _, end := range []string{".py", "/__init__.py"} {
					if f := s.File(path.Join(m.File.Dir, root, module+end)); f != nil {
						file = f
					}
				}
			}
			switch {
			case file == nil && known && !s.anywhere(module+".py") && !s.anywhere(module+"/__init__.py"):
				return []finding{found("`"+name+"`", "The command `%s` is to start %s, and there is no such module in the tree.",
					printable(name), at(m.File, v.Line)).
					then("Name the module that is there now.", costMinutes, "a command that fails at its first call").
					weighs(broken-3, "packaging commands entry")}
			case file != nil && file.Read && x[2] != "" && !strings.Contains(file.Text, x[2]) && !strings.Contains(file.Text,
				"import *"):
				return []finding{found("`"+name+"`", "The command `%s` is to start %s, and `%s` has nothing of that name.",
					printable(name), at(m.File, v.Line), file.Path).
					then("Name the function that is there now.", costMinutes, "a command that fails at its first call").
					weighs(broken-3, "packaging commands entry")}
			}
		}
	}
	return nil
}

// emptyWork are documents that were begun and hold nothing.
func emptyWork(s *sight) []finding {
	if s.HasCode() {
		return nil
	}
	for _, f := range s.documents() {
		body, heading := 0, 0
		for n, line := range project.Lines(f.Text) {
			if t := strings.TrimSpace(line); t != "" && (heading > 0 || !strings.HasPrefix(t, "# ")) {
				body++ // whatever it is: another heading, a block of code
			} else if t != "" {
				heading = n
			}
		}
		if heading == 0 || body > 0 || path.Ext(f.Base) != ".md" {
			continue
		}
		return []finding{found("`"+f.Path+"`", "It has a heading and nothing below it: %s.", at(f, heading)).
			then("Write its first paragraph, or take it out of the plan.", costHour,
				"a part that looks done in a list of files").
			weighs(worthKnowing+10, "chapters plan open")}
	}
	return nil
}
