package offline

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

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
		if !f.Read || f.Kind == project.Test || f.Kind == project.Licence || !citable(f.Path) || !strings.Contains(f.Text,
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

var focus = regexp.MustCompile(`^\s*(?:(?:it|test|describe|context|suite)\.only|fit|fdescribe|fcontext)\(`)

// focusedTests run, and keep all others of their file from running.
func focusedTests(s *sight) []finding {
	var g grouped
	for _, f := range s.own(project.Test) {
		if f.Lang != "JavaScript" && f.Lang != "TypeScript" || !strings.Contains(f.Text, ".only(") &&
			!strings.Contains(f.Text, "fit(") && !strings.Contains(f.Text, "fdescribe(") {
			continue
		}
		for n, line := range project.Lines(f.Text) {
			if focus.MatchString(line) {
				g.add(f, n)
			}
		}
	}
	if g.n == 0 {
		return nil
	}
	return []finding{g.said("`"+g.where[0].path+"`",
		"A test is marked to run alone %s: the others of its file do not run, and nothing fails.").
		then("Take the mark away and run the file.", costMinutes, "the failures that nobody has seen since").
		weighs(broken-2, "tests test")}
}

var (
	pyExcept = regexp.MustCompile(`^(\s*)except(?:\s*:|\s+\(?(?:Exception` +
		`|BaseException)\)?(?:\s+as\s+\w+)?\s*:)\s*(pass|\.\.\.)?\s*$`)
	jsCatch    = regexp.MustCompile(`\bcatch\s*(?:\(\s*(\w*)[^)]*\))?\s*\{\s*\}`)
	jsCatchEnd = regexp.MustCompile(`\bcatch\s*(?:\(\s*(\w*)[^)]*\))?\s*\{\s*$`)
	javaCatch  = regexp.MustCompile(`\bcatch\s*\(\s*(?:final\s+)?([\w.| ]+?)\s+(\w+)\s*\)\s*\{\s*(\})?\s*$`)
	goSwallow  = regexp.MustCompile(`^\s*if (?:\w+(?:, \w+)* :?= .*; )?err != nil \{\s*(\})?\s*$`)
	meant      = regexp.MustCompile(`(?i)^(_\w*|expected|unused|swallow\w*|ignore\w*)$`)
)

// swallowed are errors that are caught whole, and of which nothing is done and
// nothing said.
func swallowed(s *sight) []finding {
	var g grouped
	for _, f := range s.own(project.Source) {
		switch f.Lang {
		case "Python":
			if strings.Contains(f.Text, "except") {
				pySwallowed(f, &g)
			}
		case "JavaScript", "TypeScript", "Java":
			if strings.Contains(f.Text, "catch") {
				cSwallowed(f, &g)
			}
		case "Rust":
			if strings.Contains(f.Text, "Err(_)") {
				rustSwallowed(f, &g)
			}
		case "Go":
			if strings.Contains(f.Text, "err != nil {\n") {
				goSwallowed(f, &g)
			}
		}
	}
	if g.n == 0 {
		return nil
	}
	return []finding{g.said("swallowed errors", "An error is caught, and nothing is done or said about it, %s.").
		then("Log it, narrow it, or write why it may be lost, beginning at "+g.where[0].place()+".", costHour,
			"the night in which something fails and no line says so").
		weighs(costly+min(g.n, 10), "error errors exception exceptions handling failure")}
}

func pySwallowed(f *project.File, g *grouped) {
	lines := strings.Split(f.Text, "\n")
	function := ""
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		if t := strings.TrimSpace(line); strings.HasPrefix(t, "def ") {
			function = t
		}
		m := pyExcept.FindStringSubmatch(line)
		if m == nil || strings.Contains(function, "__del__") {
			continue
		}
		if m[2] == "" {
			if i+1 >= len(lines) {
				continue
			}
			body := strings.TrimSpace(lines[i+1])
			if body != "pass" && body != "..." {
				continue
			}
			if i+2 < len(lines) { // more of the same block, or a word why
				next := strings.TrimRight(lines[i+2], "\r")
				if t := strings.TrimSpace(next); strings.HasPrefix(t, "#") || t != "" && len(next)-len(strings.TrimLeft(next,
					" \t")) > len(m[1]) {
					continue
				}
			}
		}
		if i > 0 && strings.HasPrefix(strings.TrimSpace(lines[i-1]), "#") {
			continue
		}
		g.add(f, i+1)
	}
}

