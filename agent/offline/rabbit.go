package offline

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"conclave/internal/pattern"
	"conclave/internal/project"
)

// rabbit counts what is needed: dependencies, locks, licences, money.
func rabbit() animal {
	return animal{
		name:    "rabbit",
		opening: "Quickly: no model behind me; I look, I do not reason.",
		nothing: "I went through what is declared, locked and paid for, and found nothing that does not fit.",
		rules: []rule{
			unlocked, twiceDeclared, otherLicence, unusedModule, unusedPackage, noLock, unpinned, anyVersion, movingImage,
			wrongSum, otherFigure, otherAmount, driftingVersions, retiredDependency, closedStore, oldCommit,
			replaced, twoSetups, movingSource, unreleasedDependency,
		},
	}
}

// unlocked: the lock file does not know what the manifest asks for.
func unlocked(s *sight) []finding {
	for _, m := range s.Manifests() {
		faults := s.Unlocked(m)
		if len(faults) == 0 || !citable(m.File.Path) || len(faults) > 12 && len(faults)*2 > len(m.Deps) {
			continue // another lock file's affair
		}
		f := faults[0]
		for _, x := range faults {
			if x.Dep.Scope == project.Main && f.Dep.Scope != project.Main {
				f = x
			}
		}
		c := at(m.File, f.Dep.Line)
		if f.Have.Text != "" {
			return []finding{found(f.Dep.Name, "The manifest asks for it at %s, and `%s` was made for another range: %s.", c,
				f.Lock.Path, at(f.Lock, f.Have.Line)).
				then("Run the package manager once and commit `"+f.Lock.Path+"`.", costMinutes,
					"an installation that refuses, or takes something else").
				weighs(broken-10, "dependencies lock versions")}
		}
		more := ""
		if len(faults) > 1 {
			more = " (and " + number(len(faults)-1) + " more like it)"
		}
		return []finding{found(f.Dep.Name, "The manifest asks for it, %s, and `%s` does not know it%s.", c, f.Lock.Path,
			more).
			then("Run the package manager once and commit `"+f.Lock.Path+"`.", costMinutes,
				"an installation that refuses, or differs from machine to machine").
			weighs(broken-10, "dependencies lock versions")}
	}
	return nil
}

// twiceDeclared: one manifest, or two that are installed together, ask for two
// versions of the same thing.
func twiceDeclared(s *sight) []finding {
	type place struct {
		m *project.Manifest
		d project.Dep
	}
	for _, m := range s.Manifests() {
		seen := map[string]place{}
		for _, d := range m.Deps {
			if d.Scope == project.Peer || d.Scope == project.Managed || d.Scope == project.Build || d.Want == "" ||
				d.Conditional {
				continue
			}
			key := d.Name
			if m.Tool == "pip" {
				key = project.Normal(key)
			}
			old, twice := seen[key]
			if !twice {
				seen[key] = place{m, d}
				continue
			}
			if old.d.Want == d.Want && m.Tool != "npm" || old.d.Conditional || agree(old.d.Want, d.Want) &&
				old.d.Group != d.Group && m.Tool != "npm" || m.Tool == "go" || m.Tool == "maven" && old.d.Scope != d.Scope {
				continue
			}
			if old.d.Want == d.Want {
				continue
			}
			return []finding{found(d.Name, "It is asked for twice and differently: %s and %s.", at(m.File, old.d.Line),
				at(m.File, d.Line)).
				then("Keep one of the two lines.", costMinutes, "the question which version is meant").
				weighs(contradicted+5, "dependencies versions")}
		}
	}
	return s.twoManifests()
}

// agree says that one of two ranges of pip lies within the other, as far as
// that is plain.
func agree(a, b string) bool {
	if strings.HasPrefix(a, "==") == strings.HasPrefix(b, "==") {
		return a == b || !strings.HasPrefix(a, "==")
	}
	if strings.HasPrefix(b, "==") {
		a, b = b, a
	}
	pin, ok := project.ParseVersion(strings.TrimPrefix(a, "=="))
	if !ok {
		return true
	}
	if low, ok := project.AtLeast(b); ok && pin.Compare(low) < 0 {
		return false
	}
	for _, term := range strings.Split(b, ",") {
		term = strings.TrimSpace(term)
		if v, ok := project.ParseVersion(strings.TrimPrefix(term, "<")); ok && strings.HasPrefix(term, "<") &&
			!strings.HasPrefix(term, "<=") && pin.Compare(v) >= 0 {
			return false
		}
	}
	return true
}

