package offline

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"conclave/internal/pattern"
	"conclave/internal/project"
)

// givenUp are packages whose authors say that they no longer work on them, with
// what takes their place. Only what is known for certain stands here.
var givenUp = map[string]string{
	"go github.com/golang/protobuf":  "its authors point to google.golang.org/protobuf",
	"go github.com/pkg/errors":       "its repository is archived; the standard library wraps errors",
	"go github.com/dgrijalva/jwt-go": "it is no longer maintained; github.com/golang-jwt/jwt continues it",
	"go github.com/satori/go.uuid": "it is no longer maintained; github.com/google/uuid and github.com/gofrs/uuid " +
		"are",
	"go github.com/golang/mock":            "its repository is archived; go.uber.org/mock continues it",
	"go github.com/mitchellh/go-homedir":   "its repository is archived",
	"go github.com/mitchellh/mapstructure": "its repository is archived; github.com/go-viper/mapstructure continues it",
	"npm request":                          "its authors have deprecated it",
	"npm request-promise":                  "its authors have deprecated it, with request",
	"npm tslint":                           "its authors have deprecated it in favour of typescript-eslint",
	"npm node-sass":                        "its authors have deprecated it in favour of sass",
	"npm babel-eslint":                     "its authors point to @babel/eslint-parser",
	"npm istanbul":                         "its authors have deprecated it; nyc and c8 continue its work",
	"npm gulp-util":                        "its authors have deprecated it",
	"npm phantomjs-prebuilt":               "PhantomJS is no longer developed",
	"npm standard-version":                 "its authors have deprecated it",
	"npm rollup-plugin-terser":             "its authors point to @rollup/plugin-terser",
	"pip nose":                             "it is no longer maintained and does not run on Python 3.10 and later",
	"pip pycrypto":                         "it is no longer maintained; pycryptodome continues it",
	"pip pytest-runner":                    "its authors have deprecated it",
	"pip toml":                             "it is no longer maintained; Python 3.11 has tomllib",
	"cargo atty": "it is no longer maintained (RUSTSEC-2024-0375); std::io::IsTerminal does the " +
		"same",
	"cargo ansi_term":        "it is no longer maintained (RUSTSEC-2021-0139)",
	"cargo failure":          "it is no longer maintained (RUSTSEC-2020-0036)",
	"cargo rustc-serialize":  "its authors point to serde",
	"cargo tempdir":          "its authors point to tempfile",
	"cargo serde_yaml":       "its author has archived it",
	"cargo yaml-rust":        "it is no longer maintained (RUSTSEC-2024-0320)",
	"cargo proc-macro-error": "it is no longer maintained (RUSTSEC-2024-0370)",
	"cargo dotenv":           "it is no longer maintained (RUSTSEC-2021-0141)",
	"cargo term_size":        "it is no longer maintained (RUSTSEC-2020-0163)",
	"maven log4j:log4j":      "Log4j 1 has been at its end since 2015",
	"gradle log4j:log4j":     "Log4j 1 has been at its end since 2015",
	"maven commons-httpclient:commons-httpclient": "its authors point to Apache HttpComponents",
}

// retiredDependency: the project asks for a package that its authors have given
// up.
func retiredDependency(s *sight) []finding {
	var out []finding
	seen := map[string]bool{}
	for _, m := range s.Manifests() {
		if !citable(m.File.Path) {
			continue
		}
		for _, d := range m.Deps {
			name := d.Name
			if m.Tool == "pip" {
				name = project.Normal(name)
			}
			why := givenUp[m.Tool+" "+name]
			if why == "" || seen[name] || d.Scope == project.Indirect || d.Scope == project.Managed {
				continue
			}
			seen[name] = true
			if name == homedir && s.onlyHomeDir() {
				why += "; os.UserHomeDir takes the place of its Dir, and nothing else of it is used"
			}
			out = append(out, found(d.Name, "The project asks for it at %s, and %s.", at(m.File, d.Line), why).
				then("See what of it is used, and move that to what takes its place.", costHalfDay,
					"the first flaw in it that nobody mends any more").
				weighs(costly+3, "dependencies maintained security"))
		}
	}
	if len(out) > 1 { // one finding; the others are named in it
		for _, f := range out[1:min(len(out), maxPlaces)] {
			out[0].text += " Likewise `" + printable(f.subject) + "`: " + strings.TrimPrefix(f.text,
				"The project asks for it at ")
			out[0].cites = append(out[0].cites, f.cites...)
		}
	}
	return out[:min(len(out), 1)]
}