func cSwallowed(f *project.File, g *grouped) {
	lines := strings.Split(f.Text, "\n")
	quoted := false
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		if f.Lang != "Java" && strings.Count(line, "`")%2 == 1 {
			quoted = !quoted // a text of several lines: what stands in it is no code
		}
		if quoted || !strings.Contains(line, "catch") || strings.HasPrefix(strings.TrimSpace(line), "*") ||
			strings.HasPrefix(strings.TrimSpace(line), "//") {
			continue
		}
		closed := func() bool { return i+1 < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[i+1]), "}") }
		if i > 0 && strings.HasPrefix(strings.TrimSpace(lines[i-1]), "//") {
			continue
		}
		if f.Lang == "Java" {
			m := javaCatch.FindStringSubmatch(line)
			if m == nil || meant.MatchString(m[2]) || m[3] == "" && !closed() || narrowJava(m[1]) {
				continue
			}
			g.add(f, i+1)
			continue
		}
		if m := jsCatch.FindStringSubmatch(line); m != nil && (m[1] == "" || !meant.MatchString(m[1])) &&
			!strings.Contains(line, "/*") && !strings.Contains(line, "//") {
			g.add(f, i+1)
		} else if m := jsCatchEnd.FindStringSubmatch(line); m != nil && !meant.MatchString(m[1]) && closed() {
			g.add(f, i+1)
		}
	}
}

// narrowJava: what is caught is not everything.
func narrowJava(types string) bool {
	return !regexp.MustCompile(`\b(Exception|Throwable|RuntimeException|IOException|Error)\b`).MatchString(types)
}

func goSwallowed(f *project.File, g *grouped) {
	lines := strings.Split(f.Text, "\n")
	for i, line := range lines {
		if m := goSwallow.FindStringSubmatch(line); m != nil && i+1 < len(lines) && (m[1] != "" ||
			strings.TrimSpace(lines[i+1]) == "}") {
			g.add(f, i+1)
		}
	}
}

var rustErr = regexp.MustCompile(`^\s*(?:if let Err\(_\) = .*\{\s*\}|Err\(_\) => (?:\{\s*\}|\(\)),?)\s*$`)

func rustSwallowed(f *project.File, g *grouped) {
	if at := strings.Index(f.Text, "#[cfg(test)]"); at >= 0 {
		f = &project.File{Path: f.Path, Text: f.Text[:at]}
	}
	before := ""
	for n, line := range project.Lines(f.Text) {
		if rustErr.MatchString(line) && !isComment(before) {
			g.add(f, n)
		}
		before = strings.TrimSpace(line)
	}
}