// twoManifests: requirements.txt pins what the package itself refuses.
func (s *sight) twoManifests() []finding {
	var own *project.Manifest
	for _, m := range s.Manifests() {
		if m.Tool == "pip" && m.File.Dir == "." && m.File.Base != "" && len(m.Deps) > 0 && !strings.HasSuffix(m.File.Base,
			".txt") && own == nil {
			own = m
		}
	}
	if own == nil {
		return nil
	}
	for _, m := range s.Manifests() {
		if m == own || m.Tool != "pip" || !strings.HasSuffix(m.File.Base, ".txt") || !citable(m.File.Path) {
			continue
		}
		for _, d := range m.Deps {
			for _, o := range own.Deps {
				if o.Scope == project.Main && project.Normal(o.Name) == project.Normal(d.Name) && !o.Conditional &&
					!d.Conditional && o.Want != "" && d.Want != "" && !agree(o.Want, d.Want) {
					return []finding{found(d.Name, "%s asks for a version that %s refuses.", at(m.File, d.Line), at(own.File, o.Line)).
						then("Bring the two lines together.", costMinutes, "an installation that cannot succeed with both").
						weighs(contradicted+6, "dependencies versions")}
				}
			}
		}
	}
	return nil
}

// driftingVersions: the packages of one workspace ask for different major
// versions of the same thing.
func driftingVersions(s *sight) []finding {
	type place struct {
		m *project.Manifest
		d project.Dep
		v project.Version
	}
	seen := map[string]place{}
	for _, m := range s.Manifests() {
		if m.Tool != "npm" && m.Tool != "cargo" || !citable(m.File.Path) {
			continue
		}
		for _, d := range m.Deps {
			if d.Scope == project.Peer || d.Scope == project.Managed || d.Elsewhere || d.Conditional && m.Tool == "npm" {
				continue
			}
			v, ok := project.AtLeast(d.Want)
			if !ok || strings.Contains(d.Want, "||") || strings.HasPrefix(d.Want, ">") {
				continue
			}
			key := m.Tool + " " + d.Name
			old, twice := seen[key]
			if !twice {
				seen[key] = place{m, d, v}
				continue
			}
			if old.m == m || compatible(old.v, v, m.Tool) || compatible(v, old.v, m.Tool) || !s.together(old.m, m) {
				continue
			}
			return []finding{found(d.Name, "Two packages here ask for versions of it that exclude each other: %s and %s.",
				at(old.m.File, old.d.Line), at(m.File, d.Line)).
				then("Bring both to the newer one.", costHour, "two copies of it, and two sets of habits").
				weighs(costly, "dependencies versions workspace")}
		}
	}
	return nil
}

// together says that two packages are installed at once: they share a lock file,
// or a workspace of Rust names both.
func (s *sight) together(a, b *project.Manifest) bool {
	if lock := s.LockOf(a); lock != nil {
		return lock == s.LockOf(b)
	}
	return a.Tool == "cargo" && s.LockOf(b) == nil && slices.ContainsFunc(s.Manifests(), func(m *project.Manifest) bool {
		names := func(x *project.Manifest) bool {
			return x == m || slices.ContainsFunc(m.Paths, func(p project.Named) bool { return p.Path == x.File.Dir })
		}
		return m.Tool == "cargo" && m.Workspace && names(a) && names(b)
	})
}

// unusedModule is a module that go.mod requires directly and no Go file
// imports.
func unusedModule(s *sight) []finding {
	if !s.Looked.Whole() || s.Looked.Long > 0 && s.longGo() {
		return nil
	}
	mods := map[string]bool{}
	for _, f := range s.Files {
		if f.Base == "go.mod" {
			mods[f.Dir] = true
		}
	}
	for _, m := range s.Manifests() {
		if m.Tool != "go" || !citable(m.File.Path) {
			continue
		}
		var texts []*project.File
		for _, f := range s.Files {
			if f.Lang != "Go" || !within1(f.Path, m.File.Dir) || deeperModule(mods, f.Dir, m.File.Dir) {
				continue
			}
			if !f.Read {
				texts = nil
				break
			}
			texts = append(texts, f)
		}
		if len(texts) == 0 {
			continue
		}
		tools := ""
		for _, d := range m.Deps {
			if d.Group == "tool" {
				tools += " " + d.Name
			}
		}
		for _, d := range m.Deps {
			if d.Scope != project.Main || d.Group != "require" || strings.Contains(tools, d.Name) {
				continue
			}
			if slices.ContainsFunc(texts, func(f *project.File) bool {
				return strings.Contains(f.Text, `"`+d.Name+`"`) || strings.Contains(f.Text, `"`+d.Name+"/") ||
					strings.Contains(f.Text, "`"+d.Name)
			}) {
				continue
			}
			return []finding{found(d.Name, "No Go file of the module imports it, and it is not marked as indirect: %s. %s read "+
				"for that.", at(m.File, d.Line), were(len(texts), "file")).
				then("Run `go mod tidy` and look what it takes away.", costMinutes,
					"a dependency to watch and to update for nothing").
				weighs(costly+10, "dependencies unused")}
		}
	}
	return nil
}