const homedir = "github.com/mitchellh/go-homedir"

var (
	importsHomedir = pattern.New(`(?m)^\s*(?:import\s+)?(?:homedir\s+)?"` + homedir + `"`)
	ofHomedir      = pattern.New(`\bhomedir\.([A-Z]\w*)`)
)

// onlyHomeDir says that of the package that finds home directories only Dir is
// used: for the rest of it the standard library has nothing.
func (s *sight) onlyHomeDir() bool {
	uses := 0
	for _, f := range s.Files {
		if f.Lang != "Go" || f.Kind == project.Foreign {
			continue
		}
		if !f.Read {
			return false
		}
		if !strings.Contains(f.Text, `"`+homedir+`"`) {
			continue
		}
		if !importsHomedir.MatchString(f.Text) {
			return false // under another name
		}
		for _, m := range ofHomedir.FindAllStringSubmatch(f.Text, -1) {
			if uses++; m[1] != "Dir" {
				return false
			}
		}
	}
	return uses > 0 && s.Looked.Whole()
}

var jcenter = pattern.New(`^\s*jcenter\(\)`)

// closedStore: a build that looks for packages in JCenter, which is closed.
func closedStore(s *sight) []finding {
	for _, f := range s.own(project.Config) {
		if !strings.HasSuffix(f.Base, ".gradle") && !strings.HasSuffix(f.Base, ".gradle.kts") {
			continue
		}
		for n, line := range project.Lines(f.Text) {
			if jcenter.MatchString(line) {
				return []finding{found("`jcenter()`", "The build looks for packages in JCenter, %s, which its operator has "+
					"closed.", at(f, n)).
					then("Name `mavenCentral()` there, and see whether everything is found.", costHour,
						"a build that stops on a machine without a cache").
					weighs(costly+9, "dependencies build gradle")}
			}
		}
	}
	return nil
}

var (
	pseudo = pattern.New(`^v\d+\.\d+\.\d+-(?:[\w.]*\.)?(20\d\d)(\d\d)(\d\d)\d{6}-[0-9a-f]{12}$`)
)

// oldCommit is a module that is required as a commit of years ago, of which
// there was no release.
func oldCommit(s *sight) []finding {
	var oldest project.Dep
	var of *project.Manifest
	var day time.Time
	for _, m := range s.Manifests() {
		if m.Tool != "go" || !citable(m.File.Path) {
			continue
		}
		for _, d := range m.Deps {
			x := pseudo.FindStringSubmatch(d.Want)
			if x == nil || d.Scope != project.Main || d.Elsewhere || !strings.HasPrefix(d.Name, "golang.org/x/") {
				continue // whether it has releases cannot be seen
			}
			when := time.Date(atoi(x[1]), time.Month(atoi(x[2])), atoi(x[3]), 0, 0, 0, 0, time.UTC)
			if of == nil || when.Before(day) {
				oldest, of, day = d, m, when
			}
		}
	}
	if of == nil || day.Year() > 2022 {
		return nil
	}
	return []finding{found(oldest.Name, "It is required as a commit of %s and not as a release: %s.",
		day.Format("2 January 2006"), at(of.File, oldest.Line)).
		then("Run `go get "+oldest.Name+"@latest`: it has had releases since 2022.", costHour,
			"the flaws that were mended in it since").
		weighs(worthKnowing+3, "dependencies versions")}
}