var (
	yamlLoad = regexp.MustCompile(`\byaml\.load\(\s*[^,()]+(?:\([^()]*\))?\s*\)`)
	mktemp   = regexp.MustCompile(`\btempfile\.mktemp\(`)
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

var skipMark = map[string]*regexp.Regexp{
	"Go": regexp.MustCompile(`^\s*[a-z]\w*\.(?:Skip\(\)|SkipNow\(\))`),
	"Python": regexp.MustCompile(`^\s*@(?:pytest\.mark\.skip(?:\(\))?|unittest\.skip(?:\((?:""|'')?\))?` +
		`|skip(?:\(\))?)\s*$`),
	"JavaScript": regexp.MustCompile(`^\s*(?:(?:it|test|describe|context)\.skip|xit|xdescribe|xtest)\(`),
	"TypeScript": regexp.MustCompile(`^\s*(?:(?:it|test|describe|context)\.skip|xit|xdescribe|xtest)\(`),
	"Rust":       regexp.MustCompile(`^\s*#\[ignore\]\s*$`),
	"Java":       regexp.MustCompile(`^\s*@(?:Disabled|Ignore)(?:\(\s*\))?\s*$`),
}

var conditional = regexp.MustCompile(`^\s*(?:\}?\s*else\b|if\b|case\b|default\b|switch\b)`)

// skippedTests are tests that are passed over, always and without a word why.
func skippedTests(s *sight) []finding {
	var g grouped
	for _, f := range s.own(project.Test, project.Source) {
		re := skipMark[f.Lang]
		if re == nil || f.Kind == project.Source && f.Lang != "Rust" || !strings.Contains(f.Text, "kip") &&
			!strings.Contains(f.Text, "gnore") && !strings.Contains(f.Text, "isabled") && !strings.Contains(f.Text, "xit(") &&
			!strings.Contains(f.Text, "xdescribe(") && !strings.Contains(f.Text, "xtest(") {
			continue
		}
		lines := strings.Split(f.Text, "\n")
		for i, line := range lines {
			line = strings.TrimRight(line, "\r")
			if !re.MatchString(line) || strings.Contains(line, "//") || strings.Contains(line, "#") && f.Lang == "Python" {
				continue
			}
			before := ""
			if i > 0 {
				before = strings.TrimSpace(lines[i-1])
			}
			if explained(lines, i) || toldAbove(lines, i, f.Lang) ||
				conditional.MatchString(before) || f.Lang == "Java" && innerClass(lines, i) {
				continue
			}
			if f.Lang == "Go" && !strings.HasPrefix(before, "func ") && !strings.HasPrefix(before, "t.Helper") &&
				!strings.HasPrefix(before, "t.Parallel") {
				continue // under some condition
			}
			g.add(f, i+1)
		}
	}
	if g.n == 0 {
		return nil
	}
	return []finding{g.said("skipped tests", "Tests are passed over without a reason %s.").
		then("Run the one at "+g.where[0].place()+" and write the reason beside the mark, or take the mark away.",
			costHour, "a green run that says less than it seems to").
		weighs(costly+min(g.n, 8), "tests test skipped coverage")}
}

// innerClass says that the mark belongs to a class within a class: a test that is
// tried by another one.
func innerClass(lines []string, i int) bool {
	for _, line := range lines[i+1:] {
		t := strings.TrimSpace(line)
		if t == "" || strings.HasPrefix(t, "@") {
			continue
		}
		return strings.Contains(t, "class ") && (line[0] == ' ' || line[0] == '\t')
	}
	return false
}

// explained says that a comment stands with the mark: above it, with other marks
// between, or below it.
func explained(lines []string, i int) bool {
	for j := i - 1; j >= 0; j-- {
		t := strings.TrimSpace(lines[j])
		if isComment(t) {
			return true
		}
		if !strings.HasPrefix(t, "@") && !strings.HasPrefix(t, "#[") {
			break
		}
	}
	for j := i + 1; j < len(lines) && j < i+4; j++ {
		t := strings.TrimSpace(lines[j])
		if isComment(t) {
			return true
		}
		if !strings.HasPrefix(t, "@") && !strings.HasPrefix(t, "#[") {
			break
		}
	}
	return false
}

var whySkipped = regexp.MustCompile(`(?i)skip|disabl|ignor|fail|flak|slow|broken|until|because|bug\b|todo|#\d|issue`)

// toldAbove says that the words that belong to the function say something of the
// mark: the comment above a function in Go, what a function in Python begins with.
func toldAbove(lines []string, i int, lang string) bool {
	switch lang {
	case "Go":
		for j := i - 1; j > 0; j-- {
			if strings.HasPrefix(lines[j], "func ") {
				return isComment(strings.TrimSpace(lines[j-1]))
			}
		}
	case "Python":
		for j := i + 1; j < len(lines) && j < i+12; j++ {
			if t := strings.TrimSpace(lines[j]); strings.HasPrefix(t, `"""`) || strings.HasPrefix(t, "'''") {
				words, _, _ := strings.Cut(strings.Join(lines[j:min(j+12, len(lines))], "\n")[strings.Index(lines[j], t)+3:], t[:3])
				return whySkipped.MatchString(words)
			} else if strings.HasSuffix(lines[max(j-1, i+1)], ":") && j > i+1 {
				return false
			}
		}
	}
	return false
}

func isComment(t string) bool {
	return strings.HasPrefix(t, "//") || strings.HasPrefix(t, "#") && !strings.HasPrefix(t, "#[") ||
		strings.HasPrefix(t, "*") || strings.HasPrefix(t, "/*") || strings.HasSuffix(t, "*/")
}

const cannotSee = "A test that reaches it through other files I cannot see."

// busyUntested is the source that changes most among those without a test.
func busyUntested(s *sight) []finding {
	bare := map[string]*project.File{}
	for _, f := range s.Untested() {
		bare[f.Path] = f
	}
	churn := s.past.churn()
	rank := -1
	for _, c := range churn {
		if x := s.File(c.name); x == nil || x.Kind != project.Source {
			continue
		}
		rank++
		f := bare[c.name]
		if f == nil || !citable(f.Path) {
			continue
		}
		if rank >= 10 || c.n < 8 {
			return nil
		}
		ch, ok := s.past.newest(c.name)
		if !ok {
			return nil
		}
		return []finding{found("`"+f.Path+"`", "No test file stands beside it, and none names it, yet it was changed in %s, "+
			"and no other source of which that is true more often; last at %s. It begins at %s. %s",
			count(c.n, "commit"), ch, at(f, 1), cannotSee).
			then("Before its next change pin down what `"+f.Path+"` does now, with one test.", costHalfDay,
				"the next change that breaks it unseen").
			weighs(costly+15, "tests test coverage churn risk")}
	}
	return nil
}

// last points at the last line of a file.
func last(f *project.File) cite { return cite{path: f.Path, line: f.Lines, last: true} }

var mutableDefault = regexp.MustCompile(`^\s*(?:async )?def (\w+)\([^#]*?(\w+)(?:\s*:\s*[^=,()]+)?\s*=\s*(\[\]|\{\}` +
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
var declares = regexp.MustCompile(`\.d\.[cm]?ts$`)

// runsTests says that a manifest runs tests: then they are somewhere, and were
// not packed.
func runsTests(f *project.File) bool {
	return f.Base == "package.json" && slices.Contains(project.ScriptNames(f), "test") &&
		!strings.Contains(f.Text, "no test specified")
}

// noTests: a project of some size without a single test.
func noTests(s *sight) []finding {
	if s.Tests() > 0 || !s.Looked.Whole() || slices.ContainsFunc(s.Files, runsTests) {
		return nil
	}
	var big *project.File
	n := 0
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
		if big == nil || f.Lines > big.Lines {
			big = f
		}
	}
	if n < 5 || big.Lines < 60 {
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
			return []finding{found("`"+p.Path+"`", "The manifest names a %s that is not in the tree: %s.", p.What, at(m.File,
				p.Line)).
				then("Take `"+printable(p.As)+"` out of the manifest, or bring it back.", costMinutes,
					"a build that stops at once").
				weighs(broken-5, "build manifest dependencies packaging")}
		}
	}
	return nil
}

// entryGone says that the file by which a package is entered is missing where
// its neighbours are: what a build would make has none.
func (s *sight) entryGone(p string) bool {
	dir := path.Dir(p)
	if path.Ext(p) == "" || strings.HasPrefix(p, "..") {
		return false
	}
	return slices.ContainsFunc(s.Files, func(f *project.File) bool {
		return f.Dir == dir && (f.Kind == project.Source || f.Kind == project.Generated) && f.Lang != "" &&
			path.Ext(f.Base) == path.Ext(p)
	})
}

var entryForm = regexp.MustCompile(`^([A-Za-z_][\w.]*)(?::([A-Za-z_]\w*))?`)

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
			case file == nil && known:
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