// longGo: some Go file was not read, so that imports may be missed.
func (s *sight) longGo() bool {
	return slices.ContainsFunc(s.Files, func(f *project.File) bool {
		return f.Lang == "Go" && !f.Read && f.Kind != project.Foreign
	})
}

func within1(p, dir string) bool { return dir == "." || strings.HasPrefix(p, dir+"/") }

// deeperModule: between the directory and the module's lies another module.
func deeperModule(mods map[string]bool, dir, module string) bool {
	for ; dir != module && dir != "."; dir = path.Dir(dir) {
		if mods[dir] {
			return true
		}
	}
	return false
}

var otherImport = map[string]string{
	"pyyaml": "yaml", "pillow": "PIL", "beautifulsoup4": "bs4", "scikit-learn": "sklearn", "opencv-python": "cv2",
	"opencv-python-headless": "cv2",
	"python-dateutil":        "dateutil", "attrs": "attr", "protobuf": "google", "pyjwt": "jwt", "python-dotenv": "dotenv",
	"msgpack-python": "msgpack",
	"mysqlclient":    "MySQLdb", "psycopg2-binary": "psycopg2", "pycryptodome": "Crypto", "pyopenssl": "OpenSSL",
	"python-magic": "magic",
	"gitpython":    "git", "pyzmq": "zmq", "pyserial": "serial", "importlib-metadata": "importlib_metadata",
	"ruamel-yaml":    "ruamel",
	"faust-cchardet": "cchardet", "charset-normalizer": "charset_normalizer", "backports-zoneinfo": "backports",
	"google-api-python-client": "googleapiclient",
	"python-jose":              "jose", "python-multipart": "multipart", "dnspython": "dns", "pyside6": "PySide6",
	"pymupdf": "fitz",
	"pywin32": "win32", "markdown-it-py": "markdown_it",
	"mdit-py-plugins": "mdit_py_plugins", "typing-extensions": "typing_extensions", "websocket-client": "websocket",
	"antlr4-python3-runtime": "antlr4", "pysocks": "socks",
}

var byName = pattern.New(`(?i)(^types-|-stubs?$|^pytest|plugin|^flake8|^mypy|^black$|^ruff$|^tox|gunicorn` +
	`|uvicorn|^setuptools|^wheel$|^pip$|^tzdata$|^certifi$|^colorama$|^eslint|^@types/|^@emotion/|^@mui/|^babel|^@babel/` +
	`|loader$|^webpack|^postcss|^prettier|^typescript$|polyfill|^core-js|^regenerator|^tslib$|^react-dom$|preset|^husky$` +
	`|^nodemon$|^ts-node$|^@swc/|^sass$|^less$|-cli$|^jsdom$)`)

