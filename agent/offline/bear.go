package offline

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"conclave/internal/markdown"
	"conclave/internal/project"
)

// bear holds what is written against what is there.
func bear() animal {
	return animal{
		name:    "bear",
		opening: "I have no model behind me: I look, I do not reason.",
		nothing: "I held what is written against what is there, and found no place where they part.",
		rules: []rule{
			deadLinks, deadEntries, deadCommands, missingEntry, ownVersion, olderPromise,
			deadAnchors, gapInSeries, countedParts, leftOpen, otherTitle, unlistedPart, wrongAge,
			deadFlags, deadVariables, olderModule, readmeLicence, unexplained,
		},
	}
}

// deadLinks are links between documents that lead to nothing.
func deadLinks(s *sight) []finding {
	var where places
	var what []string
	n, spelt := 0, ""
	targets := map[string]bool{}
	docs := s.documents()
	slices.SortStableFunc(docs, first)
	for _, f := range docs {
		for _, l := range links(f) {
			if l.target == "" || !linkable(l.target) || !s.gone(l.target) || s.rendered(l.target) ||
				s.elsewhere(f, l.target) || s.madeBySite(f, l) {
				continue
			}
			n++
			targets[l.target] = true
			if len(where) < maxPlaces && !slices.Contains(what, "`"+l.target+"`") && !slices.ContainsFunc(where,
				func(c cite) bool { return c.path == f.Path && c.line == l.n }) {
				if real, ok := s.Spelled(l.target); ok && spelt == "" {
					spelt = fmt.Sprintf(" (the tree spells it `%s`)", real)
				}
				where, what = append(where, at(f, l.n)), append(what, "`"+printable(l.target)+"`")
			}
		}
	}
	if n == 0 {
		return nil
	}
	text := "A link leads to a file that is not in the tree, %[1]s%[2]s: %[4]s."
	switch {
	case n > 1 && len(targets) == 1:
		text = "At least %[3]d links lead to one file that is not in the tree, %[1]s%[2]s; the first: %[4]s."
	case n > 1 && n == len(what):
		text = "%[3]d links lead to files that are not in the tree, %[1]s%[2]s: %[4]s."
	case n > 1:
		text = "At least %[3]d links lead to files that are not in the tree, among them %[1]s%[2]s: %[4]s."
	}
	return []finding{found(what[0], text, listed(what), spelt, n, where).
		then("Mend or drop the link at "+where[0].place()+".", costMinutes, "whoever follows it").
		weighs(contradicted+min(n, 5), "documentation docs readme links chapters contents")}
}

// linkable leaves out what a site makes of documents.
func linkable(target string) bool {
	ext := strings.ToLower(path.Ext(target))
	if ext == ".html" || ext == ".htm" || ext == ".php" || ext == ".aspx" {
		return false
	}
	return ext != "" && len(ext) <= 9 || strings.ToUpper(path.Base(target)) == path.Base(target)
}

// elsewhere says that the document is shown in another place than it lies in:
// its links are then not for the tree. Either what it points to is there under
// the last two parts of its path, or the link leaves the site's own directory.
func (s *sight) elsewhere(f *project.File, target string) bool {
	if dir := path.Base(path.Dir(target)); dir != "." && s.anywhere(dir+"/"+path.Base(target)) {
		return true
	}
	for dir := f.Dir; dir != "."; dir = path.Dir(dir) {
		for _, mark := range []string{"SUMMARY.md", "conf.py", "_config.yml", "mkdocs.yml", "docusaurus.config.js",
			"docusaurus.config.ts"} {
			if s.Has(path.Join(dir, mark)) {
				return !strings.HasPrefix(target, dir+"/")
			}
		}
	}
	return false
}

var (
	// siteFiles are the configurations of what makes a site of documents;
	// freeSites are those whose addresses have nothing to do with the files.
	siteFiles = strings.Fields("mkdocs.yml mkdocs.yaml docusaurus.config.js docusaurus.config.ts _config.yml book.toml " +
		"antora.yml")
	freeSites = strings.Fields("gatsby-config.js gatsby-config.ts gatsby-config.mjs hugo.toml hugo.yaml hugo.yml " +
		"astro.config.mjs astro.config.ts astro.config.js .eleventy.js eleventy.config.js eleventy.config.mjs")
)