// replaced: a module with a program of its own that replaces others cannot be
// installed by its version.
func replaced(s *sight) []finding {
	for _, m := range s.Manifests() {
		if m.Tool != "go" || m.File.Dir != "." {
			continue
		}
		h := lineWhere(m.File.Text, func(l string) bool { return strings.HasPrefix(l, "replace ") })
		if h.line == 0 {
			continue
		}
		for _, f := range s.own(project.Source) {
			if f.Lang == "Go" && (f.Dir == "." || strings.HasPrefix(f.Dir, "cmd/")) && strings.Contains("\n"+f.Text,
				"\nfunc main() {") {
				n := lineWhere(f.Text, func(l string) bool { return strings.HasPrefix(l, "func main() {") })
				return []finding{found("`go install`", "The module replaces another one, %s: `go install` refuses the program at "+
					"%s by its version for that reason.", at(m.File, h.line), at(f, n.line)).
					then("Drop the replacement once what it mends is released, and say until then how to install.", costHour,
						"everybody's first command").
					weighs(worthKnowing+6, "dependencies install go")}
			}
		}
	}
	return nil
}

var retiredCalls = map[string]*pattern.Pattern{
	"Python": pattern.New(`^(?:from|import)\s+(?:distutils|imp|asyncore|asynchat|smtpd|cgi|cgitb|telnetlib` +
		`|crypt|pipes|nntplib)\b`),
	"JavaScript": pattern.New(`\bnew Buffer\(|\brequire\(['"]domain['"]\)`),
	"TypeScript": pattern.New(`\bnew Buffer\(`),
	"Java":       pattern.New(`^\s*(?:protected|public) void finalize\(\)|\bnew (?:Integer|Long|Double|Boolean)\(`),
	"Rust":       pattern.New(`\bmem::uninitialized\(\)|\btry!\(`),
}

// retiredNames stand in every file that the rule is about.
var retiredNames = map[string][]string{
	"Go": {"io/ioutil", ".Title(", ".Seed("},
	"Python": {
		"distutils", "import imp", "from imp ", "asyncore", "asynchat", "smtpd", "cgi", "telnetlib", "import crypt",
		"import pipes", "nntplib",
	},
	"JavaScript": {"new Buffer(", "domain"}, "TypeScript": {"new Buffer("}, "Rust": {"uninitialized", "try!("},
	"Java": {"finalize()", "new Integer(", "new Long(", "new Double(", "new Boolean("},
}

var retiredWords = map[string]string{
	"Go":         "Go marks this as deprecated",
	"Python":     "Python 3.13 no longer has this module",
	"JavaScript": "Node marks this as deprecated",
	"TypeScript": "Node marks this as deprecated",
	"Java":       "Java marks this as deprecated",
	"Rust":       "Rust marks this as deprecated",
}

// retiredAPI: sources use what their own language has given up.
func retiredAPI(s *sight) []finding {
	for _, lang := range fiveLanguages {
		var g grouped
		re := retiredCalls[lang]
		for _, f := range s.own(project.Source) {
			if f.Lang != lang || !slices.ContainsFunc(retiredNames[lang],
				func(w string) bool { return strings.Contains(f.Text, w) }) ||
				strings.Contains(f.Text, "Buffer.from") || // what takes its place is known there
				lang == "Python" && (f.Base == "setup.py" || strings.Contains(f.Text, "setuptools")) { // which brings distutils
				continue
			}
			if lang == "Go" {
				for _, n := range s.retiredGo(f) {
					g.add(f, n)
				}
				continue
			}
			for n, line := range project.Lines(f.Text) {
				if t := strings.TrimSpace(line); !isComment(t) && !strings.Contains(t, "`") && re.MatchString(line) {
					g.add(f, n)
				}
			}
		}
		if g.n == 0 {
			continue
		}
		return []finding{g.said("what "+lang+" has given up", retiredWords[lang]+": it is used %s.").
			then("Move the one at "+g.where[0].place()+" to what takes its place.", costHour,
				"the update of the language on the day when it has to be made").
			weighs(worthKnowing+5+map[string]int{"Python": 25}[lang], "deprecated language update")}
	}
	return nil
}