// unusedPackage is a package that the manifest of a Python, JavaScript or Rust
// project needs, and whose name stands in no other file that was read.
func unusedPackage(s *sight) []finding {
	if !s.Looked.Whole() {
		return nil
	}
	var texts []*project.File
	for _, f := range s.Files {
		if f.Read && f.Kind != project.Lock && f.Kind != project.Licence && !(f.Kind == project.Doc &&
			pastBase.MatchString(f.Base)) {
			texts = append(texts, f)
		}
	}
	for _, m := range s.Manifests() {
		if m.Tool != "pip" && m.Tool != "npm" && m.Tool != "cargo" || m.Workspace && m.Tool == "cargo" ||
			!citable(m.File.Path) || strings.HasSuffix(m.File.Base, ".txt") {
			continue
		}
		if !slices.ContainsFunc(texts, func(f *project.File) bool {
			return f.Kind == project.Source && within1(f.Path,
				m.File.Dir)
		}) {
			continue
		}
		if m.Tool == "npm" && s.builtElsewhere(m, texts) {
			continue
		}
		for _, d := range m.Deps {
			if d.Scope != project.Main || d.Elsewhere || d.Conditional || d.Tuned || byName.MatchString(d.Name) ||
				m.Name.Text == d.Name {
				continue
			}
			words := usedAs(m.Tool, d)
			if slices.ContainsFunc(texts, func(f *project.File) bool {
				text := f.Text
				if f == m.File {
					text = without(text, d.Line)
				}
				return slices.ContainsFunc(words, func(w string) bool { return containsFold(text, w) })
			}) {
				continue
			}
			return []finding{found(d.Name, "The project needs it, %s, and its name stands in no other file that I read (%d). "+
				"What loads it under another name, or wants it beside itself, I cannot see.", at(m.File, d.Line), len(texts)).
				then("Ask why it is there; then take it out and run the tests.", costMinutes,
					"something to install, watch and update for nothing").
				weighs(costly+8, "dependencies unused")}
		}
	}
	return nil
}

var builtEntry = pattern.New(`"(?:\./)?((?:dist|lib|build|out|cjs|esm|umd|es)/)[^"*!]*\.[cm]?[jt]sx?"`)

// builtElsewhere says that a package enters through a directory of which nothing
// was read, and that there are no sources from which it is built.
func (s *sight) builtElsewhere(m *project.Manifest, texts []*project.File) bool {
	reads := func(dir string) bool {
		return slices.ContainsFunc(texts, func(f *project.File) bool {
			return strings.HasPrefix(f.Path, path.Join(m.File.Dir, dir)+"/")
		})
	}
	return slices.ContainsFunc(builtEntry.FindAllStringSubmatch(m.File.Text, -1), func(x []string) bool {
		return !reads(x[1]) && (s.Has(path.Join(m.File.Dir, x[1])) || !reads("src"))
	})
}

// without is a text with one line left out.
func without(text string, line int) string {
	var b strings.Builder
	for n, l := range project.Lines(text) {
		if n != line {
			b.WriteString(l + "\n")
		}
	}
	return b.String()
}

// usedAs are the words under which a dependency would be named.
func usedAs(tool string, d project.Dep) []string {
	name := d.Name
	if d.As != "" {
		name = d.As
	}
	switch tool {
	case "cargo":
		plain := strings.TrimPrefix(strings.TrimPrefix(strings.TrimSuffix(name, "-rs"), "rust-"), "rs-")
		return []string{strings.ReplaceAll(name, "-", "_"), name, strings.ReplaceAll(plain, "-", "_") + "::"}
	case "npm":
		out := []string{name, path.Base(name), strings.TrimSuffix(name, "-es")} // lodash-es is written as lodash
		if strings.HasPrefix(name, "@") {                                       // a part of something that loads it by the rest of its name
			for part := range strings.SplitSeq(path.Base(name), "-") {
				if len(part) > 4 {
					out = append(out, part)
				}
			}
		}
		return out
	}
	out := []string{name, strings.ReplaceAll(name, "-", "_"), strings.ReplaceAll(name, "_", "-"),
		strings.ReplaceAll(name, "-", ".")}
	if other := otherImport[project.Normal(name)]; other != "" {
		out = append(out, other)
	}
	for part := range strings.SplitSeq(project.Normal(name), "-") {
		if len(part) > 3 && part != "python" {
			out = append(out, part)
		}
	}
	return append(out, strings.TrimPrefix(project.Normal(name), "py"), strings.TrimSuffix(project.Normal(name), "-python"))
}

func containsFold(text, word string) bool {
	if word == "" {
		return true
	}
	return strings.Contains(text, word) || strings.Contains(text, strings.ToLower(word)) || strings.Contains(text,
		strings.ToUpper(word[:1])+word[1:])
}

