package project

import (
	"path"
	"slices"
	"strings"

	"conclave/internal/pattern"
)

// Value is a text with the line it stands in; line 0 for none.
type Value struct {
	Text string
	Line int
}

// Scope is when a dependency is needed.
type Scope int

// The scopes of dependencies.
const (
	Main Scope = iota
	Dev
	Build
	Peer
	Optional
	Indirect
	Managed // a version for others to use, not a dependency by itself
)

// Dep is a line of a manifest that asks for someone else's code.
type Dep struct {
	Name  string
	Want  string // the version as written, "" for none
	Line  int
	Scope Scope
	// Group is the list it stands in: "devDependencies", "optional docs".
	Group string
	// As is the name it is used by, where that is another one.
	As string
	// Elsewhere: a path, a repository, the workspace decide the version.
	Elsewhere bool
	// Floats: a repository decides the version, and no commit of it is named.
	Floats bool
	// Conditional: wanted on some systems or with some features only.
	Conditional bool
	// Tuned: asked for with features of its own, perhaps only for their sake.
	Tuned bool
}

// Named is a path that a manifest names and that has to be there.
type Named struct {
	Path string // from the root of the tree
	As   string // as written
	Line int
	What string // "workspace member", "module", "readme"
}

// Manifest is what one of the project's own manifests declares.
type Manifest struct {
	File *File
	// Tool is who reads it: "go", "npm", "pip", "cargo", "maven".
	Tool    string
	Name    Value
	Version Value
	Licence Value
	// Needs is the language version demanded, as written.
	Needs Value
	Deps  []Dep
	Paths []Named
	// Scripts are the commands that the manifest gives names to: a command line
	// for npm, module and function for Python.
	Scripts map[string]Value
	// Speaks are the versions that the manifest says are supported.
	Speaks []Value
	// Private: not to be published, and so no library for others.
	Private bool
	// Workspace: the root of several packages.
	Workspace bool
	// Partial: not everything in it is literal; there may be more.
	Partial bool
}

// Manifests are those of the project itself: not of fixtures, examples or what
// others wrote. Those that lie highest come first.
func (p *Project) Manifests() []*Manifest {
	p.once.Do(func() {
		for _, f := range p.Files {
			if !f.Read || f.Kind != Config && f.Base != "setup.py" && !strings.HasPrefix(f.Base, "Cargo.toml") || f.Aside() ||
				p.again(f) {
				continue
			}
			if m := readManifest(f); m != nil {
				p.manifests = append(p.manifests, m)
			}
		}
		slices.SortStableFunc(p.manifests, func(a, b *Manifest) int {
			if n := strings.Count(a.File.Path, "/") - strings.Count(b.File.Path, "/"); n != 0 {
				return n
			}
			return strings.Compare(path.Ext(a.File.Base), path.Ext(b.File.Base)) * btoi(a.File.Dir == b.File.Dir &&
				a.Tool == "cargo")
		})
	})
	return p.manifests
}

