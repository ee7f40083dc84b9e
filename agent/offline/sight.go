package offline

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"conclave/internal/markdown"
	"conclave/internal/pattern"
	"conclave/internal/project"
	"conclave/policy"
)

// sight is what one of the six sees with: the project, its history and the day
// it is.
type sight struct {
	*project.Project
	past  history
	today time.Time

	targets  map[string]bool // of every Makefile
	computed bool            // some targets are not literal
	scripts  map[string]bool // of every package.json
}

func newSight(p *project.Project, past history, today time.Time) *sight {
	s := &sight{Project: p, past: past, today: today}
	s.readTargets()
	return s
}

// at cites a line of a file, with what can be quoted of it.
func at(f *project.File, line int) cite {
	for n, text := range project.Lines(f.Text) {
		if n == line {
			return cite{path: f.Path, line: n, quote: quote(text)}
		}
	}
	return cite{path: f.Path, line: line}
}

// gone says that a name is not in the tree and that its absence means
// something: it is nowhere that was passed by, is not made by a build, and is
// none of the names that stay out of a room.
func (s *sight) gone(name string) bool {
	name = path.Clean(name)
	if s.Has(name) || s.Ignored(name) || policy.MayBeCredential(name) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".git" || part == ".campaign" || part == ".conclave" || part == "build" || part == "out" ||
			part == "dist" || part == "target" || part == "_build" || part == "generated" {
			return false
		}
	}
	return true
}

// published says that the tree is a package of npm as it is installed: no dotfile,
// no lock, no history. What stayed behind is in a repository that is not seen.
func (s *sight) published() bool {
	return len(s.past) == 0 && s.Has("package.json") && !slices.ContainsFunc(s.Files, func(f *project.File) bool {
		return strings.HasPrefix(f.Path, ".") || f.Dir == "." && f.Kind == project.Lock
	})
}

// documents are what people wrote to be read now: no record of the past, no
// template, nothing of tests.
func (s *sight) documents() []*project.File {
	return slices.DeleteFunc(s.Of(project.Doc), func(f *project.File) bool {
		return !f.Read || !citable(f.Path) || pastBase.MatchString(f.Base) ||
			slices.ContainsFunc(strings.Split(strings.ToLower(f.Dir), "/"), func(d string) bool {
				return d == "debian" || d == "blog" || d == "news" || d == "releases" || d == "release-notes" ||
					d == "release_notes" || d == "changelog" || d == "changes" || d == "archive" || d == "locale" ||
					d == "changelogs" || d == ".changeset" || d == "newsfragments"
			})
	})
}

var pastBase = pattern.New(`(?i)^(changelog|changes|history|news|releases?|release[-_]?notes[\d.]*|whatsnew` +
	`|upgrad\w*` +
	`|migrat\w*|todo)([._-].*)?$`)

// prominent are the documents that a newcomer reads first.
func prominent(f *project.File) bool {
	base := strings.ToUpper(f.Base)
	return strings.HasPrefix(base, "README") || strings.HasPrefix(base, "CONTRIBUTING") || strings.HasPrefix(base,
		"INSTALL") ||
		strings.HasPrefix(base, "DEVELOP") || strings.HasPrefix(base, "HACKING") || strings.HasPrefix(base, "BUILD.") ||
		strings.HasPrefix(base, "BUILDING")
}

// first orders documents: the prominent, then those that lie high.
func first(a, b *project.File) int {
	rank := func(f *project.File) int {
		n := strings.Count(f.Path, "/") * 2
		if !prominent(f) {
			n += 3
		}
		return n
	}
	return rank(a) - rank(b)
}