// madeBySite says that a link is for the site that is made of the documents:
// what it names is served from a directory of its own, or is an address and no
// file.
func (s *sight) madeBySite(f *project.File, l link) bool {
	name, _, _ := strings.Cut(l.as, "#")
	name, _, _ = strings.Cut(name, "?")
	for _, dir := range []string{"static", "public"} {
		at := dir + path.Clean("/"+name)
		if s.Has(at) || s.anywhere(at) {
			return true
		}
	}
	if f.Dir == "." || prominent(f) {
		return false
	}
	address := strings.HasSuffix(name, "/") || path.Ext(name) == ""
	return slices.ContainsFunc(s.Files, func(x *project.File) bool {
		return slices.Contains(freeSites, x.Base) || address && slices.Contains(siteFiles, x.Base) ||
			x.Base == "config.toml" && s.IsDir(path.Join(x.Dir, "archetypes"))
	})
}

// rendered says that a document of another form stands for the target.
func (s *sight) rendered(target string) bool {
	stem := strings.TrimSuffix(target, path.Ext(target))
	for _, ext := range []string{".md", ".mdx", ".rst", ".adoc", ".ipynb", ".txt"} {
		if ext != path.Ext(target) && s.Has(stem+ext) && (path.Ext(target) == ".md" || path.Ext(target) == ".mdx") {
			return true
		}
	}
	return false
}

var (
	toctree  = regexp.MustCompile(`^\s*\.\. toctree::`)
	tocEntry = regexp.MustCompile(`^\s+(?:[^<]+<([^>]+)>|([\w./-]+))\s*$`)
	navEntry = regexp.MustCompile(`^\s+-\s+(?:[^:#]+:\s*)?["']?([\w./-]+\.md)["']?\s*$`)
)

// deadEntries are lines of a table of contents without a document.
func deadEntries(s *sight) []finding {
	for _, f := range s.Files {
		if !f.Read || !citable(f.Path) {
			continue
		}
		var lines []link
		switch {
		case f.Kind == project.Doc && path.Ext(f.Base) == ".rst":
			lines = tocLines(s, f)
		case f.Base == "mkdocs.yml" || f.Base == "mkdocs.yaml":
			lines = navLines(s, f)
		}
		for _, l := range lines {
			return []finding{found("`"+printable(l.target)+"`",
				"The table of contents names a page that is not there: %s; the tree holds no `%s`.", at(f, l.n),
				printable(l.target)).
				then("Write the page, or take the entry out of the contents.", costMinutes,
					"a build of the documentation that warns or fails").
				weighs(contradicted, "documentation docs contents")}
		}
	}
	return nil
}

func tocLines(s *sight, f *project.File) []link {
	var out []link
	inside := false
	for n, line := range project.Lines(f.Text) {
		switch t := strings.TrimSpace(line); {
		case toctree.MatchString(line):
			inside = true
		case inside && t != "" && line[0] != ' ' && line[0] != '\t':
			inside = false
		case inside && t != "" && t[0] != ':' && !strings.Contains(t, "://"):
			m := tocEntry.FindStringSubmatch(line)
			if m == nil || strings.Contains(m[1]+m[2], "generated") || strings.HasPrefix(m[1]+m[2], "/") || m[2] == "self" ||
				m[2] == "modules" || m[2] == "genindex" || m[2] == "modindex" || m[2] == "search" {
				continue
			}
			name := path.Join(f.Dir, m[1]+m[2])
			if s.IsDir(path.Dir(name)) && s.gone(name) && s.gone(name+".rst") && s.gone(name+".md") && s.gone(name+".txt") &&
				s.gone(name+".ipynb") && s.gone(name+".rst.in") {
				out = append(out, link{n: n, target: name})
			}
		}
	}
	return out
}

func navLines(s *sight, f *project.File) []link {
	docs, inside := "docs", false
	var out []link
	for n, line := range project.Lines(f.Text) {
		if v, ok := strings.CutPrefix(line, "docs_dir:"); ok {
			docs = strings.Trim(strings.TrimSpace(v), `"'`)
		}
		if line != "" && line[0] != ' ' && line[0] != '-' && line[0] != '#' {
			inside = strings.HasPrefix(line, "nav:")
		}
		if strings.Contains(line, "plugins:") && strings.Contains(f.Text, "gen-files") {
			return nil
		}
		if m := navEntry.FindStringSubmatch(line); inside && m != nil {
			if name := path.Join(f.Dir, docs, m[1]); s.gone(name) {
				out = append(out, link{n: n, target: name})
			}
		}
	}
	return out
}

