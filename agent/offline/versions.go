package offline

import (
	"regexp"
	"slices"
	"strings"

	"conclave/internal/pattern"
	"conclave/internal/project"
)

var (
	logHeading = pattern.New(`^(?:#{1,4}\s+|=+\s+|\*{2,3}\s*)?(?:\[|\x60)?(?:(?i:version|release` +
		`|v)\s*\.?\s*)?(\d+\.\d+(?:\.\d+)*)((?:-?(?:rc|alpha|beta|a|b|dev|pre)[.\d]*)?)(?:\]|\x60)?(?:[\s:(*–—-].*|$)`)
	logBase = pattern.New(`(?i)^(changelog|changes|history|news|releases?|release[-_]notes)(\.(md|rst|txt` +
		`|markdown|adoc))?$`)
	ruleLine = pattern.New(`^([=~^"'+*#-])[=~^"'+*#-]{2,}\s*$`)
)

// plainRelease is a heading without marks, as old logs have them.
var plainRelease = pattern.New(`^(?:\*{3} )?(?:Release|Version) \d+\.\d+[\d.]*(?: [(\[].*)?\s*$`)

// release is a heading of the log of changes.
type release struct {
	v    project.Version
	text string
	n    int
}

// releases reads the log of changes that lies highest.
func (s *sight) releases() (*project.File, []release) {
	for _, f := range s.Of(project.Doc) {
		if f.Dir != "." && f.Dir != "docs" || !f.Read || !logBase.MatchString(f.Base) {
			continue
		}
		var out []release
		lines := strings.Split(f.Text, "\n")
		for i, line := range lines {
			m := logHeading.FindStringSubmatch(strings.TrimRight(line, "\r"))
			if m == nil {
				continue
			}
			heading := plainRelease.MatchString(line) || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "=") ||
				i+1 < len(lines) &&
					ruleLine.MatchString(strings.TrimSpace(lines[i+1])) || strings.HasPrefix(line, "**")
			if v, ok := project.ParseVersion(m[1] + m[2]); ok && heading {
				out = append(out, release{v, m[1] + m[2], i + 1})
			}
		}
		if len(out) > 0 {
			return f, out
		}
	}
	return nil, nil
}

// product is the manifest that says which version the whole is.
func (s *sight) product() *project.Manifest {
	for _, m := range s.Manifests() {
		if m.File.Dir == "." && m.Version.Text != "" && !strings.Contains(m.Version.Text, "$") && citable(m.File.Path) {
			return m
		}
	}
	for _, f := range s.Files {
		if f.Read && citable(f.Path) && strings.Count(f.Path, "/") <= 2 && f.Kind != project.Test &&
			f.Kind != project.Fixture {
			if v := versionIn(f); v.Line > 0 {
				return &project.Manifest{File: f, Version: v}
			}
		}
	}
	return nil
}

var (
	pyVersion = pattern.New(`^__version__\s*=\s*["'](\d+(?:\.\d+)+[\w.]*)["']`)
	goVersion = pattern.New(`^\s*(?:var\s+|const\s+)?[vV]ersion\s*(?:string)?\s*=\s*"v?(\d+\.\d+(?:\.\d+)?)"`)
	isVersion = pattern.New(`^v?(\d+\.\d+(?:\.\d+)?)\s*$`)
)

// versionIn reads the version that a source or a file VERSION gives.
func versionIn(f *project.File) project.Value {
	var re *pattern.Pattern
	switch {
	case f.Base == "VERSION" && f.Dir == ".", f.Base == "VERSION.txt" && f.Dir == ".":
		re = isVersion
	case f.Lang == "Python" && (f.Base == "__init__.py" || f.Base == "__pkginfo__.py" || f.Base == "_version.py" ||
		f.Base == "__about__.py" || f.Base == "version.py"):
		re = pyVersion
	case f.Base == "main.go" && f.Dir == ".", f.Base == "version.go":
		re = goVersion
	default:
		return project.Value{}
	}
	for n, line := range project.Lines(f.Text) {
		if m := re.FindStringSubmatch(line); m != nil {
			return project.Value{Text: m[1], Line: n}
		}
	}
	return project.Value{}
}

