package offline

import (
	"regexp"
	"strings"

	"conclave/internal/pattern"
	"conclave/internal/project"
)

var (
	pyExcept = pattern.New(`^(\s*)except(?:\s*:|\s+\(?(?:Exception` +
		`|BaseException)\)?(?:\s+as\s+\w+)?\s*:)\s*(pass|\.\.\.)?\s*$`)
	javaCatch = pattern.New(`\bcatch\s*\(\s*(?:final\s+)?([\w.| ]+?)\s+(\w+)\s*\)\s*\{\s*(\})?\s*$`)
	goSwallow = pattern.New(`^\s*if (?:\w+(?:, \w+)* :?= .*; )?err != nil \{\s*(\})?\s*$`)
	meant     = pattern.New(`(?i)^(_\w*|expected|unused|swallow\w*|ignore\w*)$`)
)

// swallowed are errors that are caught whole, and of which nothing is done and
// nothing said.
func swallowed(s *sight) []finding {
	var g grouped
	for _, f := range s.own(project.Source) {
		if strings.HasPrefix(f.Base, "Test") {
			continue
		}
		switch f.Lang {
		case "Python":
			if strings.Contains(f.Text, "except") {
				pySwallowed(f, &g)
			}
		case "Java": // in a browser's language an empty catch is a habit
			if strings.Contains(f.Text, "catch") {
				javaSwallowed(f, &g)
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
		if strings.Contains(line, `"""`) && ignores.MatchString(line) {
			function += "__del__" // its own words say that errors are lost
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
		if answered(lines, i) || !calls(lines, i) {
			continue
		}
		g.add(f, i+1)
	}
}

// calls says that what is tried above line i calls something: else it keeps or
// looks at what is at hand, and nothing from outside can fail.
func calls(lines []string, i int) bool {
	for j := i - 1; j >= 0 && indentOf(lines[j]) > indentOf(lines[i]) || j >= 0 && strings.TrimSpace(lines[j]) == ""; j-- {
		if t := strings.TrimSpace(lines[j]); strings.Contains(t, "(") || strings.HasPrefix(t, "import ") ||
			strings.HasPrefix(t, "from ") {
			return true
		}
	}
	return false
}

var ignores = pattern.New(`(?i)ignor|silent|suppress|best.effort|swallow|fail`)

var (
	leaves = pattern.New(`^(?:return|break|continue|yield)\b`)
	tidies = pattern.New(`(?i)\b(?:close|destroy|unlink|remove|delete|del|kill|shutdown|` +
		`terminate|flush|disconnect|rm|rmdir|rmtree|end|finish|rollback|` +
		`settimeout|stop|cancel|abort|release|quit|dispose|cleanup)\w*\b`)
	tryHead = pattern.New(`\btry\b`)
)

// answered says that an error which is caught in line i of a text is not lost
// after all: words above it or in what is tried tell of it, what is tried leaves
// when it succeeds, so that what follows is for the failure, or it only tidies
// up.
func answered(lines []string, i int) bool {
	depth := indentOf(lines[i])
	said, tidy := 0, false
	for j := i - 1; j >= 0 && j > i-40; j-- {
		t := strings.TrimSpace(lines[j])
		if t == "" {
			continue
		}
		if indentOf(lines[j]) <= depth && tryHead.MatchString(t) {
			if strings.Contains(t, "//") || strings.Contains(t, "#") || j > 0 && isComment(strings.TrimSpace(lines[j-1])) {
				return true
			}
			break
		}
		if indentOf(lines[j]) < depth {
			break
		}
		if isComment(t) || strings.Contains(t, " // ") || strings.Contains(t, "  # ") || leaves.MatchString(t) ||
			strings.Contains(t, ") return ") {
			return true
		}
		if said++; said < 4 && tidies.MatchString(t) {
			tidy = true
		}
	}
	if tidy && said < 5 {
		return true
	}
	for _, line := range lines[i+1 : min(i+5, len(lines))] { // what follows looks how it went
		t := strings.TrimSpace(line)
		if t == "" || t == "}" || t == "pass" || t == "..." {
			continue
		}
		return t == "else:" && indentOf(line) == depth || strings.HasPrefix(t, "if ") || strings.HasPrefix(t, "if(") ||
			strings.Contains(t, "||") || strings.Contains(t, "??") || strings.Contains(t, " or ")
	}
	return false
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

func javaSwallowed(f *project.File, g *grouped) {
	lines := strings.Split(f.Text, "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		if !strings.Contains(line, "catch") || isComment(strings.TrimSpace(line)) {
			continue
		}
		m := javaCatch.FindStringSubmatch(line)
		closed := i+1 < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[i+1]), "}")
		if m == nil || meant.MatchString(m[2]) || m[3] == "" && !closed || narrowJava(m[1]) || answered(lines, i) ||
			tidies.MatchString(line[:strings.Index(line, "catch")]) {
			continue
		}
		g.add(f, i+1)
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

var rustErr = pattern.New(`^\s*if let Err\(_\) = .*\{\s*\}\s*$`)

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