// goSince is the minor version of Go that has what takes a name's place.
var goSince = map[string]int{"io/ioutil": 16, "strings.Title": 18, "math/rand.Seed": 20}

// retiredGo lists the lines of a Go source that use what Go has given up, if the
// lowest Go that its module allows, and its build constraint, have the other.
func (s *sight) retiredGo(f *project.File) []int {
	fset := token.NewFileSet()
	src, err := parser.ParseFile(fset, "", f.Text, parser.ParseComments|parser.SkipObjectResolution)
	minor := s.goMinor(f)
	if err != nil || minor < 0 || !builtWith(src, minor) {
		return nil
	}
	var out []int
	note := func(name string, pos token.Pos) {
		if since := goSince[name]; since > 0 && minor >= since {
			out = append(out, fset.Position(pos).Line)
		}
	}
	from := map[string]string{}
	for _, i := range src.Imports {
		name, _ := strconv.Unquote(i.Path.Value)
		note(name, i.Path.Pos())
		as := path.Base(name)
		if i.Name != nil {
			as = i.Name.Name
		}
		from[as] = name
	}
	ast.Inspect(src, func(n ast.Node) bool {
		if x, ok := n.(*ast.SelectorExpr); ok {
			if of, ok := x.X.(*ast.Ident); ok {
				note(from[of.Name]+"."+x.Sel.Name, x.Pos())
			}
		}
		return true
	})
	return out
}

const newestGo = 1 << 10 // for what no module bounds

// goMinor is the minor version of the lowest Go that a source has to build with,
// -1 where its module does not say.
func (s *sight) goMinor(f *project.File) int {
	for dir := f.Dir; ; dir = path.Dir(dir) {
		if mod := s.File(path.Join(dir, "go.mod")); mod != nil {
			m := goDirective.FindStringSubmatch(mod.Text)
			if m == nil {
				return -1
			}
			return atoi(m[1])
		}
		if dir == "." || dir == "/" {
			return newestGo
		}
	}
}

var goDirective = pattern.New(`(?m)^go[ \t]+1\.(\d+)`)

// builtWith says that a source's build constraint may let a version of Go in.
func builtWith(src *ast.File, minor int) bool {
	for _, group := range src.Comments {
		for _, c := range group.List {
			if c.Pos() > src.Package || !constraint.IsGoBuild(c.Text) && !constraint.IsPlusBuild(c.Text) {
				continue
			}
			expr, err := constraint.Parse(c.Text)
			if err != nil {
				return false
			}
			with := func(other bool) bool {
				return expr.Eval(func(tag string) bool {
					if v, ok := strings.CutPrefix(tag, "go1."); ok {
						return atoi(v) <= minor
					}
					return other
				})
			}
			if !with(true) && !with(false) {
				return false
			}
		}
	}
	return true
}

var branchAction = pattern.New(`uses:\s*([\w.-]+/[\w./-]+@(?:master|main|develop|HEAD))\s*(?:#.*)?$`)

// onlyBranch are steps that their authors offer as a branch and not otherwise.
var onlyBranch = pattern.New(`^(?:dtolnay/rust-toolchain|google/oss-fuzz)[/@]`)

// ofOurs says that a step may come from whoever owns this project: a manifest or
// the README names a repository of theirs.
func (s *sight) ofOurs(step string) bool {
	owner, _, _ := strings.Cut(strings.ToLower(step), "/")
	names := func(f *project.File) bool {
		low := strings.ToLower(f.Text)
		return strings.Contains(low, "github.com/"+owner+"/") || strings.Contains(low, "github.com:"+owner+"/")
	}
	if f := s.readme(); f != nil && names(f) {
		return true
	}
	return slices.ContainsFunc(s.Manifests(), func(m *project.Manifest) bool { return names(m.File) })
}