// passesOverPatches says that a log has an entry for the release that a version
// mends, and has never had one for such a version.
func passesOverPatches(log []release, v project.Version) bool {
	mends := func(v project.Version) bool { return len(v.Parts) > 2 && v.Parts[2] > 0 }
	return mends(v) && len(log) > 2 && !slices.ContainsFunc(log, func(r release) bool { return mends(r.v) }) &&
		slices.ContainsFunc(log, func(r release) bool {
			return len(r.v.Parts) > 1 && slices.Equal(r.v.Parts[:2], v.Parts[:2])
		})
}

// missingEntry: the manifest's version has no entry in the log of changes.
func missingEntry(s *sight) []finding {
	m := s.product()
	f, log := s.releases()
	if m == nil || len(log) < 2 {
		return nil
	}
	v, ok := project.ParseVersion(m.Version.Text)
	if !ok || v.Pre || v.Compare(project.Version{}) == 0 {
		return nil
	}
	if strings.Contains(f.Text, m.Version.Text) || lineWhere(f.Text, unreleased.MatchString).line > 0 {
		return nil // under a heading of another form, perhaps, or under construction
	}
	if passesOverPatches(log, v) {
		return nil
	}
	newest := log[0]
	for _, r := range log {
		if r.v.Compare(v) == 0 || r.v.Within(v) || v.Within(r.v) && len(r.v.Parts) == 2 && v.Parts[len(v.Parts)-1] == 0 {
			return nil
		}
		if r.v.Compare(newest.v) > 0 {
			newest = r
		}
	}
	if len(newest.v.Parts) != len(v.Parts) || newest.v.Parts[0] != v.Parts[0] && newest.v.Compare(v) < 0 &&
		newest.v.Parts[0]+1 != v.Parts[0] {
		return nil
	}
	return []finding{found("the version", "The project is at %s by %s, and the newest entry of the log of changes is for "+
		"%s, %s; there is none for %s.",
		m.Version.Text, at(m.File, m.Version.Line), newest.text, at(f, newest.n), m.Version.Text).
		then("Write the entry for "+m.Version.Text+", or correct the version at "+at(m.File, m.Version.Line).place()+".",
			costMinutes,
			"the question which release somebody runs").
		weighs(contradicted, "version release changelog")}
}

// ownVersion: the README tells its readers to ask for a version of this package
// that the manifest's own is not.
func ownVersion(s *sight) []finding {
	m, f := s.product(), s.readme()
	if m == nil || f == nil || m.Name.Text == "" {
		return nil
	}
	v, ok := project.ParseVersion(m.Version.Text)
	if !ok {
		return nil
	}
	row := regexp.MustCompile(`^\s*"?` + regexp.QuoteMeta(m.Name.Text) +
		`"?\s*(?:=|:)\s*(?:\{\s*version\s*=\s*)?["'][\^~=>]*(\d+(?:\.\d+)*)["']`)
	switch m.Tool {
	case "npm":
		if plain := regexp.MustCompile(`(?:npm|yarn|pnpm)\s+(?:install|i|add)\s+(?:-\S+\s+)*` +
			regexp.QuoteMeta(m.Name.Text) + `(?:\s|$)`); plain.MatchString(f.Text) {
			return nil // the newest is what readers are told to ask for; another is for whoever needs it
		}
		row = regexp.MustCompile(`(?:npm|yarn|pnpm)\s+(?:install|i|add)\s+(?:-\S+\s+)*` + regexp.QuoteMeta(m.Name.Text) +
			`@\^?(\d+(?:\.\d+)*)`)
	case "maven":
		row = regexp.MustCompile(`["'][\w.-]+:` + regexp.QuoteMeta(m.Name.Text) + `:(\d+(?:\.\d+)*)["']`)
	case "pip":
		row = regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(m.Name.Text) + `\s*==\s*(\d+(?:\.\d+)*)`)
	}
	var out []finding
	artifact := ""
	for n, line := range project.Lines(f.Text) {
		if strings.Contains(line, "<artifactId>") {
			artifact = line
		}
		var said string
		if x := row.FindStringSubmatch(line); x != nil {
			said = x[1]
		} else if x := pomVersion.FindStringSubmatch(line); x != nil && m.Tool == "maven" && strings.Contains(artifact,
			">"+m.Name.Text+"<") {
			said = x[1]
		}
		w, ok := project.ParseVersion(said)
		if !ok {
			continue
		}
		if compatible(w, v, m.Tool) || w.Compare(v) > 0 {
			return nil // others beside it are for whoever needs them
		}
		if len(out) > 0 {
			continue
		}
		out = []finding{found("the version", "Readers are told to ask for %s at %s; the manifest is at %s, %s.", said,
			at(f, n), m.Version.Text, at(m.File, m.Version.Line)).
			then("Put the present version into "+at(f, n).place()+".", costMinutes, "newcomers who begin with an old release").
			weighs(contradicted, "version release readme documentation")}
	}
	return out
}

