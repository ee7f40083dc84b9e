package project

import (
	"strings"

	"conclave/internal/pattern"
)

var requirement = pattern.New(
	`^\s*([A-Za-z0-9][\w.-]*)\s*(\[[^\]]*\])?\s*\(?\s*((?:[<>=!~]=?=?\s*[^;,\s)]+\s*,?\s*)*)\)?\s*(@\s*\S+)?\s*(;.*)?$`)

// readRequirement reads "name[extra]>=1,<2; marker".
func readRequirement(s string) (Dep, bool) {
	m := requirement.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return Dep{}, false
	}
	_, at, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(m[4], "@")), "://")
	return Dep{Name: m[1], Want: strings.TrimSpace(m[3]), Conditional: m[5] != "", Elsewhere: m[4] != "",
		Floats: strings.Contains(m[4], "git+") && !strings.Contains(at[strings.IndexByte(at, '/')+1:], "@")}, true
}

func (m *Manifest) require(scope Scope, group string, v Value) {
	if d, ok := readRequirement(v.Text); ok {
		d.Line, d.Scope, d.Group = v.Line, scope, group
		m.Deps = append(m.Deps, d)
	}
}

func (m *Manifest) pyproject() {
	m.Tool = "pip"
	for _, e := range readTOML(m.File.Text) {
		v := Value{e.text, e.line}
		switch {
		case e.table == "project" || e.table == "tool.poetry" || e.table == "tool.poetry.dependencies":
			m.pyKey(e, v)
		case e.table == "project.scripts" || e.table == "tool.poetry.scripts":
			m.script(e.key, v)
		case e.table == "project.optional-dependencies":
			for _, item := range e.list {
				m.require(Optional, "optional "+e.key, Value{item.text, item.line})
			}
		case e.table == "dependency-groups":
			for _, item := range e.list {
				m.require(Dev, "group "+e.key, Value{item.text, item.line})
			}
		case e.table == "build-system" && e.key == "requires":
			for _, item := range e.list {
				m.require(Build, "build-system", Value{item.text, item.line})
			}
		case e.table == "tool.poetry.dev-dependencies", strings.HasPrefix(e.table, "tool.poetry.group.") &&
			strings.HasSuffix(e.table, ".dependencies"):
			m.poetry(e, Dev)
		}
		if e.table == "tool.poetry.dependencies" && e.key != "python" {
			m.poetry(e, Main)
		}
	}
}

// script notes a command that a Python package installs.
func (m *Manifest) script(name string, v Value) {
	if m.Scripts == nil {
		m.Scripts = map[string]Value{}
	}
	m.Scripts[name] = v
}

func (m *Manifest) pyKey(e tomlPair, v Value) {
	switch {
	case e.table == "tool.poetry.dependencies":
		if e.key == "python" && v.Text != "" {
			m.Needs = v
		}
	case e.key == "name":
		m.Name = v
	case e.key == "version":
		m.Version = v
	case e.key == "requires-python":
		m.Needs = v
	case e.key == "license" && v.Text != "":
		m.Licence = v
	case e.key == "license" && e.tomlValue.table != nil:
		if text := e.tomlValue.table["text"].text; len(text) < 40 {
			m.Licence = Value{text, e.line}
		}
		if file := e.tomlValue.table["file"].text; file != "" {
			m.name("licence file", Value{file, e.line})
		}
	case e.key == "readme" && v.Text != "":
		m.name("readme", v)
	case e.key == "readme" && e.tomlValue.table != nil:
		m.name("readme", Value{e.tomlValue.table["file"].text, e.line})
	case e.key == "dynamic":
		m.Partial = true
	case e.key == "dependencies":
		for _, item := range e.list {
			m.require(Main, "dependencies", Value{item.text, item.line})
		}
	case e.key == "classifiers":
		for _, item := range e.list {
			m.classifier(Value{item.text, item.line})
		}
	}
}

var pythonClassifier = pattern.New(`^Programming Language :: Python :: (\d+\.\d+)$`)

func (m *Manifest) classifier(v Value) {
	if c := pythonClassifier.FindStringSubmatch(strings.TrimSpace(v.Text)); c != nil {
		m.Speaks = append(m.Speaks, Value{c[1], v.Line})
	}
}

