package offline

import (
	"regexp"
	"slices"
	"strings"

	"conclave/internal/pattern"
	"conclave/internal/project"
)

// machine is a line that says with which version of a language something runs.
type machine struct {
	tool, lang string
	files      func(*project.File) bool
	re         *pattern.Pattern
}

func isDockerfile(f *project.File) bool {
	return f.Base == "Dockerfile" || f.Base == "Containerfile" || strings.HasPrefix(f.Base, "Dockerfile.") ||
		strings.HasSuffix(f.Base, ".Dockerfile")
}

func fileCalled(names ...string) func(*project.File) bool {
	return func(f *project.File) bool { return f.Dir == "." && slices.Contains(names, f.Base) }
}

func isPipeline(f *project.File) bool { return ciFile.MatchString(f.Path) }

const versionItem = `["']?v?(\d+(?:\.\d+)*)(?:\.x)?["']?`

var machines = []machine{
	{"go", "Go", isPipeline, pattern.New(`^\s*(?:-\s+)?(?:go-version|go|go_version|GO_VERSION|golang):\s*(.*)$`)},
	{"go", "Go", isDockerfile, pattern.New(
		`(?i)^FROM\s+(?:--platform=\S+\s+)?(?:\S+/)?golang:(\d+\.\d+(?:\.\d+)?)`)},
	{"npm", "Node", isPipeline, pattern.New(`^\s*(?:-\s+)?(?:node-version|node|node_version|NODE_VERSION` +
		`|node_js):\s*(.*)$`)},
	{"npm", "Node", isDockerfile, pattern.New(`(?i)^FROM\s+(?:--platform=\S+\s+)?(?:\S+/)?node:(\d+(?:\.\d+)*)`)},
	{"npm", "Node", fileCalled(".nvmrc", ".node-version"), pattern.New(`^v?(\d+(?:\.\d+)*)\s*$`)},
	{"pip", "Python", isPipeline, pattern.New(`^\s*(?:-\s+)?(?:python-version|python|python_version` +
		`|PYTHON_VERSION):\s*(.*)$`)},
	{"pip", "Python", isDockerfile, pattern.New(
		`(?i)^FROM\s+(?:--platform=\S+\s+)?(?:\S+/)?python:(\d+\.\d+(?:\.\d+)?)`)},
	{"pip", "Python", fileCalled(".python-version", "runtime.txt"),
		pattern.New(`^(?:python-)?(\d+\.\d+(?:\.\d+)?)\s*$`)},
	{"cargo", "Rust", isPipeline, pattern.New(`^\s*(?:-\s+)?(?:toolchain|rust|rust-version|rust_version` +
		`|\w*RUST_VERSION\w*|msrv|\w*MSRV\w*):\s*(.*)$`)},
	{"cargo", "Rust", isDockerfile, pattern.New(
		`(?i)^FROM\s+(?:--platform=\S+\s+)?(?:\S+/)?rust:(\d+\.\d+(?:\.\d+)?)`)},
	{"cargo", "Rust", fileCalled("rust-toolchain", "rust-toolchain.toml"),
		pattern.New(`^(?:channel\s*=\s*)?"?(\d+\.\d+(?:\.\d+)?)"?\s*$`)},
	{"maven", "Java", isPipeline, pattern.New(`^\s*(?:-\s+)?(?:java-version|java|jdk):\s*(.*)$`)},
	{"maven", "Java", isDockerfile, pattern.New(`(?i)^FROM\s+(?:--platform=\S+\s+)?(?:\S+/)?(?:eclipse-temurin` +
		`|openjdk|amazoncorretto):(\d+)`)},
}

var (
	oneVersion = pattern.New(`^` + versionItem + `$`)
	inMatrix   = pattern.New(`^\s*-\s*` + versionItem + `\s*(?:#.*)?$`)
)

// versionsOf reads one version, a list in brackets, or the lines of a list that
// follows.
func versionsOf(lines []string, i int, value string) []struct {
	v string
	n int
} {
	type item = struct {
		v string
		n int
	}
	value, _, _ = strings.Cut(value, " #")
	value = strings.TrimSpace(value)
	var out []item
	switch {
	case value == "":
		for j := i + 1; j < len(lines); j++ {
			m := inMatrix.FindStringSubmatch(strings.TrimRight(lines[j], "\r"))
			if m == nil {
				break
			}
			out = append(out, item{m[1], j + 1})
		}
	case strings.HasPrefix(value, "["):
		for part := range strings.SplitSeq(strings.Trim(value, "[] "), ",") {
			if m := oneVersion.FindStringSubmatch(strings.TrimSpace(part)); m != nil {
				out = append(out, item{m[1], i + 1})
			}
		}
	default:
		if m := oneVersion.FindStringSubmatch(value); m != nil {
			out = append(out, item{m[1], i + 1})
		}
	}
	return out
}

// A pipeline for another branch says so by its name, or by what it checks out.
var (
	otherBranch = pattern.New(`\d+\.\d`)
	otherRef    = pattern.New(`(?m)^\s+ref:\s*["']?[\w./-]*\d`)
)

