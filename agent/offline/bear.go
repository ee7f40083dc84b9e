package offline

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"conclave/internal/markdown"
	"conclave/internal/pattern"
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
			deadFlags, listedFlags, deadVariables, olderModule, readmeLicence, unexplained,
		},
	}
}

// deadLinks are links between documents that lead to nothing.
func deadLinks(s *sight) []finding {
	if s.published() {
		return nil
	}
	var where places
	var what []string
	n, spelt := 0, ""
	targets := map[string]bool{}
	docs := s.documents()
	slices.SortStableFunc(docs, first)
	for _, f := range docs {
		for _, l := range links(f) {
			if l.target == "" || !linkable(l.target) || !s.gone(l.target) || s.rendered(l.target) ||
				s.elsewhere(f, l.target) || s.madeBySite(f, l) || s.notUnpacked(l.target) {
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

// notUnpacked says that a tree without a history lacks the whole directory: it may
// be an archive of a part.
func (s *sight) notUnpacked(target string) bool {
	_, spelt := s.Spelled(target)
	return len(s.past) == 0 && !spelt && !s.IsDir(path.Dir(target))
}

var upperName = pattern.New(`^[A-Z][A-Z0-9_-]+$`)

// linkable leaves out what a site makes of documents.
func linkable(target string) bool {
	ext := strings.ToLower(path.Ext(target))
	if ext == ".html" || ext == ".htm" || ext == ".php" || ext == ".aspx" {
		return false
	}
	return ext != "" && len(ext) <= 9 || upperName.MatchString(path.Base(target))
}

// elsewhere says that the document is shown in another place than it lies in:
// its links are then not for the tree. Either what it points to is there under
// the last two parts of its path, or the link leaves the site's own directory.
func (s *sight) elsewhere(f *project.File, target string) bool {
	if dir := path.Base(path.Dir(target)); dir != "." && s.anywhere(dir+"/"+path.Base(target)) {
		return true
	}
	for dir := f.Dir; ; dir = path.Dir(dir) { // there a name is looked for at the top of the documents too
		if (s.Has(path.Join(dir, "docusaurus.config.js")) || s.Has(path.Join(dir, "docusaurus.config.ts"))) &&
			s.anywhere(path.Base(target)) {
			return true
		}
		if dir == "." {
			break
		}
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
	if strings.Contains(f.Path, ".docc/") {
		return true // DocC finds a picture or a page by its name, wherever in the catalogue it lies
	}
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
	toctree  = pattern.New(`^\s*\.\. toctree::`)
	tocEntry = pattern.New(`^\s+(?:[^<]+<([^>]+)>|([\w./-]+))\s*$`)
	navEntry = pattern.New(`^\s+-\s+(?:[^:#]+:\s*)?["']?([\w./-]+\.md)["']?\s*$`)
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

// madePages are those that Sphinx makes.
var madePages = strings.Fields("self modules genindex modindex py-modindex search")

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
			if m == nil || strings.Contains(m[1]+m[2], "generated") || strings.HasPrefix(m[1]+m[2], "/") ||
				slices.Contains(madePages, m[1]+m[2]) {
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

var (
	repoName = pattern.New(`[\w.-]+/[\w.-]+`)
	repoWord = pattern.New(`(?i)\brepo(?:sitory)?\b`)
)

// otherRepo says that the words above a command, up to the heading, speak of a
// repository by its name: the command may be meant for there.
func otherRepo(c command) bool {
	lines := strings.Split(c.f.Text, "\n")
	for i := c.n - 2; i >= 0 && i > c.n-20; i-- {
		if level, _ := markdown.Heading(lines[i]); level > 0 {
			return false
		}
		if repoWord.MatchString(lines[i]) && repoName.MatchString(lines[i]) {
			return true
		}
	}
	return false
}

// wentAway says that the lines above a command, in the same block, lead to a
// directory that is not of this tree.
func (s *sight) wentAway(c command) bool {
	lines := strings.Split(c.f.Text, "\n")
	for i := c.n - 2; i >= 0 && !anyFence.MatchString(lines[i]); i-- {
		for _, part := range splitShell.Split(prompt.ReplaceAllString(lines[i], ""), -1) {
			part = strings.TrimSpace(part)
			dir, ok := strings.CutPrefix(part, "cd ")
			if ok && !s.IsDir(strings.TrimSpace(dir)) || strings.HasPrefix(part, "git clone ") {
				return true
			}
		}
	}
	return false
}

// deadCommands are commands that a newcomer is told to type, and that ask for a
// target, script or file that is not there.
func deadCommands(s *sight) []finding {
	if s.published() {
		return nil
	}
	docs := s.documents()
	slices.SortStableFunc(docs, first)
	for _, f := range docs {
		if !prominent(f) || strings.Count(f.Path, "/") > 1 {
			continue
		}
		for _, c := range typed(f) {
			if otherRepo(c) || s.wentAway(c) {
				continue
			}
			if subject, what := s.missing(c); subject != "" {
				return []finding{found(subject, "Readers are told to type %s; %s.", at(f, c.n), what).
					then("Correct "+at(f, c.n).place()+", or give it what it asks for.", costMinutes, "whoever types it").
					weighs(contradicted+8, "documentation docs readme commands build")}
			}
		}
	}
	return nil
}

// deadAnchors are links to a heading that is not in the document.
func deadAnchors(s *sight) []finding {
	docs := s.documents()
	slices.SortStableFunc(docs, first)
	for _, f := range docs {
		if !prominent(f) || translated.MatchString(f.Path) {
			continue
		}
		for _, l := range links(f) {
			to := f
			if l.target != "" {
				to = s.File(l.target)
			}
			if l.anchor == "" || strings.Contains(f.Text, "[](#"+l.anchor+")") ||
				to == nil || !to.Read || !isMarkdown(to) || headed(to, l.anchor) {
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

// translated knows directories and documents of another language: what is wrong in
// them is wrong in their model, or was made by whoever translates.
var translated = pattern.New(`(?:^|/)(?:[a-z]{2,3}-[A-Z]{2}|i18n|l10n|translations?|locales?)/` +
	`|[._-](?:[a-z]{2}|[a-z]{2}[-_][A-Z]{2})\.\w+$`)

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

var linkText = pattern.New(`\[([^\]]*)\]\([^)]*\)`)

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