var pomVersion = pattern.New(`<version>(\d+(?:\.\d+)*)</version>`)

// compatible: a reader who asks for said gets have, or something as good.
func compatible(said, have project.Version, tool string) bool {
	if have.Within(said) || said.Compare(have) == 0 {
		return true
	}
	if tool == "maven" || tool == "pip" {
		return said.Parts[0] == have.Parts[0] // a patch behind is no finding
	}
	if have.Parts[0] > 0 {
		return said.Parts[0] == have.Parts[0]
	}
	return len(said.Parts) > 1 && len(have.Parts) > 1 && said.Parts[0] == 0 && said.Parts[1] == have.Parts[1]
}

// promise is a sentence about the lowest version of a language.
var promises = []struct {
	tool, lang string
	re         *pattern.Pattern
}{
	{"pip", "Python", pattern.New(`(?i)\bPython\s*(?:version\s*)?(?:>=\s*|≥\s*)?v?(\d+\.\d+)(?:\.\d+)?\s*(?:\+|or ` +
		`` +
		`(?:later|newer|above|higher|greater)|and (?:above|later|newer|up|higher))`)},
	{"npm", "Node", pattern.New(`(?i)\bNode(?:\.?js)?\s*(?:version\s*)?(?:>=\s*` +
		`|≥\s*)?v?(\d+(?:\.\d+)*)(?:\.x)?\s*(?:\+|or (?:later|newer|above|higher|greater)|and (?:above|later|newer|up` +
		`|higher))`)},
	{"go", "Go", pattern.New(`\bGo\s*(?:version\s*)?(?:>=\s*|≥\s*)?v?(1\.\d+)(?:\.\d+)?\s*(?:\+|or (?:later|newer` +
		`|above|higher|greater)|and (?:above|later|newer|up|higher))`)},
	{"cargo", "Rust", pattern.New(`(?i)\b(?:Rust|rustc|MSRV)\s*(?:version\s*|is\s*|of\s*)?(?:>=\s*` +
		`|≥\s*)?v?(1\.\d+)(?:\.\d+)?\s*(?:\+|or (?:later|newer|above|higher|greater)|and (?:above|later|newer|up|higher))`)},
	{"maven", "Java", pattern.New(`(?i)\b(?:Java|JDK)\s*(?:version\s*)?(?:>=\s*|≥\s*)?(\d+(?:\.\d+)?)\s*(?:\+|or ` +
		`(?:later|newer|above|higher|greater)|and (?:above|later|newer|up|higher))`)},
}

