package project

import (
	"encoding/xml"
	"path"
	"strings"
)

// pomDep collects a dependency element.
type pomDep struct {
	group, artifact, version, scope, optional Value
}

// pom reads a Maven project. A dependency without a version has one that is
// managed elsewhere, which is no fault.
func (m *Manifest) pom() bool {
	m.Tool = "maven"
	d := xml.NewDecoder(strings.NewReader(m.File.Text))
	d.Strict = false
	d.Entity = xml.HTMLEntity
	var at []string
	var dep pomDep
	root := ""
	for {
		t, err := d.Token()
		if err != nil {
			break
		}
		switch t := t.(type) {
		case xml.StartElement:
			at = append(at, t.Name.Local)
			if root == "" {
				root = t.Name.Local
			}
			if t.Name.Local == "dependency" {
				dep = pomDep{}
			}
		case xml.EndElement:
			if len(at) > 0 && at[len(at)-1] == "dependency" {
				m.pomDep(dep, at)
			}
			if len(at) > 0 {
				at = at[:len(at)-1]
			}
		case xml.CharData:
			text := strings.TrimSpace(string(t))
			if text == "" || len(at) == 0 {
				continue
			}
			line, _ := d.InputPos()
			m.pomText(at, Value{text, line - strings.Count(strings.TrimRight(string(t), " \t"), "\n")}, &dep)
		}
	}
	return root == "project"
}

func (m *Manifest) pomText(at []string, v Value, dep *pomDep) {
	where := strings.Join(at, "/")
	switch {
	case where == "project/artifactId":
		m.Name = v
	case where == "project/licenses/license/name" && m.Licence.Text == "":
		m.Licence = v
	case where == "project/version":
		m.Version = v
	case where == "project/modules/module":
		m.Workspace = true
		if m.name("module", v); strings.HasSuffix(v.Text, ".xml") {
			return
		}
	case strings.HasSuffix(where, "plugin/configuration/release"), strings.HasSuffix(where, "plugin/configuration/source"):
		if _, ok := ParseVersion(v.Text); ok && m.Needs.Text == "" {
			m.Needs = v
		}
	case where == "project/properties/maven.compiler.release", where == "project/properties/maven.compiler.source",
		where == "project/properties/java.version":
		if m.Needs.Text == "" {
			m.Needs = v
		}
	}
	if len(at) < 2 || at[len(at)-2] != "dependency" {
		return
	}
	switch at[len(at)-1] {
	case "groupId":
		dep.group = v
	case "artifactId":
		dep.artifact = v
	case "version":
		dep.version = v
	case "scope":
		dep.scope = v
	case "optional":
		dep.optional = v
	}
}

func (m *Manifest) pomDep(p pomDep, at []string) {
	where := strings.Join(at, "/")
	if p.artifact.Text == "" || strings.Contains(where, "/plugin/") {
		return
	}
	d := Dep{Name: p.group.Text + ":" + p.artifact.Text, Want: p.version.Text, Line: p.artifact.Line,
		Group: path.Dir(where)}
	d.Elsewhere = d.Want == "" || strings.Contains(d.Want, "${")
	if p.version.Line > 0 {
		d.Line = p.version.Line
	}
	switch {
	case strings.Contains(where, "dependencyManagement"):
		d.Scope = Managed
	case p.scope.Text == "test":
		d.Scope = Dev
	case p.optional.Text == "true" || p.scope.Text == "provided":
		d.Scope = Optional
	}
	d.Conditional = strings.Contains(where, "/profile/")
	m.Deps = append(m.Deps, d)
}