// branchActions are steps of somebody else's that are taken from a branch:
// whatever it holds that day runs.
func branchActions(s *sight) []finding {
	var g grouped
	name := ""
	for _, f := range s.pipelines() {
		for n, line := range project.Lines(f.Text) {
			if m := branchAction.FindStringSubmatch(line); m != nil && !strings.HasPrefix(strings.TrimSpace(line), "#") &&
				!onlyBranch.MatchString(m[1]) && !s.ofOurs(m[1]) {
				if name == "" {
					name = m[1]
				}
				g.add(f, n)
			}
		}
	}
	if g.n == 0 {
		return nil
	}
	return []finding{g.said("`"+name+"`", "The pipeline runs whatever somebody else's branch holds that day, %s.").
		then("Name a release or a commit at "+g.where[0].place()+".", costMinutes,
			"the day on which that branch breaks, or is taken over").
		weighs(costly+1, "ci security pipeline dependencies")}
}

// lowestUnchecked: no pipeline checks the lowest version of the language that
// the manifest promises to work with.
func lowestUnchecked(s *sight) []finding {
	ci := s.pipelines()
	if len(ci) == 0 {
		return nil
	}
	for _, mc := range machines {
		m := s.needs(mc.tool)
		if m == nil || !mc.files(ci[0]) || mc.tool == "maven" {
			continue
		}
		low, ok := floor(m)
		if !ok || len(low.Parts) < 1 || mc.tool != "npm" && len(low.Parts) < 2 {
			continue
		}
		short := number(low.Parts[0])
		if mc.tool != "npm" {
			short += "." + number(low.Parts[1])
		}
		if s.speaksOf(short) {
			continue
		}
		var first cite
		said := 0
		for _, f := range ci {
			lines := strings.Split(f.Text, "\n")
			for i, line := range lines {
				x := mc.re.FindStringSubmatch(strings.TrimRight(line, "\r"))
				if x == nil {
					continue
				}
				for _, item := range versionsOf(lines, i, x[1]) {
					if said++; said == 1 {
						first = at(f, item.n)
					}
					if mc.tool != "npm" && !strings.Contains(item.v, ".") {
						return nil // a part of a version: what is made of it cannot be seen
					}
				}
			}
		}
		if said == 0 {
			continue
		}
		return []finding{found("the "+mc.lang+" version",
			"The manifest promises %s %s, %s, and no pipeline here names that version; the first that one names is at %s.",
			mc.lang, short, at(m.File, m.Needs.Line), first).
			then("Add "+short+" to what is checked, or raise what is promised.", costMinutes,
				"the report of whoever runs the lowest version").
			weighs(costly+5, "ci version "+strings.ToLower(mc.lang))}
	}
	return nil
}

// speaksOf says that some file that drives checks holds the version, or takes it
// from the manifest.
func (s *sight) speaksOf(version string) bool {
	re := regexp.MustCompile(`(^|[^\d.])` + regexp.QuoteMeta(version) + `($|[^\d])|py` + strings.ReplaceAll(version,
		".", "") + `\b|version-file|msrv|rust-version`)
	return slices.ContainsFunc(s.Files, func(f *project.File) bool {
		if !f.Read || f.Kind != project.Config && f.Base != "noxfile.py" {
			return false
		}
		checks := isPipeline(f) || f.Base == "tox.ini" || f.Base == "noxfile.py" || f.Base == "Makefile" ||
			f.Base == ".tool-versions" ||
			strings.HasPrefix(f.Path, ".github/") || strings.HasPrefix(f.Path, "ci/")
		return checks && re.MatchString(f.Text)
	})
}

var funcHead = map[string]*pattern.Pattern{
	"Go":         pattern.New(`^func .*\{\s*$`),
	"Rust":       pattern.New(`^\s*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+|unsafe\s+|const\s+)*fn\s+(\w+).*\{\s*$`),
	"Java":       pattern.New(`^\s+(?:public|private|protected)[\w<>\[\], ?]*\s+(\w+)\(.*\{\s*$`),
	"TypeScript": pattern.New(`^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*(\w+).*\{\s*$`),
	"JavaScript": pattern.New(`^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*(\w+).*\{\s*$`),
}