// readme is the README that lies highest.
func (s *sight) readme() *project.File {
	list := slices.DeleteFunc(s.documents(), func(f *project.File) bool {
		return !strings.HasPrefix(strings.ToUpper(f.Base), "README") || f.Dir != "." && f.Dir != ".github" && f.Dir != "docs"
	})
	slices.SortStableFunc(list, first)
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// proseLine is a line of a Markdown text outside fenced code and comments, with
// its code spans blanked; Code is the same line as written.
type proseLine struct {
	n          int
	text, code string
}

var codeSpan = pattern.New("``[^\n]*?``|`[^`\n]*`")

// proseOf lists the lines of a document that are prose.
func proseOf(f *project.File) []proseLine {
	var out []proseLine
	var fence markdown.Fence
	comment := false
	for n, line := range project.Lines(f.Text) {
		if isMarkdown(f) && fence.Inside(line) {
			continue
		}
		if comment || strings.Contains(line, "<!--") {
			comment = !strings.Contains(line, "-->")
			continue
		}
		if strings.HasPrefix(line, "    ") && !strings.Contains(line, "](") || strings.HasPrefix(line, "\t") {
			if len(out) == 0 || strings.TrimSpace(out[len(out)-1].code) == "" {
				continue // an indented block of code
			}
		}
		blank := codeSpan.ReplaceAllStringFunc(line, func(s string) string { return strings.Repeat(" ", len(s)) })
		out = append(out, proseLine{n, blank, line})
	}
	return out
}

func isMarkdown(f *project.File) bool {
	ext := strings.ToLower(path.Ext(f.Base))
	return ext == ".md" || ext == ".markdown" || ext == ".mdx"
}

// link is one that a document makes to another file.
type link struct {
	n      int
	target string // cleaned, from the root of the tree; "" for the same file
	anchor string
	as     string
}

var (
	inlineLink = pattern.New(`\]\(\s*<?([^()\s<>]+(?:\([^()\s]*\)[^()\s<>]*)?)>?(?:\s+["'(][^)]*)?\)`)
	refLink    = pattern.New(`^\s{0,3}\[[^\]^]+\]:\s*<?(\S+?)>?(?:\s+["'(].*)?$`)
	scheme     = pattern.New(`^[A-Za-z][A-Za-z0-9+.-]*:`)
	vague      = pattern.New(`[{}$*<>|\\[\]]|^/|^~|\.\.\.|^@$`)
)

// links lists the relative links of a Markdown document.
func links(f *project.File) []link {
	if path.Ext(f.Base) == ".rst" {
		return rstLinks(f)
	}
	if !isMarkdown(f) {
		return nil
	}
	var out []link
	for _, l := range proseOf(f) {
		var targets []string
		for _, m := range inlineLink.FindAllStringSubmatch(l.text, -1) {
			targets = append(targets, m[1])
		}
		if m := refLink.FindStringSubmatch(l.text); m != nil {
			targets = append(targets, m[1])
		}
		for _, t := range targets {
			if scheme.MatchString(t) || vague.MatchString(t) || strings.HasPrefix(t, "//") {
				continue
			}
			as := t
			t, anchor, _ := strings.Cut(t, "#")
			t, _, _ = strings.Cut(t, "?")
			if plain, err := url.PathUnescape(t); err == nil {
				t = plain
			}
			if t != "" {
				t = path.Join(f.Dir, t)
			}
			out = append(out, link{l.n, t, anchor, as})
		}
	}
	return out
}

var (
	rstFile   = pattern.New(`^\.\. (?:include|literalinclude|image|figure|download)::\s+(\S+)\s*$`)
	rstTarget = pattern.New("`[^`<>]+<([^<>`\\s]+)>`__?")
	rstNamed  = pattern.New(`^\s*\.\. _[^:]+:\s+(\S+)\s*$`)
)

// rstLinks lists what a document in reStructuredText shows or points to.
func rstLinks(f *project.File) []link {
	var out []link
	for n, line := range project.Lines(f.Text) {
		var targets []string
		for _, re := range []*pattern.Pattern{rstFile, rstTarget, rstNamed} {
			for _, m := range re.FindAllStringSubmatch(line, -1) {
				targets = append(targets, m[1])
			}
		}
		for _, t := range targets {
			if scheme.MatchString(t) || vague.MatchString(t) || strings.HasSuffix(t, "_") || strings.HasPrefix(t, "#") ||
				strings.HasPrefix(t, "//") {
				continue
			}
			to, anchor, _ := strings.Cut(t, "#")
			if to == "" || path.Ext(to) == "" {
				continue
			}
			out = append(out, link{n, path.Join(f.Dir, to), anchor, t})
		}
	}
	return out
}

// command is a line that somebody is told to type, or that a machine runs.
type command struct {
	f    *project.File
	n    int
	text string
}

var (
	prompt    = pattern.New(`^\s*(?:[$%>]\s+|[\w.-]+@[\w.-]+[^$]*\$\s+)?`)
	shellInfo = pattern.New(
		"^\\s*(?:```+|~~~+)\\s*(?:(?i:sh|bash|shell|console|zsh|shell-session|text|terminal|shellscript|sh-session)?)\\s*(?:[{ ].*)?$")
	anyFence = pattern.New("^\\s*(?:```|~~~)")
)

// typed lists the lines of a document's blocks of shell.
func typed(f *project.File) []command {
	if path.Ext(f.Base) == ".rst" {
		return typedRST(f)
	}
	if !isMarkdown(f) {
		return nil
	}
	var out []command
	inside, shell := false, false
	for n, line := range project.Lines(f.Text) {
		if anyFence.MatchString(line) {
			if inside = !inside; inside {
				shell = shellInfo.MatchString(line)
			}
			continue
		}
		if inside && shell {
			out = append(out, command{f, n, prompt.ReplaceAllString(line, "")})
		}
	}
	return out
}

var rstBlock = pattern.New(`^\s*(?:\.\. (?:code-block|code|sourcecode)::\s*(?:console|bash|sh|shell|text` +
	`|shell-session)?|[^.].*::)\s*$`)

// typedRST lists the lines of indented blocks that show a shell.
func typedRST(f *project.File) []command {
	var out []command
	inside := false
	for n, line := range project.Lines(f.Text) {
		switch {
		case rstBlock.MatchString(line):
			inside = true
		case inside && strings.TrimSpace(line) != "" && line[0] != ' ' && line[0] != '\t':
			inside = false
		case inside && strings.TrimSpace(line) != "":
			out = append(out, command{f, n, prompt.ReplaceAllString(line, "")})
		}
	}
	return out
}

var ciFile = pattern.New(`^(\.github/workflows/[^/]+\.ya?ml|\.gitlab-ci\.ya?ml|\.gitlab/ci/.*\.ya?ml` +
	`|\.travis\.yml|\.circleci/config\.yml|azure-pipelines\.yml|\.woodpecker.*\.ya?ml|\.builds/.*\.yml|appveyor\.yml` +
	`|\.appveyor\.yml|\.cirrus\.yml|\.forgejo/workflows/.*\.ya?ml|\.gitea/workflows/.*\.ya?ml)$`)

// pipelines are the files that tell machines what to check.
func (s *sight) pipelines() []*project.File {
	return slices.DeleteFunc(s.Of(project.Config), func(f *project.File) bool {
		return !f.Read ||
			!ciFile.MatchString(f.Path)
	})
}

var yamlLead = pattern.New(`^\s*(?:-\s+)?(?:(?:run|script|command|before_script|install|test` +
	`|build):\s*)?(?:-\s+)?["']?`)

// pipelineSteps lists the lines of a pipeline as commands.
func pipelineSteps(f *project.File) []command {
	var out []command
	for n, line := range project.Lines(f.Text) {
		t := strings.TrimSpace(line)
		if t == "" || t[0] == '#' {
			continue
		}
		out = append(out, command{f, n, strings.TrimRight(yamlLead.ReplaceAllString(line, ""), `"'`)})
	}
	return out
}

var (
	makeTarget = pattern.New(`^([\w./-]+(?:[ \t]+[\w./-]+)*)[ \t]*::?(?:[^=:]|$)`)
	makeOther  = pattern.New(`^(?:(?:[^#\t\s][^=]*)?[%$][^=]*:(?:[^=]|$)|\.DEFAULT\s*:|-?include\s|sinclude\s` +
		`|\$\(eval|\$\(foreach|define\s)`)
)

// readTargets notes what the Makefiles and package.json files can be asked to
// do. A Makefile that computes targets or includes others may know more.
func (s *sight) readTargets() {
	s.targets, s.scripts = map[string]bool{}, map[string]bool{}
	for _, f := range s.Files {
		switch {
		case !f.Read:
			if f.Base == "package.json" || strings.HasSuffix(f.Base, ".mk") {
				s.computed = true
			}
		case f.Base == "Makefile" || f.Base == "GNUmakefile" || f.Base == "makefile" || strings.HasSuffix(f.Base, ".mk"):
			for _, line := range project.Lines(f.Text) {
				if makeOther.MatchString(line) && !onlyPaths(line) {
					s.computed = true
				}
				if m := makeTarget.FindStringSubmatch(line); m != nil {
					for _, t := range strings.Fields(m[1]) {
						s.targets[t] = true
					}
				}
			}
		case f.Base == "package.json":
			for _, name := range project.ScriptNames(f) {
				s.scripts[name] = true
			}
		}
	}
}

// onlyPaths says that the targets which a line computes lie in directories: a plain
// name is none of them.
func onlyPaths(line string) bool {
	head, _, rule := strings.Cut(line, ":")
	if !rule || strings.HasPrefix(line, "$(") || strings.Contains(head, "include") || strings.HasPrefix(line, "define") {
		return false
	}
	return strings.ContainsAny(head, "%$") && !slices.ContainsFunc(strings.Fields(head), func(w string) bool {
		return strings.ContainsAny(w, "%$") && !strings.Contains(w, "/")
	})
}

var (
	makeCall = pattern.New(`^make((?:\s+(?:-j\s*\d*|-s|-k|-B` +
		`|[A-Z_]+=\S+))*)\s+([a-z][\w.-]*)\s*(?:[A-Z_]+=\S*\s*)*$`)
	npmCall = pattern.New(`^(?:npm|pnpm|yarn)\s+run(?:-script)?\s+(?:(?:-s|-q|--silent|--quiet)\s+)*` +
		`([\w:.][\w:.-]*)(?:\s|$)`)
	scriptCall = pattern.New(`^(?:(?:bash|sh|zsh|python3?|node|ruby|perl` +
		`|source)\s+(?:-[a-z]+\s+)*)?(\.?/?[\w.-]+(?:/[\w.-]+)*\.(?:sh|bash|py|js|mjs|cjs|ts|rb|pl))(?:\s|$)`)
	goCall = pattern.New(`^go\s+(?:run|build|install|test|vet)\s+(?:-\S+\s+)*(\./[\w./-]+?)(?:/\.\.\.)?(?:\s` +
		`|$)`)
	splitShell = pattern.New(`\s*(?:&&|\|\||;|\|)\s*`)
)

// missing says what a command asks for that is not there.
func (s *sight) missing(c command) (subject, what string) {
	for _, part := range splitShell.Split(strings.TrimSpace(c.text), -1) {
		part, _, _ = strings.Cut(strings.TrimSpace(part), " #")
		part = strings.TrimSpace(part)
		if dir, ok := strings.CutPrefix(part, "cd "); ok && !s.IsDir(strings.TrimSpace(dir)) {
			return "", "" // somewhere else
		}
		if m := makeCall.FindStringSubmatch(part); m != nil && len(s.targets) > 0 && !s.computed && !s.targets[m[2]] &&
			!s.Has(m[2]) {
			return "make " + m[2], "no Makefile here has a target `" + m[2] + "`"
		}
		if m := npmCall.FindStringSubmatch(part); m != nil && len(s.scripts) > 0 && !s.computed && !s.scripts[m[1]] &&
			!strings.Contains(part, "--if-present") {
			return "npm run " + m[1], "no `package.json` here has a script `" + m[1] + "`"
		}
		if m := cargoCall.FindStringSubmatch(part); m != nil && s.cargoGone(m[1], m[2]) {
			return "cargo run --" + m[1] + " " + m[2], "no Cargo.toml here has " + article(m[1]) + " `" + m[2] + "`"
		}
		if m := toxCall.FindStringSubmatch(part); m != nil && s.toxGone(m[1]) {
			return "tox -e " + m[1], "`tox.ini` does not know `" + m[1] + "`"
		}
		if m := listCall.FindStringSubmatch(part); m != nil && (m[1] != "" || c.f.Base == "tox.ini") {
			name := path.Join(c.f.Dir, m[2])
			if isPipeline(c.f) {
				name = path.Clean(m[2])
			}
			if s.IsDir(path.Dir(name)) && s.gone(name) && !s.anywhere(m[2]) && !fileMade(c.f, path.Base(name), c.n) {
				return "`" + name + "`", "there is no `" + name + "` in the tree"
			}
		}
		for _, re := range []*pattern.Pattern{scriptCall, goCall} {
			m := re.FindStringSubmatch(part)
			if m == nil || !strings.Contains(m[1], "/") || strings.Contains(m[1], "...") || strings.ContainsAny(part, "$%{}<>*") {
				continue // a pattern, or something that is filled in later
			}
			name := path.Clean(m[1])
			dir := path.Dir(name)
			if strings.HasPrefix(name, "../") || strings.HasPrefix(name, "/") || dir == "." && !strings.HasPrefix(m[1],
				"./") || !s.IsDir(dir) || !s.gone(name) {
				continue
			}
			if s.anywhere(name) || fileMade(c.f, path.Base(name), c.n) {
				continue
			}
			return "`" + name + "`", "there is no `" + name + "` in the tree"
		}
	}
	return "", ""
}

var (
	// listCall installs what a file lists; in tox.ini that needs no command.
	listCall = pattern.New(`^((?:python3? -m )?pip3? install\s(?:\S+\s+)*?)?` +
		`(?:-r|--requirement)[ =]?([\w./-]+\.(?:txt|in))$`)

	cargoCall = pattern.New(`^cargo\s+(?:run|build|test|bench)\b.*?\s--(example|bin|bench)[ =]([\w-]+)`)
	toxCall   = pattern.New(`^tox\s+(?:-\w\s+)*-e\s+([a-z][\w-]*)(?:\s|$)`)
)

func article(noun string) string {
	if noun == "example" {
		return "an example"
	}
	return "a " + noun
}

// cargoGone says that no crate has an example, program or benchmark of a name.
func (s *sight) cargoGone(kind, name string) bool {
	found := false
	for _, f := range s.Files {
		stem := strings.TrimSuffix(f.Base, path.Ext(f.Base))
		if f.Base == "Cargo.toml" || f.Base == "Cargo.toml.orig" {
			found = true
			if strings.Contains(f.Text, `"`+name+`"`) {
				return false
			}
		}
		if f.Lang == "Rust" && (stem == name || path.Base(f.Dir) == name && stem == "main") {
			return false
		}
	}
	return found && kind != "" && s.Looked.Whole()
}

func (s *sight) toxGone(env string) bool {
	f := s.File("tox.ini")
	return f != nil && f.Read && !strings.HasPrefix(env, "py") && !strings.Contains(f.Text, env) &&
		!strings.Contains(f.Text, "{")
}

// anywhere says that some directory holds the name: the command may be meant
// for there.
func (s *sight) anywhere(name string) bool {
	return slices.ContainsFunc(s.Files, func(f *project.File) bool { return strings.HasSuffix(f.Path, "/"+name) })
}

// fileMade says that lines before speak of the file as of something that is
// fetched or written. A document that has named it, or has shown a program, may
// have told its reader to write it.
func fileMade(f *project.File, base string, before int) bool {
	for n, line := range project.Lines(f.Text) {
		if n >= before {
			return false
		}
		if f.Kind == project.Doc && (strings.Contains(line, base) || strings.HasPrefix(strings.TrimSpace(line), "#!")) {
			return true
		}
		if strings.Contains(line, base) && (strings.Contains(line, ">") || strings.Contains(line, "curl") ||
			strings.Contains(line, "wget") || strings.Contains(line, " -o") || strings.Contains(line, "cp ") ||
			strings.Contains(line, "cat ") || strings.Contains(line, "create")) {
			return true
		}
	}
	return false
}