// deadCommands are commands that a newcomer is told to type, and that ask for a
// target, script or file that is not there.
func deadCommands(s *sight) []finding {
	docs := s.documents()
	slices.SortStableFunc(docs, first)
	for _, f := range docs {
		if !prominent(f) || strings.Count(f.Path, "/") > 1 {
			continue
		}
		for _, c := range typed(f) {
			if subject, what := s.missing(c); subject != "" {
				return []finding{found(subject, "Newcomers are told to type %s; %s.", at(f, c.n), what).
					then("Correct "+at(f, c.n).place()+", or give it what it asks for.", costMinutes, "every newcomer's first try").
					weighs(contradicted+8, "documentation docs readme commands build")}
			}
		}
	}
	return nil
}

var (
	logHeading = regexp.MustCompile(`^(?:#{1,4}\s+|=+\s+|\*{2,3}\s*)?(?:\[|\x60)?(?:(?i:version|release` +
		`|v)\s*\.?\s*)?(\d+\.\d+(?:\.\d+)*)((?:-?(?:rc|alpha|beta|a|b|dev|pre)[.\d]*)?)(?:\]|\x60)?(?:[\s:(*–—-].*|$)`)
	logBase = regexp.MustCompile(`(?i)^(changelog|changes|history|news|releases?|release[-_]notes)(\.(md|rst|txt` +
		`|markdown|adoc))?$`)
	ruleLine = regexp.MustCompile(`^([=~^"'+*#-])[=~^"'+*#-]{2,}\s*$`)
)

// plainRelease is a heading without marks, as old logs have them.
var plainRelease = regexp.MustCompile(`^(?:\*{3} )?(?:Release|Version) \d+\.\d+[\d.]*(?: [(\[].*)?\s*$`)

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
	pyVersion = regexp.MustCompile(`^__version__\s*=\s*["'](\d+(?:\.\d+)+[\w.]*)["']`)
	goVersion = regexp.MustCompile(`^\s*(?:var\s+|const\s+)?[vV]ersion\s*(?:string)?\s*=\s*"v?(\d+\.\d+(?:\.\d+)?)"`)
	isVersion = regexp.MustCompile(`^v?(\d+\.\d+(?:\.\d+)?)\s*$`)
)

// versionIn reads the version that a source or a file VERSION gives.
func versionIn(f *project.File) project.Value {
	var re *regexp.Regexp
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
		row = regexp.MustCompile(`(?:npm|yarn|pnpm)\s+(?:install|i|add)\s+(?:-\S+\s+)*` + regexp.QuoteMeta(m.Name.Text) +
			`@\^?(\d+(?:\.\d+)*)`)
	case "maven":
		row = regexp.MustCompile(`["'][\w.-]+:` + regexp.QuoteMeta(m.Name.Text) + `:(\d+(?:\.\d+)*)["']`)
	case "pip":
		row = regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(m.Name.Text) + `\s*==\s*(\d+(?:\.\d+)*)`)
	}
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
		if !ok || compatible(w, v, m.Tool) {
			continue
		}
		return []finding{found("the version", "Readers are told to ask for %s at %s; the manifest is at %s, %s.", said,
			at(f, n), m.Version.Text, at(m.File, m.Version.Line)).
			then("Put the present version into "+at(f, n).place()+".", costMinutes, "newcomers who begin with an old release").
			weighs(contradicted, "version release readme documentation")}
	}
	return nil
}

