package offline

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"conclave/internal/project"
)

// owl looks at dates, order and what machines are told to do.
func owl() animal {
	return animal{
		name:    "owl",
		opening: "First, so that it is said: I have no model behind me. I look, I do not reason.",
		nothing: "I looked for unticked tasks and notes whose day has passed, for steps that name what is not there " +
			"and for versions that contradict each other, and found none.",
		rules: []rule{
			deadSteps, olderMachine, readAsNumber, retiredImage, overdueNote, overdueVersion, overdueTask, wrongDay, twoDays,
			statedVersions, longSinceRelease, lowestUnchecked,
		},
	}
}

// deadSteps are steps of a pipeline, a Makefile, a Dockerfile or a package.json
// that ask for what is not there.
func deadSteps(s *sight) []finding {
	var all []command
	for _, f := range s.pipelines() {
		all = append(all, pipelineSteps(f)...)
	}
	all = append(all, s.recipes()...)
	for _, c := range all {
		subject, what := s.missing(c)
		if m := localAction.FindStringSubmatch(c.text); m != nil && s.IsDir(path.Dir(m[1])) && s.gone(m[1]) &&
			!checkedOut(c.f, path.Clean(m[1]), c.n) {
			subject, what = "`"+m[1]+"`", "there is no `"+m[1]+"` in the tree"
		}
		if m := copyLine.FindStringSubmatch(c.text); m != nil && isDockerfile(c.f) && s.gone(m[1]) &&
			s.gone(path.Join(c.f.Dir, m[1])) && !strings.HasPrefix(m[1], "/") {
			subject, what = "`"+m[1]+"`", "there is no `"+m[1]+"` in the tree"
		}
		if subject != "" && citable(c.f.Path) {
			return []finding{found(subject, "A machine is told to run %s, and %s.", at(c.f, c.n), what).
				then("Correct "+at(c.f, c.n).place()+", or bring back what it calls.", costMinutes,
					"a build or a check that fails there").
				weighs(broken-4, "ci pipeline build process release")}
		}
	}
	return nil
}

var copyLine = regexp.MustCompile(`^COPY\s+(?:--ch\w+=\S+\s+)?([\w][\w./-]*)\s+\S+\s*$`)

// recipes are the lines of Makefiles, Dockerfiles and package.json files that
// something runs.
func (s *sight) recipes() []command {
	var out []command
	for _, f := range s.own(project.Config) {
		switch {
		case f.Base == "Makefile" || f.Base == "GNUmakefile":
			for n, line := range project.Lines(f.Text) {
				if t := strings.TrimLeft(strings.TrimSpace(line), "@-+"); strings.HasPrefix(line, "\t") && f.Dir == "." &&
					!strings.HasPrefix(t, "make ") {
					out = append(out, command{f, n, t})
				}
			}
		case isDockerfile(f):
			for n, line := range project.Lines(f.Text) {
				if strings.HasPrefix(line, "COPY ") {
					out = append(out, command{f, n, line})
				}
			}
		}
	}
	for _, m := range s.Manifests() {
		if m.Tool != "npm" || m.File.Dir != "." {
			continue
		}
		for _, name := range sortedKeys(m.Scripts) {
			out = append(out, command{m.File, m.Scripts[name].Line, m.Scripts[name].Text})
		}
	}
	return out
}

var localAction = regexp.MustCompile(`^(?:- )?uses:\s*(\./[\w./-]+)`)

var (
	stepPath   = regexp.MustCompile(`^\s*(?:-\s+)?path:\s*["']?(.+?)["']?\s*(?:#.*)?$`)
	otherTree  = regexp.MustCompile(`^\s*(?:-\s+)?repository:\s*\S`)
	stepWorkIn = regexp.MustCompile(`^\s*(?:-\s+)?working-directory:\s*["']?(.+?)["']?\s*(?:#.*)?$`)
)

// checkedOut says that lines before may have put the name there: a checkout into
// a directory of its own, or of another repository.
func checkedOut(f *project.File, name string, before int) bool {
	for n, line := range project.Lines(f.Text) {
		if n >= before {
			return false
		}
		if otherTree.MatchString(line) {
			return true
		}
		if m := stepPath.FindStringSubmatch(line); m != nil {
			dir := path.Clean(m[1])
			if strings.Contains(dir, "$") || name == dir || strings.HasPrefix(name, dir+"/") {
				return true
			}
		}
	}
	return false
}