// noLock: something that is run, not imported, without a lock file.
func noLock(s *sight) []finding {
	for _, m := range s.Manifests() {
		if !citable(m.File.Path) || m.File.Dir != "." || s.Looked.Cut {
			continue
		}
		i := slices.IndexFunc(m.Deps, func(d project.Dep) bool { return d.Scope == project.Main && !d.Elsewhere })
		if i < 0 || s.LockOf(m) != nil {
			continue
		}
		switch {
		case m.Tool == "go" && !s.Has("vendor") && !s.Has("go.work"):
			return []finding{found("`go.sum`", "The module requires others, the first at %s, and there is no `go.sum`: the go "+
				"command refuses to build it.", at(m.File, m.Deps[i].Line)).
				then("Run `go mod tidy` and commit `go.sum`.", costMinutes, "a build that stops at once").
				weighs(broken-5, "dependencies lock build")}
		case s.IsApplication(m) && !s.Ignored(lockName[m.Tool]):
			return []finding{found("`"+lockName[m.Tool]+"`",
				"This is something to run and not a library, and no lock file is in the tree: what is installed for %s is decided "+
					"anew each time.", at(m.File, m.Deps[i].Line)).
				then("Commit the lock file that the package manager writes.", costMinutes, "the day on which two machines differ").
				weighs(costly+4, "dependencies lock reproducible")}
		}
	}
	return nil
}

var lockName = map[string]string{"npm": "package-lock.json", "cargo": "Cargo.lock"}

// unpinned: of a list of pinned requirements some are not.
func unpinned(s *sight) []finding {
	for _, m := range s.Manifests() {
		if !strings.HasSuffix(m.File.Base, ".txt") || !citable(m.File.Path) {
			continue
		}
		pinned := 0
		var loose []project.Dep
		for _, d := range m.Deps {
			switch {
			case strings.Contains(d.Want, "=="):
				pinned++
			case d.Want == "" && !d.Elsewhere:
				loose = append(loose, d)
			}
		}
		if pinned < 3 || len(loose) == 0 || len(loose) > pinned {
			continue
		}
		var where places
		for _, d := range loose[:min(len(loose), maxPlaces)] {
			where = append(where, at(m.File, d.Line))
		}
		return []finding{found(loose[0].Name, "`%s` pins %s, and not %s.", m.File.Path, count(pinned, "requirement"), where).
			then("Pin the rest as well.", costMinutes, "a build that changes without a commit").
			weighs(worthKnowing+10, "dependencies pins versions")}
	}
	return nil
}

// anyVersion: a dependency of which every version will do.
func anyVersion(s *sight) []finding {
	for _, m := range s.Manifests() {
		if m.Tool != "npm" && m.Tool != "cargo" || !citable(m.File.Path) || s.LockOf(m) != nil {
			continue // what is locked is one version
		}
		for _, d := range m.Deps {
			if (d.Want == "*" || d.Want == "latest" || d.Want == "x") && d.Scope != project.Peer && !d.Elsewhere {
				return []finding{found(d.Name, "Any version of it will do: %s.", at(m.File, d.Line)).
					then("Name the major version that was tried.", costMinutes, "the next breaking release, on the day it appears").
					weighs(costly, "dependencies versions")}
			}
		}
	}
	return nil
}

var fromLine = pattern.New(`(?i)^FROM\s+(?:--platform=\S+\s+)?([\w./-]+)(:latest)?(?:\s+AS\s+(\S+))?\s*$`)

// movingImage: a container is built on whatever is newest that day.
func movingImage(s *sight) []finding {
	for _, f := range s.own(project.Config) {
		if !isDockerfile(f) || f.Aside() || strings.HasPrefix(f.Path, ".") || f.Base == "Dockerfile.example" {
			continue
		}
		stages := map[string]bool{"scratch": true}
		for n, line := range project.Lines(f.Text) {
			m := fromLine.FindStringSubmatch(line)
			if as := regexp.MustCompile(`(?i)\sAS\s+(\S+)\s*$`).FindStringSubmatch(line); as != nil &&
				strings.HasPrefix(strings.ToUpper(line), "FROM") {
				stages[as[1]] = true
			}
			if m == nil || stages[m[1]] && m[2] == "" || strings.HasPrefix(m[1], "gitpod/") ||
				isDigit(m[1][len(m[1])-1]) && m[2] == "" { // the name bears a version
				continue
			}
			return []finding{found("`"+m[1]+"`", "The image is built on whatever is newest that day: %s names no version.",
				at(f, n)).
				then("Name the version that was tried at "+at(f, n).place()+".", costMinutes,
					"a build that breaks without a change").
				weighs(worthKnowing+8, "docker image dependencies versions")}
		}
	}
	return nil
}