var pomVersion = regexp.MustCompile(`<version>(\d+(?:\.\d+)*)</version>`)

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
	re         *regexp.Regexp
}{
	{"pip", "Python", regexp.MustCompile(`(?i)\bPython\s*(?:version\s*)?(?:>=\s*|≥\s*)?v?(\d+\.\d+)(?:\.\d+)?\s*(?:\+|or ` +
		`` +
		`(?:later|newer|above|higher|greater)|and (?:above|later|newer|up|higher))`)},
	{"npm", "Node", regexp.MustCompile(`(?i)\bNode(?:\.?js)?\s*(?:version\s*)?(?:>=\s*` +
		`|≥\s*)?v?(\d+(?:\.\d+)*)(?:\.x)?\s*(?:\+|or (?:later|newer|above|higher|greater)|and (?:above|later|newer|up` +
		`|higher))`)},
	{"go", "Go", regexp.MustCompile(`\bGo\s*(?:version\s*)?(?:>=\s*|≥\s*)?v?(1\.\d+)(?:\.\d+)?\s*(?:\+|or (?:later|newer` +
		`|above|higher|greater)|and (?:above|later|newer|up|higher))`)},
	{"cargo", "Rust", regexp.MustCompile(`(?i)\b(?:Rust|rustc|MSRV)\s*(?:version\s*|is\s*|of\s*)?(?:>=\s*` +
		`|≥\s*)?v?(1\.\d+)(?:\.\d+)?\s*(?:\+|or (?:later|newer|above|higher|greater)|and (?:above|later|newer|up|higher))`)},
	{"maven", "Java", regexp.MustCompile(`(?i)\b(?:Java|JDK)\s*(?:version\s*)?(?:>=\s*|≥\s*)?(\d+(?:\.\d+)?)\s*(?:\+|or ` +
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
			before := ""
			for n, line := range project.Lines(f.Text) {
				x := p.re.FindStringSubmatch(line)
				if x == nil && !p.re.MatchString(before) { // a sentence may go on in the next line
					x = p.re.FindStringSubmatch(before + " " + strings.TrimSpace(line))
				}
				before = strings.TrimSpace(line)
				if x == nil {
					continue
				}
				if !strings.Contains(line, x[1]) {
					n-- // the version stands in the line before
				}
				v, ok := project.ParseVersion(javaVersion(x[1], p.tool))
				if !ok || low.Within(v) || v.Compare(low) >= 0 {
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

// promised says that a document also gives the version that the manifest
// demands: an older one in it may be meant for something else.
func promised(text, lang string, re *regexp.Regexp, tool string, low project.Version) bool {
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

// deadAnchors are links to a heading that is not in the document.
func deadAnchors(s *sight) []finding {
	docs := s.documents()
	slices.SortStableFunc(docs, first)
	for _, f := range docs {
		if !prominent(f) {
			continue
		}
		for _, l := range links(f) {
			to := f
			if l.target != "" {
				to = s.File(l.target)
			}
			if l.anchor == "" || to == nil || !to.Read || !isMarkdown(to) || headed(to, l.anchor) {
				continue
			}
			return []finding{found("`#"+printable(l.anchor)+"`", "%s points to a heading that `%s` does not have.", at(f,
				l.n), to.Path).
				then("Point "+at(f, l.n).place()+" to a heading that is there.", costMinutes,
					"a reader who lands at the top and searches").
				weighs(worthKnowing, "documentation docs readme links")}
		}
	}
	return nil
}

// headed compares letters and digits alone: how a heading becomes an anchor
// differs from site to site.
func headed(f *project.File, anchor string) bool {
	want := bare(anchor)
	if want == "" || strings.HasPrefix(anchor, "L") && len(want) < 6 || strings.Contains(anchor, ":~:") {
		return true
	}
	for _, line := range project.Lines(f.Text) {
		if strings.Contains(line, `id="`) || strings.Contains(line, `name="`) || strings.Contains(line, "id='") ||
			strings.Contains(line, "{#") || strings.Contains(line, "{: #") {
			if strings.Contains(bare(line), want) {
				return true
			}
		}
		if _, text := markdown.Heading(line); text != "" && (bare(text) == want || strings.HasPrefix(want, bare(text)) &&
			len(want)-len(bare(text)) <= 2 || bare(linkText.ReplaceAllString(text, "$1")) == want ||
			strings.Contains(bare(text), want)) {
			return true
		}
	}
	return strings.Contains(f.Text, "\n---") || strings.Contains(f.Text, "\n===") // headings of the other form
}

var linkText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// bare keeps letters and digits.
func bare(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		s = plain
	}
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 0x7f {
			return r
		}
		return -1
	}, strings.ToLower(s))
}

var seriesName = regexp.MustCompile(`^(.*?[^\d]|)(\d{1,3})([^\d].*|)$`)

// datedName: what is named after its day or month has no number that could be
// missing.
var datedName = regexp.MustCompile(`(?:^|\D)(?:19|20)\d\d[-_.]?(?:0[1-9]|1[0-2])(?:\D|[0-3]\d(?:\D|$)|$)`)

// gapInSeries: numbered documents of one form with a number missing.
func gapInSeries(s *sight) []finding {
	series := map[string]map[int]*project.File{}
	var order []string
	for _, f := range s.Of(project.Doc) {
		m := seriesName.FindStringSubmatch(strings.TrimSuffix(f.Base, path.Ext(f.Base)))
		if m == nil || !f.Read || !citable(f.Path) || datedName.MatchString(f.Base) {
			continue
		}
		key := f.Dir + "/" + m[1] + "|" + path.Ext(f.Base)
		if series[key] == nil {
			series[key] = map[int]*project.File{}
			order = append(order, key)
		}
		series[key][atoi(m[2])] = f
	}
	for _, key := range order {
		got := series[key]
		low, high := 1<<30, 0
		for n := range got {
			low, high = min(low, n), max(high, n)
		}
		missing := high - low + 1 - len(got)
		if len(got) < 4 || low > 1 || missing == 0 || missing > 2 || high > 200 {
			continue
		}
		for n := low; n <= high; n++ {
			if got[n] != nil || got[n-1] == nil || got[n-1].Lines == 0 {
				continue
			}
			next := n + 1
			for got[next] == nil {
				next++
			}
			if got[next].Lines == 0 {
				return nil
			}
			return []finding{found(fmt.Sprintf("number %d", n),
				"The series in `%s/` has a gap: after %s comes %s, and there is no number %d.", got[n-1].Dir, at(got[n-1], 1),
				at(got[next], 1), n).
				then(fmt.Sprintf("Write number %d, or number the rest anew.", n), costHour, "the question what is missing").
				weighs(contradicted-10, "chapters contents documentation plan")}
		}
	}
	return nil
}

var (
	chapterCount = regexp.MustCompile(`(?i)\b(\d{1,2}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve` +
		`|thirteen` +
		`|fourteen|fifteen|sixteen|eighteen|twenty)\s+(chapters|parts|sections|scenes|episodes)\b`)
	smallNumbers = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen " +
		"" +
		"fifteen sixteen seventeen eighteen nineteen twenty")
)

// countedParts: a document says how many chapters there are, and the directory
// of that name holds another number.
func countedParts(s *sight) []finding {
	for _, f := range s.documents() {
		for _, l := range proseOf(f) {
			m := chapterCount.FindStringSubmatch(l.text)
			if m == nil {
				continue
			}
			said := atoi(m[1])
			if i := slices.Index(smallNumbers, strings.ToLower(m[1])); i >= 0 {
				said = i
			}
			dir := path.Join(f.Dir, strings.ToLower(m[2]))
			if !s.IsDir(dir) {
				dir = strings.ToLower(m[2])
			}
			have := 0
			var last *project.File
			for _, x := range s.Of(project.Doc) {
				if x.Dir == dir && !strings.HasPrefix(strings.ToUpper(x.Base), "README") &&
					!strings.HasPrefix(strings.ToLower(x.Base), "index") && seriesName.MatchString(x.Base) {
					have++
					last = x
				}
			}
			if have < 3 || have == said || !citable(last.Path) || last.Lines == 0 {
				continue
			}
			return []finding{found("`"+dir+"/`", "%s speaks of %s %s, and `%s/` holds %d numbered files, the last %s.", at(f,
				l.n), m[1], m[2], dir, have, at(last, 1)).
				then("Count again, and put the number right at "+at(f, l.n).place()+".", costMinutes,
					"a plan that promises what is not there").
				weighs(worthKnowing+5, "chapters contents plan documentation")}
		}
	}
	return nil
}

// placeholderText are the marks that nobody leaves in a finished text. A name in
// brackets that the reader fills in, a "???" that opens a block and a thing "to
// be written" by a program are none.
var placeholderText = regexp.MustCompile(`\bTBD\b|\bTBC\b|[|:(]\s*\?\?\?\s*(?:[|).]|$)` +
	`|(?i:\[(?:insert|fill in|todo|tbd|tbc|placeholder)\b[^\]()]{0,60}\](?:[^(\[:]|$)|\blorem ipsum\b` +
	`|<(?:insert|fill in)\b[^>]{1,40}>|\bcoming soon\b` +
	`|(?:^\s*(?:[-*+]\s+)?|[|:(–—]\s*)[*_]*to be (?:written|decided|confirmed|determined)[*_]*\s*(?:[.)|]|$))`)

// leftOpen are places that a document leaves to be filled.
func leftOpen(s *sight) []finding {
	var where places
	n := 0
	docs := s.documents()
	slices.SortStableFunc(docs, first)
	for _, f := range docs {
		if s.HasCode() && !prominent(f) || strings.Contains(strings.ToLower(f.Base),
			"style") {
			continue
		}
		for _, l := range proseOf(f) {
			if !placeholderText.MatchString(l.text) || strings.Contains(l.text, "|---") || strings.Contains(l.code,
				"`TBD`") || openBox.MatchString(l.text) {
				continue
			}
			n++
			if len(where) < maxPlaces && at(f, l.n).quote != "" {
				where = append(where, at(f, l.n))
			}
		}
	}
	if len(where) == 0 {
		return nil
	}
	text := "%d places are still to be filled: %s."
	args := []any{n, where}
	if n == 1 {
		text, args = "A place is still to be filled: %s.", []any{where}
	}
	if n > len(where) {
		text = "%d places are still to be filled, among them %s."
	}
	return []finding{found("what is still open", text, args...).
		then("Fill "+where[0].place()+", or strike it out.", costHour, "a reader who takes a blank for an answer").
		weighs(costly, "documentation plan open placeholder")}
}