// worksElsewhere says that a pipeline has steps in a directory that another
// manifest than the root's may rule.
func (s *sight) worksElsewhere(f *project.File, manifest string) bool {
	for _, line := range project.Lines(f.Text) {
		m := stepWorkIn.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		dir := path.Clean(m[1])
		if dir != "." && !s.IsDir(dir) {
			return true // filled in later, or made by a step
		}
		for ; dir != "."; dir = path.Dir(dir) {
			if s.Has(path.Join(dir, manifest)) {
				return true
			}
		}
	}
	return false
}

// machine is a line that says with which version of a language something runs.
type machine struct {
	tool, lang string
	files      func(*project.File) bool
	re         *regexp.Regexp
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
	{"go", "Go", isPipeline, regexp.MustCompile(`^\s*(?:-\s+)?(?:go-version|go|go_version|GO_VERSION|golang):\s*(.*)$`)},
	{"go", "Go", isDockerfile, regexp.MustCompile(
		`(?i)^FROM\s+(?:--platform=\S+\s+)?(?:\S+/)?golang:(\d+\.\d+(?:\.\d+)?)`)},
	{"npm", "Node", isPipeline, regexp.MustCompile(`^\s*(?:-\s+)?(?:node-version|node|node_version|NODE_VERSION` +
		`|node_js):\s*(.*)$`)},
	{"npm", "Node", isDockerfile, regexp.MustCompile(`(?i)^FROM\s+(?:--platform=\S+\s+)?(?:\S+/)?node:(\d+(?:\.\d+)*)`)},
	{"npm", "Node", fileCalled(".nvmrc", ".node-version"), regexp.MustCompile(`^v?(\d+(?:\.\d+)*)\s*$`)},
	{"pip", "Python", isPipeline, regexp.MustCompile(`^\s*(?:-\s+)?(?:python-version|python|python_version` +
		`|PYTHON_VERSION):\s*(.*)$`)},
	{"pip", "Python", isDockerfile, regexp.MustCompile(
		`(?i)^FROM\s+(?:--platform=\S+\s+)?(?:\S+/)?python:(\d+\.\d+(?:\.\d+)?)`)},
	{"pip", "Python", fileCalled(".python-version", "runtime.txt"),
		regexp.MustCompile(`^(?:python-)?(\d+\.\d+(?:\.\d+)?)\s*$`)},
	{"cargo", "Rust", isPipeline, regexp.MustCompile(`^\s*(?:-\s+)?(?:toolchain|rust|rust-version|rust_version` +
		`|\w*RUST_VERSION\w*|msrv|\w*MSRV\w*):\s*(.*)$`)},
	{"cargo", "Rust", isDockerfile, regexp.MustCompile(
		`(?i)^FROM\s+(?:--platform=\S+\s+)?(?:\S+/)?rust:(\d+\.\d+(?:\.\d+)?)`)},
	{"cargo", "Rust", fileCalled("rust-toolchain", "rust-toolchain.toml"),
		regexp.MustCompile(`^(?:channel\s*=\s*)?"?(\d+\.\d+(?:\.\d+)?)"?\s*$`)},
	{"maven", "Java", isPipeline, regexp.MustCompile(`^\s*(?:-\s+)?(?:java-version|java|jdk):\s*(.*)$`)},
	{"maven", "Java", isDockerfile, regexp.MustCompile(`(?i)^FROM\s+(?:--platform=\S+\s+)?(?:\S+/)?(?:eclipse-temurin` +
		`|openjdk|amazoncorretto):(\d+)`)},
}