// again says that a manifest is the one at the root once more, as a link that an
// archive has turned into a file.
func (p *Project) again(f *File) bool {
	root := p.byPath[f.Base]
	return root != nil && root != f && f.Lines > 3 && root.Sum == f.Sum
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Aside says that a file lies where examples, tests, templates or documents do:
// it is not part of what the project ships.
func (f *File) Aside() bool { return slices.ContainsFunc(strings.Split(f.Dir, "/"), asideDir) }

// asideDir holds what is not the project's own product.
func asideDir(d string) bool {
	d = strings.ToLower(d)
	return isExampleDir(d) || slices.Contains(testDirs, d) || slices.Contains(fixtureDirs, d) || isTemplateDir(d) ||
		d == "docs" || d == "doc" || d == "website" || d == "www" || d == "dev-docs" || d == "fuzz" || d == "debian"
}

func readManifest(f *File) *Manifest {
	m := &Manifest{File: f}
	switch {
	case f.Base == "go.mod":
		m.goMod()
	case f.Base == "package.json":
		if !m.packageJSON() {
			return nil
		}
	case f.Base == "Cargo.toml",
		f.Base == "Cargo.toml.orig": // the second is what people wrote, where cargo made the first
		m.cargo()
	case f.Base == "pyproject.toml":
		m.pyproject()
	case f.Base == "setup.cfg":
		m.setupCfg()
	case f.Base == "setup.py":
		m.setupPy()
	case requirements.MatchString(f.Base) && strings.HasSuffix(f.Base, ".txt"):
		m.requirements()
	case f.Base == "pom.xml":
		if !m.pom() {
			return nil
		}
	case f.Base == "settings.gradle", f.Base == "settings.gradle.kts":
		m.gradleParts()
	case strings.HasSuffix(f.Base, ".gradle"), strings.HasSuffix(f.Base, ".gradle.kts"):
		m.gradle()
	case f.Base == "gradle.properties", f.Base == "version.properties":
		m.properties()
	default:
		return nil
	}
	return m
}

var (
	gradleDep  = pattern.New(`["']([\w.-]+:[\w.-]+):(\d[\w.+-]*)["']`)
	gradleAsks = pattern.New(`^\s*(?:api|implementation|compile\w*|runtime\w*|test\w*|androidTest\w*|classpath` +
		`|annotationProcessor|kapt|provided)\b`)
	gradleScope = pattern.New(`^\s*(test\w*|androidTest\w*|classpath|annotationProcessor|kapt|compileOnly)\b`)
	gradleJava  = pattern.New(`(?:sourceCompatibility|targetCompatibility` +
		`|languageVersion)\s*=?\s*(?:JavaLanguageVersion\.of\()?(?:JavaVersion\.VERSION_)?["']?(\d+(?:[._]\d+)?)`)
)

// gradle reads what is literal in a build script; it can compute anything else.
func (m *Manifest) gradle() {
	m.Tool, m.Partial = "gradle", true
	for n, line := range Lines(m.File.Text) {
		t := strings.TrimSpace(line)
		if strings.HasPrefix(t, "//") || strings.HasPrefix(t, "*") {
			continue
		}
		for _, x := range gradleDep.FindAllStringSubmatch(line, -1) {
			d := Dep{Name: x[1], Want: x[2], Line: n, Group: "dependencies"}
			if !gradleAsks.MatchString(line) {
				d.Scope = Managed // a name for it, which other lines may use
			}
			if s := gradleScope.FindStringSubmatch(line); s != nil {
				d.Scope = Dev
				if s[1] == "classpath" {
					d.Scope = Build
				}
			}
			m.Deps = append(m.Deps, d)
		}
		if x := gradleJava.FindStringSubmatch(line); x != nil && m.Needs.Text == "" {
			m.Needs = Value{strings.ReplaceAll(x[1], "_", "."), n}
		}
	}
}

var (
	gradleInclude = pattern.New(`^\s*include\b\s*\(?((?:\s*["'][\w:.-]+["']\s*,?)+)\)?\s*;?$`)
	quotedName    = pattern.New(`["']([\w:.-]+)["']`)
)

// gradleParts reads the subprojects of a build that says nowhere that they lie
// elsewhere.
func (m *Manifest) gradleParts() {
	m.Tool, m.Partial = "gradle", true
	if strings.Contains(m.File.Text, "projectDir") || strings.Contains(m.File.Text, "rootDir") {
		return
	}
	for n, line := range Lines(m.File.Text) {
		if x := gradleInclude.FindStringSubmatch(line); x != nil {
			for _, q := range quotedName.FindAllStringSubmatch(x[1], -1) {
				m.name("subproject", Value{strings.ReplaceAll(strings.Trim(q[1], ":"), ":", "/"), n})
			}
		}
	}
}

// properties reads the version that some builds keep in a file of its own.
func (m *Manifest) properties() {
	m.Tool, m.Partial = "gradle", true
	for n, line := range Lines(m.File.Text) {
		if key, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(key) == "version" {
			m.Version = Value{strings.TrimSpace(value), n}
		}
	}
}

// name notes a path that has to be there.
func (m *Manifest) name(what string, v Value) {
	if v.Text == "" || strings.ContainsAny(v.Text, "*?${}<>") || strings.Contains(v.Text, "://") {
		return
	}
	m.Paths = append(m.Paths, Named{path.Join(m.File.Dir, v.Text), v.Text, v.Line, what})
}

var goRow = pattern.New(`^(?:require\s+)?"?([\w.~-]+\.[\w.~-]+(?:/[^\s"]*)?)"?\s+(v\S+)\s*(//.*)?$`)

func (m *Manifest) goMod() {
	m.Tool = "go"
	block, replaced := "", map[string]bool{}
	for n, line := range Lines(m.File.Text) {
		t := strings.TrimSpace(line)
		word, rest, _ := strings.Cut(t, " ")
		switch {
		case strings.HasSuffix(t, "(") && block == "":
			block = strings.TrimSpace(strings.TrimSuffix(t, "("))
		case t == ")":
			block = ""
		case block == "" && word == "module":
			m.Name = Value{strings.Trim(strings.TrimSpace(rest), `"`), n}
		case block == "" && word == "go":
			m.Needs = Value{strings.TrimSpace(rest), n}
		case block == "tool" || block == "" && word == "tool":
			name := strings.TrimSpace(strings.TrimPrefix(t, "tool "))
			m.Deps = append(m.Deps, Dep{Name: name, Line: n, Scope: Build, Group: "tool"})
		case block == "require" || block == "" && word == "require":
			if row := goRow.FindStringSubmatch(t); row != nil {
				d := Dep{Name: row[1], Want: row[2], Line: n, Group: "require"}
				if strings.Contains(row[3], "indirect") {
					d.Scope = Indirect
				}
				m.Deps = append(m.Deps, d)
			}
		case block == "replace" || block == "" && word == "replace":
			from, to, _ := strings.Cut(strings.TrimPrefix(t, "replace "), "=>")
			to = strings.TrimSpace(to)
			if strings.HasPrefix(to, ".") && !strings.HasPrefix(path.Join(m.File.Dir, to), "..") {
				m.name("replacement", Value{to, n})
			}
			if name := strings.Fields(from); len(name) > 0 {
				replaced[strings.Trim(name[0], `"`)] = true
			}
		}
	}
	for i := range m.Deps { // whichever stands first
		m.Deps[i].Elsewhere = m.Deps[i].Elsewhere || replaced[m.Deps[i].Name]
	}
}

// npmSource is a repository without a commit: "owner/name", "git+https://…".
var npmSource = pattern.New(`^(?:git(?:\+\w+)?://[^#]+|git\+ssh:[^#]+|github:[^#]+|[\w.-]+/[\w.-]+)$`)

var npmGroups = []struct {
	key   string
	scope Scope
}{{"dependencies", Main}, {"devDependencies", Dev}, {"peerDependencies", Peer}, {"optionalDependencies", Optional}}

func (m *Manifest) packageJSON() bool {
	root := readJSON(m.File.Text)
	if root == nil || root.byKey == nil {
		return false
	}
	m.Tool = "npm"
	m.Name, m.Version, m.Licence = root.get("name").value(), root.get("version").value(), root.get("license").value()
	m.Needs = root.get("engines", "node").value()
	m.Private = root.get("private").value().Text == "true"
	m.Workspace = root.get("workspaces") != nil
	for _, g := range npmGroups {
		list := root.get(g.key)
		if list == nil {
			continue
		}
		for _, name := range list.keys {
			v := list.byKey[name]
			d := Dep{Name: name, Want: v.text, Line: v.line, Scope: g.scope, Group: g.key}
			if alias, ok := strings.CutPrefix(v.text, "npm:"); ok {
				d.As, d.Want, d.Elsewhere = name, alias, true
			}
			if strings.Contains(v.text, ":") || strings.Contains(v.text, "/") {
				d.Elsewhere = true // workspace:, file:, git+ssh:, owner/repository
				d.Floats = npmSource.MatchString(v.text)
			}
			m.Deps = append(m.Deps, d)
		}
	}
	for _, key := range []string{"main", "module", "types", "typings", "bin"} {
		if v := root.get(key).value(); v.Text != "" {
			m.name("entry", v)
		} else if n := root.get(key); n != nil && key == "bin" {
			for _, k := range n.keys {
				m.name("entry", n.byKey[k].value())
			}
		}
	}
	m.Scripts = map[string]Value{}
	if s := root.get("scripts"); s != nil {
		for _, k := range s.keys {
			m.Scripts[k] = s.byKey[k].value()
		}
	}
	return true
}

var cargoTable = pattern.New(`^(?:(target\..*)\.)?(workspace\.)?(dev-|build-)?dependencies(?:\.([^.]+))?$`)

func (m *Manifest) cargo() {
	m.Tool = "cargo"
	pairs := readTOML(m.File.Text)
	long := map[string]*Dep{}
	for _, e := range pairs {
		v := Value{e.text, e.line}
		switch {
		case e.table == "package" && e.key == "name":
			m.Name = v
		case (e.table == "package" || e.table == "workspace.package") && e.key == "version" && v.Text != "":
			m.Version = v
		case (e.table == "package" || e.table == "workspace.package") && e.key == "rust-version" && v.Text != "":
			m.Needs = v
		case (e.table == "package" || e.table == "workspace.package") && e.key == "license" && v.Text != "":
			m.Licence = v
		case e.table == "package" && e.key == "publish" && v.Text == "false":
			m.Private = true
		case e.table == "package" && (e.key == "readme" || e.key == "license-file" || e.key == "build") &&
			v.Text != "true" && v.Text != "false":
			m.name(e.key, v)
		case e.table == "workspace" && (e.key == "members"):
			m.Workspace = true
			for _, item := range e.list {
				m.name("workspace member", Value{item.text, item.line})
			}
		case (e.table == "bin" || e.table == "lib" || e.table == "example" || e.table == "bench" || e.table == "test") &&
			e.key == "path":
			m.name(e.table+" path", v)
		}
		if t := cargoTable.FindStringSubmatch(e.table); t != nil {
			m.cargoDep(t, e, long)
		}
	}
	features := ""
	for _, e := range pairs {
		if e.table == "features" {
			for _, item := range e.list {
				features += " " + item.text
			}
		}
	}
	for i := range m.Deps {
		if d := &m.Deps[i]; strings.Contains(features+" ", " "+d.Name+"/") || strings.Contains(features+" ",
			"dep:"+d.Name+" ") || strings.Contains(features+" ", " "+d.Name+" ") {
			d.Conditional = true
		}
	}
}

func (m *Manifest) cargoDep(t []string, e tomlPair, long map[string]*Dep) {
	d := Dep{Name: e.key, Want: e.text, Line: e.line, Group: e.table, Conditional: t[1] != ""}
	switch {
	case t[2] != "":
		d.Scope = Managed
	case t[3] == "dev-":
		d.Scope = Dev
	case t[3] == "build-":
		d.Scope = Build
	}
	set := func(d *Dep, key string, v tomlValue) {
		switch key {
		case "version":
			d.Want = v.text
		case "optional":
			if v.text == "true" && d.Scope == Main {
				d.Scope = Optional
			}
		case "package":
			d.As, d.Name = d.Name, v.text
		case "path", "git", "workspace":
			d.Elsewhere, d.Floats = true, key == "git"
		case "rev", "tag":
			d.Floats = false
		case "features", "default-features":
			d.Tuned = true
		}
	}
	if t[4] != "" { // [dependencies.serde]
		name := t[4]
		at := e.table
		if long[at] == nil {
			d.Name, d.Want, d.Group = name, "", strings.TrimSuffix(e.table, "."+name)
			d.Line = max(e.head, 1)
			m.Deps = append(m.Deps, d)
			long[at] = &m.Deps[len(m.Deps)-1]
		}
		for i := range m.Deps { // the slice may have moved
			if m.Deps[i].Line == long[at].Line && (m.Deps[i].Name == name || m.Deps[i].As == name) {
				set(&m.Deps[i], e.key, e.tomlValue)
			}
		}
		return
	}
	for _, key := range []string{"version", "optional", "package", "path", "git", "rev", "tag", "workspace",
		"features", "default-features"} {
		if v, ok := e.tomlValue.table[key]; ok {
			set(&d, key, v)
		}
	}
	m.Deps = append(m.Deps, d)
}

// ScriptNames are the commands that a package.json gives names to.
func ScriptNames(f *File) []string {
	if n := readJSON(f.Text).get("scripts"); n != nil {
		return n.keys
	}
	return nil
}