func (m *Manifest) poetry(e tomlPair, scope Scope) {
	d := Dep{Name: e.key, Want: e.text, Line: e.line, Scope: scope, Group: e.table}
	if t := e.tomlValue.table; t != nil {
		d.Want = t["version"].text
		if t["optional"].text == "true" {
			d.Scope = Optional
		}
		d.Elsewhere = t["path"].text+t["git"].text+t["url"].text != ""
		d.Conditional = t["markers"].text+t["python"].text+t["platform"].text != ""
	}
	m.Deps = append(m.Deps, d)
}

var cfgKey = pattern.New(`^([\w.-]+)\s*[=:]\s*(.*)$`)

func (m *Manifest) setupCfg() {
	m.Tool, m.Partial = "pip", true
	section, key := "", ""
	for n, line := range Lines(m.File.Text) {
		t := strings.TrimSpace(line)
		if t == "" || t[0] == '#' || t[0] == ';' {
			continue
		}
		if t[0] == '[' && line[0] == '[' {
			section, key = strings.Trim(t, "[]"), ""
			continue
		}
		value := t
		if line[0] != ' ' && line[0] != '\t' {
			k := cfgKey.FindStringSubmatch(t)
			if k == nil {
				continue
			}
			key, value = k[1], k[2]
		}
		v := Value{strings.TrimSpace(value), n}
		switch {
		case v.Text == "":
		case section == "metadata" && key == "name":
			m.Name = v
		case section == "metadata" && key == "version" && !strings.Contains(v.Text, ":"):
			m.Version = v
		case section == "metadata" && key == "license":
			m.Licence = v
		case section == "metadata" && strings.HasPrefix(key, "classif"):
			m.classifier(v)
		case section == "options" && key == "python_requires":
			m.Needs = v
		case section == "options" && key == "install_requires":
			m.require(Main, key, v)
		case section == "options.entry_points" && strings.HasPrefix(key, "console_scripts"):
			if name, to, ok := strings.Cut(v.Text, "="); ok {
				m.script(strings.TrimSpace(name), Value{strings.TrimSpace(to), n})
			}
		case section == "options.extras_require":
			m.require(Optional, "optional "+key, v)
		}
	}
}

var (
	pyString  = pattern.New(`["']([^"'\n]+)["']`)
	pyKeyword = pattern.New(`^\s*(name|version|license|python_requires|install_requires|classifiers` +
		`|extras_require|tests_require|setup_requires)\s*=\s*(.*)$`)
	pyOneValue = pattern.New(`^["']([^"']+)["']\s*,?\s*(#.*)?$`)
)

// setupPy reads what is literal in the call of setup.
func (m *Manifest) setupPy() {
	m.Tool, m.Partial = "pip", true
	list := ""
	for n, line := range Lines(m.File.Text) {
		if k := pyKeyword.FindStringSubmatch(line); k != nil {
			list = ""
			if one := pyOneValue.FindStringSubmatch(k[2]); one != nil {
				v := Value{one[1], n}
				switch k[1] {
				case "name":
					m.Name = v
				case "version":
					m.Version = v
				case "license":
					m.Licence = v
				case "python_requires":
					m.Needs = v
				}
				continue
			}
			if strings.HasPrefix(k[2], "[") {
				list = k[1]
			}
		}
		if list == "" {
			continue
		}
		code, _, _ := strings.Cut(line, "#")
		for _, s := range pyString.FindAllStringSubmatch(code, -1) {
			switch list {
			case "install_requires":
				m.require(Main, list, Value{s[1], n})
			case "classifiers":
				m.classifier(Value{s[1], n})
			}
		}
		if strings.Contains(code, "]") {
			list = ""
		}
	}
}

func (m *Manifest) requirements() {
	m.Tool = "pip"
	for n, line := range Lines(m.File.Text) {
		t, _, _ := strings.Cut(line, " #")
		t = strings.TrimSpace(t)
		switch {
		case t == "" || t[0] == '#':
		case strings.HasPrefix(t, "-r") || strings.HasPrefix(t, "-c") || strings.HasPrefix(t, "--requirement") ||
			strings.HasPrefix(t, "--constraint"):
			if f := strings.Fields(strings.NewReplacer("=", " ", "-r", "-r ", "-c", "-c ").Replace(t)); len(f) == 2 &&
				f[0][0] == '-' && len(f[0]) == 2 {
				m.name("requirements", Value{f[1], n})
			}
			m.Partial = true
		case t[0] == '-', strings.Contains(t, "://"):
			m.Partial = true
		default:
			t = strings.TrimSpace(strings.TrimSuffix(t, `\`))
			t, _, _ = strings.Cut(t, " --")
			m.require(Main, "requirements", Value{t, n})
		}
	}
}