// olderPromise: a prominent document promises to work with a version of the
// language that the manifest refuses.
func olderPromise(s *sight) []finding {
	docs := s.documents()
	slices.SortStableFunc(docs, first)
	for _, p := range promises {
		m := s.needs(p.tool)
		if m == nil {
			continue
		}
		low, ok := floor(m)
		if !ok {
			continue
		}
		for _, f := range docs {
			if !prominent(f) || f.Dir != "." && f.Dir != m.File.Dir {
				continue
			}
			if promised(f.Text, p.lang, p.re, p.tool, low) {
				continue
			}
			before, prose := "", linesOfProse(f)
			for n, line := range project.Lines(f.Text) {
				if !prose[n] {
					continue
				}
				x := p.re.FindStringSubmatch(line)
				if x == nil && !p.re.MatchString(before) { // a sentence may go on in the next line
					x = p.re.FindStringSubmatch(before + " " + strings.TrimSpace(line))
				}
				before = strings.TrimSpace(line)
				if x == nil {
					continue
				}
				if aboutFeature(line, x[0]) {
					continue
				}
				if !strings.Contains(line, x[1]) {
					n-- // the version stands in the line before
				}
				v, ok := project.ParseVersion(javaVersion(x[1], p.tool))
				if !ok || low.Within(v) || v.Compare(low) >= 0 || p.tool == "pip" && v.Parts[0] != low.Parts[0] {
					continue
				}
				return []finding{found("the "+p.lang+" version", "%s speaks of %s %s, and the manifest demands more: %s.", at(f,
					n), p.lang, x[1], at(m.File, m.Needs.Line)).
					then("Say at "+at(f, n).place()+" what the manifest demands.", costMinutes,
						"people who try it with what they were told is enough").
					weighs(contradicted+2, "version readme documentation "+strings.ToLower(p.lang))}
			}
		}
	}
	return nil
}

// linesOfProse are the numbers of a document's lines that are no code.
func linesOfProse(f *project.File) map[int]bool {
	out := map[int]bool{}
	for _, l := range proseOf(f) {
		out[l.n] = true
	}
	return out
}

var footnote = pattern.New(`^(?:[¹²³⁴⁵⁶⁷⁸⁹†‡]|\*+ |\[\^|<sup>|\\\*)`)

// aboutFeature says that a line names a version in passing: in brackets, in a
// heading, or before an example.
func aboutFeature(line, said string) bool {
	t := strings.TrimSpace(line)
	before, after, _ := strings.Cut(t, said)
	return strings.HasPrefix(t, "#") || strings.HasSuffix(t, ":") || footnote.MatchString(t) ||
		strings.Count(before, "(") > strings.Count(before, ")") && strings.Contains(after, ")")
}

// promised says that a document also gives the version that the manifest
// demands: an older one in it may be meant for something else.
func promised(text, lang string, re *pattern.Pattern, tool string, low project.Version) bool {
	given := regexp.MustCompile(`(?i)\b` + lang + `(?:\.?js)?\b\D{0,24}(\d+(?:\.\d+)*)`)
	for _, m := range given.FindAllStringSubmatch(text, -1) {
		v, ok := project.ParseVersion(javaVersion(m[1], tool))
		if exact := len(v.Parts) > 1 || tool == "npm" || tool == "maven"; ok && exact && (low.Within(v) || v.Within(low)) {
			return true
		}
	}
	return slices.ContainsFunc(re.FindAllStringSubmatch(text, -1), func(m []string) bool {
		v, ok := project.ParseVersion(javaVersion(m[1], tool))
		return ok && v.Compare(low) >= 0
	})
}

// needs is the manifest at the root that says which version of its language it
// wants.
func (s *sight) needs(tool string) *project.Manifest {
	for _, m := range s.Manifests() {
		if m.Tool == tool && m.Needs.Text != "" && m.File.Dir == "." {
			return m
		}
	}
	return nil
}

// floor is the lowest version of its language that a manifest allows.
func floor(m *project.Manifest) (project.Version, bool) {
	return project.AtLeast(javaVersion(m.Needs.Text, m.Tool))
}

// javaVersion writes 1.8 as 8, as everybody means it.
func javaVersion(v, tool string) string {
	if tool == "maven" {
		return strings.TrimPrefix(v, "1.")
	}
	return v
}
