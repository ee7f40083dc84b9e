package offline

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// dependency is a line of a manifest that names someone else's code.
type dependency struct {
	file   string
	line   hit
	name   string
	wanted string // version as written, "" if none
	direct bool
}

// dependencies reads the manifests of the tree, those near its root.
func (s *survey) dependencies() []dependency {
	var out []dependency
	for _, f := range s.files {
		text, ok := s.texts[f.path]
		if !ok {
			continue
		}
		if read := manifest(path.Base(f.path)); read != nil {
			out = append(out, lined(f.path, text, read)...)
		}
	}
	return out
}

// reader takes one line and the section it stands in, and says whether it
// names a dependency.
type reader func(section *string, line string) (name, version string, direct, ok bool)

func lined(file, text string, read reader) []dependency {
	var out []dependency
	section := ""
	for n, line := range numbered(text) {
		if name, version, direct, ok := read(&section, line); ok {
			out = append(out, dependency{file, hit{line: n, text: line}, name, version, direct})
		}
	}
	return out
}

func manifest(base string) reader {
	switch {
	case base == "go.mod":
		return goModLine
	case base == "package.json", base == "composer.json":
		return packageJSONLine
	case base == "Cargo.toml":
		return cargoLine
	case base == "pyproject.toml":
		return pyprojectLine
	case strings.HasPrefix(base, "requirements") && strings.HasSuffix(base, ".txt"):
		return requirementLine
	case base == "pom.xml":
		return pomLine
	case base == "Gemfile":
		return gemLine
	}
	return nil
}

var (
	goModRow   = regexp.MustCompile(`^\s*(?:require\s+)?([\w.-]+\.[\w.-]+/?\S*)\s+(v\S+)(.*)$`)
	jsonBlock  = regexp.MustCompile(`^\s*"([\w-]*[dD]ependencies|require|require-dev)"\s*:\s*\{\s*$`)
	jsonRow    = regexp.MustCompile(`^\s*"([^"]+)"\s*:\s*"([^"]*)"`)
	tomlHead   = regexp.MustCompile(`^\s*\[([^\]]+)\]`)
	tomlRow    = regexp.MustCompile(`^\s*"?([\w.-]+)"?\s*=\s*(.+)$`)
	pyRow      = regexp.MustCompile(`^\s*["']([A-Za-z][\w.-]*)(?:\[[^\]]*\])?\s*([<>=!~^][^"']*)?["'],?`)
	pipRow     = regexp.MustCompile(`^\s*([A-Za-z][\w.-]*)(?:\[[^\]]*\])?\s*([<>=!~].*)?$`)
	pomRow     = regexp.MustCompile(`<artifactId>([^<]+)</artifactId>`)
	gemRow     = regexp.MustCompile(`^\s*gem\s+["']([^"']+)["'](?:\s*,\s*["']([^"']+)["'])?`)
	versionNow = regexp.MustCompile(`\d`)
)

func goModLine(section *string, line string) (string, string, bool, bool) {
	t := strings.TrimSpace(line)
	switch {
	case strings.HasSuffix(t, "("):
		*section = strings.TrimSpace(strings.TrimSuffix(t, "("))
		return "", "", false, false
	case t == ")":
		*section = ""
		return "", "", false, false
	}
	m := goModRow.FindStringSubmatch(line)
	if m == nil || *section != "require" && !strings.HasPrefix(t, "require ") {
		return "", "", false, false
	}
	return m[1], m[2], !strings.Contains(m[3], "// indirect"), true
}

func packageJSONLine(section *string, line string) (string, string, bool, bool) {
	if m := jsonBlock.FindStringSubmatch(line); m != nil {
		*section = m[1]
		return "", "", false, false
	}
	if strings.HasPrefix(strings.TrimSpace(line), "}") {
		*section = ""
	}
	m := jsonRow.FindStringSubmatch(line)
	if m == nil || *section == "" {
		return "", "", false, false
	}
	return m[1], m[2], true, true
}

func cargoLine(section *string, line string) (string, string, bool, bool) {
	if m := tomlHead.FindStringSubmatch(line); m != nil {
		*section = m[1]
		return "", "", false, false
	}
	m := tomlRow.FindStringSubmatch(line)
	if m == nil || !strings.HasSuffix(*section, "dependencies") {
		return "", "", false, false
	}
	return m[1], strings.Trim(m[2], `"`), true, true
}

func pyprojectLine(section *string, line string) (string, string, bool, bool) {
	t := strings.TrimSpace(line)
	if m := tomlHead.FindStringSubmatch(line); m != nil && !strings.Contains(line, `"`) {
		*section = m[1]
		return "", "", false, false
	}
	switch {
	case strings.HasPrefix(t, "dependencies") && strings.HasSuffix(t, "["):
		*section = "list"
	case t == "]":
		*section = ""
	case *section == "list":
		if m := pyRow.FindStringSubmatch(line); m != nil {
			return m[1], m[2], true, true
		}
	case strings.HasPrefix(*section, "tool.poetry") && strings.HasSuffix(*section, "dependencies"):
		if m := tomlRow.FindStringSubmatch(line); m != nil && m[1] != "python" {
			return m[1], strings.Trim(m[2], `"`), true, true
		}
	}
	return "", "", false, false
}

func requirementLine(_ *string, line string) (string, string, bool, bool) {
	line, _, _ = strings.Cut(line, "#")
	m := pipRow.FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		return "", "", false, false
	}
	return m[1], m[2], true, true
}

func pomLine(section *string, line string) (string, string, bool, bool) {
	switch t := strings.TrimSpace(line); {
	case t == "<dependency>":
		*section = "dependency"
	case t == "</dependency>":
		*section = ""
	case *section != "":
		if m := pomRow.FindStringSubmatch(line); m != nil {
			return m[1], "", true, true
		}
	}
	return "", "", false, false
}

func gemLine(_ *string, line string) (string, string, bool, bool) {
	m := gemRow.FindStringSubmatch(line)
	if m == nil {
		return "", "", false, false
	}
	return m[1], m[2], true, true
}

// unsettled says why a version promises little: none at all, any, before the
// first release, or no release.
func (d dependency) unsettled() string {
	v := strings.TrimLeft(d.wanted, "^~>=< v")
	switch {
	case d.wanted == "*" || d.wanted == "latest":
		return "takes any version"
	case strings.HasSuffix(d.file, ".txt") && d.wanted == "":
		return "names no version"
	case strings.HasPrefix(v, "0.0.0-"):
		return "is no release but a commit"
	case strings.HasPrefix(v, "0.") && versionNow.MatchString(v):
		return "is before its first stable release"
	}
	return ""
}

// direct keeps the dependencies that the project asks for itself.
func directOnly(list []dependency) []dependency {
	return slices.DeleteFunc(slices.Clone(list), func(d dependency) bool { return !d.direct })
}
