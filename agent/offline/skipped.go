package offline

import (
	"slices"
	"strings"

	"conclave/internal/pattern"
	"conclave/internal/project"
)

var focus = pattern.New(`^\s*(?:(?:it|test|describe|context|suite)\.only|fit|fdescribe|fcontext)\(`)

var caseHead = pattern.New(`^\s*(?:it|test|describe|context|suite)\(`)

// othersWait says that a test stands outside of what is marked to run alone, as far
// as its depth tells.
func othersWait(text string) bool {
	depth := -1 // of the mark that a line may stand in
	for _, line := range project.Lines(text) {
		switch at := indentOf(line); {
		case focus.MatchString(line):
			if depth < 0 || at <= depth {
				depth = at
			}
		case caseHead.MatchString(line) && (depth < 0 || at <= depth):
			return true
		}
	}
	return false
}

// focusedTests run, and keep all others of their file from running.
func focusedTests(s *sight) []finding {
	var g grouped
	for _, f := range s.own(project.Test) {
		if f.Lang != "JavaScript" && f.Lang != "TypeScript" || strings.Contains(f.Path, "only") ||
			!strings.Contains(f.Text, ".only(") &&
				!strings.Contains(f.Text, "fit(") && !strings.Contains(f.Text, "fdescribe(") {
			continue
		}
		if !othersWait(f.Text) {
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

var skipMark = map[string]*pattern.Pattern{
	"Go": pattern.New(`^\s*[a-z]\w*\.(?:Skip\(\)|SkipNow\(\))`),
	"Python": pattern.New(`^\s*@(?:pytest\.mark\.skip(?:\(\))?|unittest\.skip(?:\((?:""|'')?\))?` +
		`|skip(?:\(\))?)\s*$`),
	"JavaScript": pattern.New(`^\s*(?:(?:it|test|describe|context)\.skip|xit|xdescribe|xtest)\(`),
	"TypeScript": pattern.New(`^\s*(?:(?:it|test|describe|context)\.skip|xit|xdescribe|xtest)\(`),
	"Rust":       pattern.New(`^\s*#\[ignore\]\s*$`),
	"Java":       pattern.New(`^\s*@(?:Disabled|Ignore)(?:\(\s*\))?\s*$`),
}

var conditional = pattern.New(`^\s*(?:\}?\s*else\b|if\b|case\b|default\b|switch\b)`)

// skippedTests are tests that are passed over, always and without a word why.
func skippedTests(s *sight) []finding {
	var g grouped
	ignored := s.runsIgnored()
	for _, f := range s.own(project.Test, project.Source) {
		re := skipMark[f.Lang]
		if re == nil || f.Lang == "Rust" && ignored || tellingName.MatchString(f.Base) ||
			f.Kind == project.Source && f.Aside() ||
			f.Kind == project.Source && f.Lang != "Rust" || !strings.Contains(f.Text, "kip") &&
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
			if explained(lines, i) || toldAbove(lines, i, f.Lang) || nameTells(lines, i) ||
				conditional.MatchString(before) || f.Lang == "Java" && (innerClass(lines, i) || !isJavaTest(lines, i)) {
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

// runsIgnored says that something here runs the tests of Rust that are marked to be
// ignored.
func (s *sight) runsIgnored() bool {
	return slices.ContainsFunc(s.Files, func(f *project.File) bool {
		return f.Read && (f.Kind == project.Config || f.Kind == project.Other || f.Lang == "shell" || f.Lang == "Rust") &&
			(strings.Contains(f.Text, "--ignored") || strings.Contains(f.Text, "--include-ignored") ||
				strings.Contains(f.Text, "--run-ignored"))
	})
}

var (
	tellingName = pattern.New(`(?i)perf|bench|manual|stress|slow|flak|disable|ignore|` +
		`skip|pending|broken|interactive|network|online`)
	bodyBegins = pattern.New(`\{\s*$|=> ?\{?\s*$`)
)

// nameTells says that the test says by its name why it is passed over, or in the
// first line of its body.
func nameTells(lines []string, i int) bool {
	for j := i; j < len(lines) && j < i+5; j++ {
		t := strings.TrimSpace(lines[j])
		if j > i && (strings.HasPrefix(t, "@") || strings.HasPrefix(t, "#[")) {
			continue
		}
		if called := testName.FindString(t); called != "" && tellingName.MatchString(skipWord.ReplaceAllString(called, "")) {
			return true
		}
		if bodyBegins.MatchString(t) {
			return j+1 < len(lines) && isComment(strings.TrimSpace(lines[j+1]))
		}
	}
	for j := i - 1; j >= 0 && j > i-4; j-- { // Go: the mark stands within the function
		if strings.HasPrefix(lines[j], "func ") {
			return tellingName.MatchString(lines[j])
		}
	}
	return false
}

var (
	testName = pattern.New(`(?:\b(?:void|fn|def|class)\s+\w+|\(\s*["'\x60][^"'\x60]*)`)
	skipWord = pattern.New(`^\W*(?:void|fn|def|class)\s+`)
)

var nestedClass = pattern.New(`^\s+(?:\w+\s+)*class\s+\w+`)

// isJavaTest says that the mark stands with that of a test, or before a class, and
// not within a class of a class: such a one is tried by another test.
func isJavaTest(lines []string, i int) bool {
	test := false
	for j := i + 1; j < len(lines) && j < i+6; j++ {
		t := strings.TrimSpace(lines[j])
		if strings.HasPrefix(t, "@") {
			test = test || strings.Contains(t, "Test")
			continue
		}
		test = test || strings.Contains(t, "class ")
		break
	}
	for j := i - 1; j >= 0; j-- {
		t := strings.TrimSpace(lines[j])
		if !strings.HasPrefix(t, "@") {
			break
		}
		test = test || strings.Contains(t, "Test")
	}
	for j := i - 1; j >= 0 && test; j-- {
		if nestedClass.MatchString(lines[j]) && indentOf(lines[j]) < indentOf(lines[i]) {
			return false
		}
	}
	return test
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

var whySkipped = pattern.New(`(?i)skip|disabl|ignor|fail|flak|slow|broken|until|because|bug\b|todo|#\d|issue`)

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