// stretch is a function from its first line to its last.
type stretch struct {
	f        *project.File
	from, to int
}

// functions finds those whose end stands as deep as their beginning, as every
// formatter writes them; and those of Python by their depth.
func functions(f *project.File, longest *stretch) {
	lines := strings.Split(f.Text, "\n")
	head := funcHead[f.Lang]
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], "\r")
		if f.Lang == "Python" {
			if t := strings.TrimLeft(line, " "); strings.HasPrefix(t, "def ") || strings.HasPrefix(t, "async def ") {
				longest.longer(f, lines, i, pyEnd(lines, i))
			}
			continue
		}
		if head == nil || !strings.HasSuffix(line, "{") || !head.MatchString(line) {
			continue
		}
		end := line[:len(line)-len(strings.TrimLeft(line, " \t"))] + "}"
		for j := i + 1; j < len(lines); j++ {
			if strings.TrimRight(lines[j], "\r") == end {
				longest.longer(f, lines, i, j)
				break
			}
		}
	}
}

func pyEnd(lines []string, def int) int {
	indent := len(lines[def]) - len(strings.TrimLeft(lines[def], " "))
	end, quoted, open := def, false, strings.Count(lines[def], "(")-strings.Count(lines[def], ")")
	for i := def + 1; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], "\r")
		t := strings.TrimLeft(line, " ")
		was := quoted
		if strings.Count(line, `"""`)%2 == 1 || strings.Count(line, "'''")%2 == 1 {
			quoted = !quoted
		}
		if t == "" || was || open > 0 {
			open += strings.Count(line, "(") - strings.Count(line, ")")
			continue
		}
		if len(line)-len(t) <= indent && !strings.HasPrefix(t, "#") {
			break
		}
		end = i
	}
	return end
}

// longFunction is a function of the project's own sources that is very long and
// decides much: a table of values is long without harm.
func longFunction(s *sight) []finding {
	var l stretch
	busy := s.past.busiest(10)
	for _, f := range s.own(project.Source) {
		if inFive(f.Lang) && f.Lines > 150 && !strings.Contains(f.Base, ".d.") && (len(busy) == 0 || busy[f.Path]) {
			functions(f, &l)
		}
	}
	if l.f == nil {
		return nil
	}
	head := at(l.f, l.from)
	if head.quote == "" {
		return nil
	}
	often := ""
	if len(busy) > 0 {
		often = " Its file is among the ten that change most."
	}
	return []finding{found("`"+l.f.Path+"`", "A function goes on for %s: from %s to %s.%s", count(l.to-l.from+1, "line"),
		head, cite{path: l.f.Path, line: l.to}, often).
		then("Find the first thing it does that has a name of its own, and take it out.", costHalfDay,
			"the reading of it by whoever has to change it next").
		weighs(worthKnowing-2, "complexity function risk structure")}
}

// longer keeps the longest function that decides enough and is not a frame for
// others.
func (l *stretch) longer(f *project.File, lines []string, from, to int) {
	if to-from < 300 || to-from <= l.to-l.from {
		return
	}
	decisions, inner := 0, 0
	for _, line := range lines[from+1 : to+1] {
		if decision.MatchString(line) {
			decisions++
		} else if innerHead.MatchString(line) {
			inner++
		}
	}
	if decisions*12 >= to-from && inner < 3 {
		*l = stretch{f, from + 1, to + 1}
	}
}

// innerHead begins a function within a function.
var innerHead = pattern.New(`^\s+(?:(?:async )?def \w|(?:export )?(?:async )?function\b|(?:pub )?fn \w` +
	`|(?:async )?\w+\([\w\s,:{}=.]*\)\s*\{$|.*=> \{$|.*\bfunc\(.*\{$)`)

var decision = pattern.New(`^\s*(?:\}\s*)?(?:if|for|while|switch|match|elif|else|case|try|except|catch)\b`)