var (
	oneVersion = regexp.MustCompile(`^` + versionItem + `$`)
	inMatrix   = regexp.MustCompile(`^\s*-\s*` + versionItem + `\s*(?:#.*)?$`)
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
				isPipeline(f) && s.worksElsewhere(f, m.File.Base) {
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

var bareTen = regexp.MustCompile(`^\s*(?:-\s+)?(?:python-version|go-version|python|go):\s*(?:\[([^\]]*)\]` +
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
	re   *regexp.Regexp
	what string
}{
	{regexp.MustCompile(`(?:runs-on:|os:|-|\[|,)\s*["']?(ubuntu-(?:16|18|20)\.04)["']?(?:\s|$|,|\])`),
		"GitHub has withdrawn that image of Ubuntu; a job that asks for it does not start"},
	{regexp.MustCompile(`(?:runs-on:|os:|-|\[|,)\s*["']?(macos-(?:10\.15|11|12))["']?(?:\s|$|,|\])`),
		"GitHub has withdrawn that image of macOS; a job that asks for it does not start"},
	{regexp.MustCompile(`(?:runs-on:|os:|-|\[|,)\s*["']?(windows-(?:2016|2019))["']?(?:\s|$|,|\])`),
		"GitHub has withdrawn that image of Windows; a job that asks for it does not start"},
	{regexp.MustCompile(`uses:\s*(actions/(?:upload|download)-artifact@v[123])(?:\s|$)`),
		"GitHub has switched off versions 1 to 3 of that step; a job that uses it fails"},
	{regexp.MustCompile(`uses:\s*(actions/cache@v[12])(?:\s|$)`),
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

var (
	noteMark = regexp.MustCompile(`(?i)\b(?:TODO|FIXME|XXX|HACK|remove|delete|drop|expire[sd]?|deadline|due|temporary` +
		`|workaround|revisit|until|after|by)\b`)
	isoDate   = regexp.MustCompile(`\b(20\d\d)-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?\b`)
	monthDate = regexp.MustCompile(`\b(?:(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?)?(January|February|March|April|May|June` +
		`|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov` +
		`|Dec)\.?\s+(?:(\d{1,2})(?:st|nd|rd|th)?,?\s+)?(20\d\d)\b`)
	quarter = regexp.MustCompile(`\b(?:Q([1-4])\s*[/ -]?\s*(20\d\d)|(20\d\d)\s*[/ -]?\s*Q([1-4]))\b`)
)

// dateIn is the last day that a text can mean by its first date.
func dateIn(line string) (time.Time, string, bool) {
	if m := isoDate.FindStringSubmatch(line); m != nil {
		y, mo, d := atoi(m[1]), atoi(m[2]), atoi(m[3])
		return lastDay(y, mo, d), m[0], true
	}
	if m := monthDate.FindStringSubmatch(line); m != nil {
		mo := slices.IndexFunc(months, func(s string) bool { return strings.HasPrefix(s, strings.ToLower(m[2])[:3]) }) + 1
		return lastDay(atoi(m[4]), mo, atoi(m[1]+m[3])), m[0], true
	}
	if m := quarter.FindStringSubmatch(line); m != nil {
		return lastDay(atoi(m[2]+m[3]), 3*atoi(m[1]+m[4]), 0), m[0], true
	}
	return time.Time{}, "", false
}

var months = strings.Fields("january february march april may june july august september october november december")

// lastDay is the day, or the last of the month where none is named.
func lastDay(y, m, d int) time.Time {
	if d == 0 {
		return time.Date(y, time.Month(m)+1, 0, 0, 0, 0, 0, time.UTC)
	}
	return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
}

// comment is the part of a line of code that is one, "" for none.
func comment(line, lang string) string {
	marks := []string{"//", "/*"}
	switch lang {
	case "Python", "shell", "Ruby", "":
		marks = []string{"#"}
	case "SQL":
		marks = []string{"--"}
	}
	t := strings.TrimSpace(line)
	if (strings.HasPrefix(t, "*") || strings.HasPrefix(t, "<!--")) && lang != "Python" {
		return t
	}
	for _, m := range marks {
		i := strings.Index(line, m)
		if i >= 0 && (i == 0 || line[i-1] != ':') && strings.Count(line[:i], `"`)%2 == 0 && strings.Count(line[:i],
			"'")%2 == 0 && strings.Count(line[:i], "`")%2 == 0 {
			return line[i:]
		}
	}
	return ""
}

// yearIn says that a line may hold a year of this century: what most lines with a
// "20" in them do not.
func yearIn(line string) bool {
	for i := 0; i+4 <= len(line); i++ {
		if line[i] == '2' && line[i+1] == '0' && isDigit(line[i+2]) && isDigit(line[i+3]) &&
			(i == 0 || !isDigit(line[i-1])) && (i+4 == len(line) || !isDigit(line[i+4])) {
			return true
		}
	}
	return false
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// overdueNote are notes in the code that name a day which has passed.
func overdueNote(s *sight) []finding {
	var g grouped
	when := ""
	for _, f := range s.own(project.Source, project.Test, project.Config) {
		if !strings.Contains(f.Text, "20") {
			continue
		}
		for n, line := range project.Lines(f.Text) {
			if !strings.Contains(line, "20") || len(line) > 400 || !yearIn(line) {
				continue
			}
			c := comment(line, f.Lang)
			if c == "" || !noteMark.MatchString(c) {
				continue
			}
			day, text, ok := dateIn(c)
			if !ok || !day.Before(s.today) || !isDeadline(c, text) {
				continue
			}
			if g.n == 0 {
				when = text
			}
			g.add(f, n)
		}
	}
	if g.n == 0 {
		return nil
	}
	text := "A note names a day that has passed (" + when + ") and still stands %s."
	if g.n > 1 {
		text = "Notes name days that have passed, the first " + when + ", and still stand %s."
	}
	return []finding{g.said("overdue notes", text).
		then("Do what "+g.where[0].place()+" says, or write the new day there.", costHour,
			"what was meant to be temporary and is not").
		weighs(costly+14, "todo notes deadline date process")}
}

var (
	acts = regexp.MustCompile(`(?i)\b(?:TODO|FIXME|XXX|HACK|remove|delete|drop|revisit|clean ?up|revert|switch` +
		`|migrate|replace|disable|enable|expires?|temporary|temporarily|workaround)\b`)
	untilDay = regexp.MustCompile(`(?i)\b(?:by|until|till|before|after|due(?: on| by| in)?|expires?(?: on| in)?|no later ` +
		`` +
		`than|deadline:?)\s+(?:the\s+)?(?:end of\s+)?$`)
	onDay = regexp.MustCompile(`(?i)\b(?:remove|delete|drop|revisit|switch|disable|enable|replace)\b[^.;]{0,40}\b(?:on` +
		`|in|from|as of)\s+(?:the\s+)?(?:end of\s+)?$`)
	ownDay = regexp.MustCompile(`(?i)\b(?:TODO|FIXME|XXX|HACK)\s*[(\[:]?\s*$`)
)

// isDeadline: the words before the date make it a day by which something is to
// be done; a date at which something was written or seen is none.
func isDeadline(c, date string) bool {
	before, _, _ := strings.Cut(c, date)
	return acts.MatchString(c) && untilDay.MatchString(before) || onDay.MatchString(before) || ownDay.MatchString(before)
}

var (
	willGo = regexp.MustCompile(`(?i)\b(?:(?:will|to|should|must|can|shall) be (?:removed|dropped|deleted)|(?:TODO` +
		`|FIXME)\b[^.]{0,60}\b(?:remove|drop|delete)\b|(?:remove|drop|delete) (?:this|it|me|these|them|when|in|with|after` +
		`|for|at)\b|scheduled for removal|slated for removal|going away)[^.\n]{0,40}?\b(?:in|with|by|after|at|for|from` +
		`|reaches|release)\s+(?:(?:the\s+)?(?:next\s+)?(?:version|release|major)\s+)?v?(\d+\.\d+(?:\.\d+)?|\d+\.x)\b`)
	foreignVer = regexp.MustCompile(`(?i)\b(python|node|go|rust|java|jdk|django|flask|numpy|pandas|react|vue|angular` +
		`|typescript|ruby|php|kernel|linux|ubuntu|debian|chrome|firefox|safari|openssl|gcc|clang|llvm|postgres\w*|mysql` +
		`|sqlite|pytest|sphinx|setuptools|pip|maven|gradle|spring|guava|junit|tokio|serde|webpack|babel|eslint|c\+\+` +
		`|py)\s*(?:>=|version|v|=)?\s*$`)
)

// mayGo says that a line may announce a removal: an expression is tried on those
// alone.
func mayGo(line string) bool {
	return strings.ContainsAny(line, "0123456789") && (strings.Contains(line, "emov") || strings.Contains(line, "drop") ||
		strings.Contains(line, "Drop") || strings.Contains(line, "elete") || strings.Contains(line, "going away"))
}

// overdueVersion are notes that something goes in a version that has come.
func overdueVersion(s *sight) []finding {
	m := s.product()
	if m == nil {
		return nil
	}
	have, ok := project.ParseVersion(m.Version.Text)
	if !ok || have.Compare(project.Version{}) == 0 {
		return nil
	}
	var g grouped
	said := ""
	for _, f := range s.own(project.Source, project.Test) {
		low := strings.Contains(f.Text, "remov") || strings.Contains(f.Text, "Remov") || strings.Contains(f.Text,
			"drop") || strings.Contains(f.Text, "delete") || strings.Contains(f.Text, "going away")
		if !low {
			continue
		}
		for n, line := range project.Lines(f.Text) {
			if len(line) > 400 || !mayGo(line) {
				continue
			}
			x := willGo.FindStringSubmatchIndex(line)
			if x == nil {
				continue
			}
			v, ok := project.ParseVersion(strings.TrimSuffix(line[x[2]:x[3]], ".x"))
			if !ok || v.Compare(have) > 0 || have.Pre && v.Compare(have) == 0 || foreignVer.MatchString(line[:x[2]]) ||
				foreignVer.MatchString(strings.TrimSpace(line[x[0]:x[2]])) || v.Parts[0] < have.Parts[0]-3 {
				continue
			}
			if g.n == 0 {
				said = line[x[2]:x[3]]
			}
			g.add(f, n)
		}
	}
	if g.n == 0 {
		return nil
	}
	f := g.said("overdue removals", "What was to go in "+said+" is still there %s; the project is at "+
		""+m.Version.Text+", "+at(m.File, m.Version.Line).String()+".")
	f.cites = append(f.cites, at(m.File, m.Version.Line))
	return []finding{f.then("Take it out, or name the version that is meant now at "+g.where[0].place()+".", costHour,
		"users who planned for what was announced").
		weighs(costly+12, "todo deprecation removal version process")}
}

// statedVersions: the manifest says that it supports what it refuses.
func statedVersions(s *sight) []finding {
	for _, m := range s.Manifests() {
		low, ok := floor(m)
		if !ok || m.Tool != "pip" || m.Needs.Text == "" || !citable(m.File.Path) {
			continue
		}
		for _, v := range m.Speaks {
			have, ok := project.ParseVersion(v.Text)
			if ok && have.Compare(low) < 0 && !low.Within(have) {
				return []finding{found("the Python version",
					"The manifest says in its classifiers that it supports Python %s, %s, and refuses it: %s.", v.Text, at(m.File,
						v.Line), at(m.File, m.Needs.Line)).
					then("Drop the classifier, or lower what is required.", costMinutes,
						"people who choose by the classifiers and cannot install").
					weighs(contradicted, "version python packaging")}
			}
		}
	}
	return nil
}

// longSinceRelease: entries wait under "unreleased" or the log ends long ago.
func longSinceRelease(s *sight) []finding {
	f, log := s.releases()
	if f == nil || len(s.past) < 20 || !citable(f.Path) {
		return nil
	}
	newest := log[0]
	for _, r := range log {
		if r.v.Compare(newest.v) > 0 {
			newest = r
		}
	}
	c := at(f, newest.n)
	line := strings.Split(f.Text, "\n")[newest.n-1]
	day, text, ok := dateIn(line)
	if !ok || c.quote == "" {
		return nil
	}
	since := 0
	for _, x := range s.past {
		if x.date.After(day) {
			since++
		}
	}
	if since < 30 || s.past[0].date.Sub(day) < 180*24*time.Hour {
		return nil
	}
	all := strconv.Itoa(since)
	if since == len(s.past) {
		all = "at least " + all
	}
	return []finding{found("the next release", "The newest release in the log of changes is of %s, %s; %s commits have "+
		"come since, the latest %s.", text, c, all, s.past[0].cite()).
		then("Decide what keeps the next release, and name its day.", costHour, "users who wait for what is long done").
		weighs(worthKnowing+8, "release changelog process progress")}
}

var openBox = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s+\[ \]\s+\S`)

// overdueTask are open tasks whose day has passed.
func overdueTask(s *sight) []finding {
	var g grouped
	when := ""
	for _, f := range s.documents() {
		for _, l := range proseOf(f) {
			open := openBox.MatchString(l.text) || openRow(l.text)
			if !open {
				continue
			}
			day, text, ok := dateIn(l.text)
			if !ok || !day.Before(s.today) {
				continue
			}
			if g.n == 0 {
				when = text
			}
			g.add(f, l.n)
			if len(g.where) < maxPlaces && g.where[len(g.where)-1].line != l.n {
				g.where = append(g.where, at(f, l.n))
			}
		}
	}
	for _, f := range s.own(project.Data) {
		for n, row := range rowsOf(f) {
			if n > 0 && slices.ContainsFunc(row.cells, isOpenWord) {
				if day, text, ok := dateIn(strings.Join(row.cells, " ; ")); ok && day.Before(s.today) {
					if g.n == 0 {
						when = text
					}
					g.add(f, row.n)
				}
			}
		}
	}
	if g.n == 0 {
		return nil
	}
	text := "A task is open though its day, " + when + ", has passed: %s."
	args := []any{g.where}
	if g.n > 1 {
		text, args = "%d tasks are open though their days have passed, among them %s.", []any{g.n, g.where}
	}
	return []finding{found("overdue tasks", text, args...).
		then("Tick "+g.where[0].place()+" off, give it a new day, or strike it out.", costMinutes,
			"a plan that nobody believes any more").
		weighs(costly+16, "tasks plan deadline date progress todo")}
}

var openWords = []string{"open", "todo", "to do", "pending", "in progress", "not started", "outstanding", "waiting",
	"unpaid", "due", "no"}

func isOpenWord(cell string) bool {
	return slices.Contains(openWords, strings.ToLower(strings.Trim(strings.TrimSpace(cell), "*_`☐ ")))
}

// openRow is a row of a table with a state that is not done.
func openRow(line string) bool {
	if !strings.HasPrefix(strings.TrimSpace(line), "|") {
		return false
	}
	cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	return len(cells) > 2 && slices.ContainsFunc(cells, isOpenWord)
}

var (
	weekdays = strings.Fields("sunday monday tuesday wednesday thursday friday saturday")
	dayDate  = regexp.MustCompile(`(?i)\b(Sun|Mon|Tues?|Wed(?:nes)?|Thur?s?|Fri` +
		`|Sat(?:ur)?)(?:day)?\.?,?\s+(?:the\s+)?(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?(January|February|March|April|May` +
		`|June` +
		`|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.?,?\s+(20\d\d)\b`)
	dayISO = regexp.MustCompile(`(?i)\b(Sun|Mon|Tues?|Wed(?:nes)?|Thur?s?|Fri` +
		`|Sat(?:ur)?)(?:day)?\.?,?\s+\(?(20\d\d)-(\d\d)-(\d\d)\b`)
)

// wrongDay are dates that do not fall on the day of the week they bear.
func wrongDay(s *sight) []finding {
	for _, f := range append(s.documents(), s.own(project.Data)...) {
		for n, line := range project.Lines(f.Text) {
			var y, mo, d int
			name := ""
			if m := dayDate.FindStringSubmatch(line); m != nil {
				name, d, y = m[1], atoi(m[2]), atoi(m[4])
				mo = slices.IndexFunc(months, func(x string) bool { return strings.HasPrefix(x, strings.ToLower(m[3])[:3]) }) + 1
			} else if m := dayISO.FindStringSubmatch(line); m != nil {
				name, y, mo, d = m[1], atoi(m[2]), atoi(m[3]), atoi(m[4])
			} else {
				continue
			}
			day := time.Date(y, time.Month(mo), d, 0, 0, 0, 0, time.UTC)
			if mo < 1 || mo > 12 || day.Day() != d || strings.HasPrefix(weekdays[day.Weekday()], strings.ToLower(name)[:3]) {
				continue
			}
			return []finding{found(day.Format("2 January 2006"), "%s: the %s is a %s.", at(f, n),
				day.Format("2 January 2006"), day.Weekday()).
				then("Find out which of the two was meant, and correct "+at(f, n).place()+".", costMinutes,
					"people who come on another day").
				weighs(contradicted+4, "date plan day calendar")}
		}
	}
	return nil
}

// limitsSaid is the sentence about what was not looked at, "" for nothing.
func (s *sight) limitsSaid() string {
	l := s.Looked
	switch {
	case l.Cut:
		return fmt.Sprintf("I stopped at %d files and have read %d of them; there are more, and of what I do not mention I "+
			"say nothing.", l.Files, l.Read)
	case !l.Whole():
		return fmt.Sprintf("I have read %d of the %d files that are worth reading here (%d in all); of the rest I say "+
			"nothing.", l.Read, l.Want, l.Files)
	}
	return ""
}