// olderMachine: something is built or checked with a version of the language
// that the manifest refuses.
func olderMachine(s *sight) []finding {
	for _, mc := range machines {
		m := s.needs(mc.tool)
		if m == nil {
			continue
		}
		low, ok := floor(m)
		if !ok {
			continue
		}
		for _, f := range s.Files {
			if !f.Read || !mc.files(f) || !citable(f.Path) || f.Kind == project.Test || f.Kind == project.Example ||
				isPipeline(f) && (s.worksElsewhere(f, m.File.Base) || otherBranch.MatchString(f.Base) ||
					otherRef.MatchString(f.Text)) {
				continue
			}
			lines := strings.Split(f.Text, "\n")
			for i, line := range lines {
				x := mc.re.FindStringSubmatch(strings.TrimRight(line, "\r"))
				if x == nil {
					continue
				}
				for _, item := range versionsOf(lines, i, x[1]) {
					v, ok := project.ParseVersion(javaVersion(item.v, mc.tool))
					if !ok || low.Within(v) || v.Compare(low) >= 0 {
						continue
					}
					return []finding{found("the "+mc.lang+" version", "%s asks for %s %s, and the manifest demands more: %s.", at(f,
						item.n), mc.lang, item.v, at(m.File, m.Needs.Line)).
						then("Put "+at(f, item.n).place()+" and "+at(m.File, m.Needs.Line).place()+" to the same version.",
							costMinutes, "a build that fails there, or checks something else than what is shipped").
						weighs(contradicted+10, "ci version build process "+strings.ToLower(mc.lang))}
				}
			}
		}
	}
	return nil
}

var bareTen = pattern.New(`^\s*(?:-\s+)?(?:python-version|go-version|python|go):\s*(?:\[([^\]]*)\]` +
	`|(\d+\.\d*0))\s*(?:#.*)?$`)

// readAsNumber: 3.10 without quotation marks is the number 3.1 in YAML.
func readAsNumber(s *sight) []finding {
	for _, f := range s.pipelines() {
		for n, line := range project.Lines(f.Text) {
			m := bareTen.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			for part := range strings.SplitSeq(m[1]+m[2], ",") {
				part = strings.TrimSpace(part)
				if ok, _ := regexp.MatchString(`^\d+\.\d*[1-9]0$`, part); !ok {
					continue
				}
				return []finding{found("`"+part+"`", "%s has %s without quotation marks: YAML reads that as the number %s.",
					at(f, n), part, strings.TrimRight(part, "0")).
					then("Put quotation marks around it.", costMinutes, "a check with another version than is written").
					weighs(broken-6, "ci version process")}
			}
		}
	}
	return nil
}

// retired are machines and steps that GitHub has switched off.
var retired = []struct {
	re   *pattern.Pattern
	what string
}{
	{pattern.New(`(?:runs-on:|os:|-|\[|,)\s*["']?(ubuntu-(?:16|18|20)\.04)["']?(?:\s|$|,|\])`),
		"GitHub has withdrawn that image of Ubuntu; a job that asks for it does not start"},
	{pattern.New(`(?:runs-on:|os:|-|\[|,)\s*["']?(macos-(?:10\.15|11|12))["']?(?:\s|$|,|\])`),
		"GitHub has withdrawn that image of macOS; a job that asks for it does not start"},
	{pattern.New(`(?:runs-on:|os:|-|\[|,)\s*["']?(windows-(?:2016|2019))["']?(?:\s|$|,|\])`),
		"GitHub has withdrawn that image of Windows; a job that asks for it does not start"},
	{pattern.New(`uses:\s*(actions/(?:upload|download)-artifact@v[123])(?:\s|$)`),
		"GitHub has switched off versions 1 to 3 of that step; a job that uses it fails"},
	{pattern.New(`uses:\s*(actions/cache@v[12])(?:\s|$)`),
		"GitHub has switched off versions 1 and 2 of that step; a job that uses it fails"},
}

func retiredImage(s *sight) []finding {
	for _, r := range retired {
		var g grouped
		name := ""
		for _, f := range s.pipelines() {
			if !strings.HasPrefix(f.Path, ".github/workflows/") {
				continue
			}
			for n, line := range project.Lines(f.Text) {
				if m := r.re.FindStringSubmatch(line); m != nil && !strings.HasPrefix(strings.TrimSpace(line), "#") {
					if name == "" {
						name = m[1]
					}
					if m[1] == name { // another one of the family is another finding
						g.add(f, n)
					}
				}
			}
		}
		if g.n > 0 {
			return []finding{g.said("`"+name+"`", "The pipeline asks for `"+name+"` %s. "+r.what+".").
				then("Name a version that is still there at "+g.where[0].place()+".", costMinutes,
					"a pipeline that is red or silent for no fault of the change").
				weighs(broken-8, "ci pipeline process")}
		}
	}
	return nil
}
