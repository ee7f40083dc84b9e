package project

import (
	"path"
	"slices"
	"strings"

	"conclave/internal/pattern"
)

// Fault is where a lock file and its manifest part.
type Fault struct {
	Lock *File
	Dep  Dep
	// Have is what the lock file says instead, empty when it says nothing.
	Have Value
}

// lockFiles are the lock files of each tool's package managers.
var lockFiles = map[string][]string{
	"go": {"go.sum"}, "npm": {"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock",
		"bun.lockb"},
	"cargo": {"Cargo.lock"}, "pip": {"poetry.lock", "uv.lock", "pdm.lock"},
}

// LockOf is the lock file that holds a manifest's dependencies: beside it or
// in a directory above.
func (p *Project) LockOf(m *Manifest) *File {
	names := lockFiles[m.Tool]
	if m.Tool == "pip" && m.File.Base != "pyproject.toml" {
		return nil
	}
	for dir := m.File.Dir; ; dir = path.Dir(dir) {
		for _, n := range names {
			if f := p.byPath[path.Join(dir, n)]; f != nil {
				return f
			}
		}
		if dir == "." || m.Tool == "go" {
			return nil
		}
	}
}

// Unlocked lists what a manifest asks for and its lock file does not know. What
// this tree holds itself need not stand there.
func (p *Project) Unlocked(m *Manifest) []Fault {
	return slices.DeleteFunc(p.faults(m), func(f Fault) bool {
		return slices.ContainsFunc(p.Manifests(), func(o *Manifest) bool {
			return o.Tool == m.Tool && o.Name.Text == f.Dep.Name
		})
	})
}

func (p *Project) faults(m *Manifest) []Fault {
	lock := p.LockOf(m)
	if lock == nil || !lock.Read || slices.ContainsFunc(lockFiles[m.Tool], func(n string) bool {
		return n != lock.Base && p.names[path.Join(lock.Dir, n)] // whose lock is kept?
	}) {
		return nil
	}
	switch {
	case lock.Base == "go.sum":
		return slices.DeleteFunc(goSum(m, lock), func(f Fault) bool { return p.replacedInWork(f.Dep.Name) })
	case lock.Base == "package-lock.json":
		return packageLock(m, lock)
	case lock.Base == "yarn.lock":
		return byName(m, lock, func(d Dep) bool {
			return strings.Contains(lock.Text, "\n"+d.Name+"@") || strings.Contains(lock.Text, `"`+d.Name+"@") ||
				strings.Contains(lock.Text, " "+d.Name+"@")
		})
	case lock.Base == "pnpm-lock.yaml":
		return byName(m, lock, func(d Dep) bool { return strings.Contains(lock.Text, d.Name) })
	case lock.Base == "Cargo.lock":
		return cargoLock(m, lock)
	case lock.Base == "poetry.lock" || lock.Base == "uv.lock" || lock.Base == "pdm.lock":
		known := map[string]bool{}
		for _, n := range lockedName.FindAllStringSubmatch(lock.Text, -1) {
			known[Normal(n[1])] = true
		}
		return byName(m, lock, func(d Dep) bool { return known[Normal(d.Name)] || d.Scope == Build })
	}
	return nil
}

var lockedName = pattern.New(`(?m)^name = "([^"]+)"`)

// Normal is a Python package's name as it is compared.
func Normal(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "-", ".", "-").Replace(name))
}

func byName(m *Manifest, lock *File, known func(Dep) bool) []Fault {
	var out []Fault
	for _, d := range m.Deps {
		if !d.Elsewhere && d.Scope != Peer && d.Scope != Managed && !known(d) {
			out = append(out, Fault{Lock: lock, Dep: d})
		}
	}
	return out
}

func goSum(m *Manifest, lock *File) []Fault {
	return byName(m, lock, func(d Dep) bool {
		return d.Group == "tool" || strings.HasPrefix(lock.Text, d.Name+" "+d.Want) || strings.Contains(lock.Text,
			"\n"+d.Name+" "+d.Want)
	})
}

// replacedInWork says that a workspace decides where a module comes from: by a
// line of its own, or because the module lies in this tree.
func (p *Project) replacedInWork(module string) bool {
	if f := p.byPath["go.work"]; f == nil {
		return false
	} else if !f.Read || strings.Contains(f.Text, module+" ") {
		return true
	}
	return slices.ContainsFunc(p.Manifests(), func(m *Manifest) bool { return m.Tool == "go" && m.Name.Text == module })
}

func packageLock(m *Manifest, lock *File) []Fault {
	root := readJSON(lock.Text)
	if root == nil {
		return nil
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(m.File.Dir, lock.Dir), "/")
	if m.File.Dir == lock.Dir || m.File.Dir == "." {
		rel = ""
	}
	own := root.get("packages", rel)
	if own == nil {
		if root.get("packages") != nil {
			return nil
		}
		return byName(m, lock, func(d Dep) bool { return root.get("dependencies", d.Name) != nil })
	}
	var out []Fault
	for _, d := range m.Deps {
		if d.Elsewhere {
			continue
		}
		group := d.Group
		have := own.get(group, d.Name)
		if have == nil {
			for _, g := range npmGroups {
				if h := own.get(g.key, d.Name); h != nil {
					have = h
				}
			}
		}
		switch {
		case have == nil:
			out = append(out, Fault{Lock: lock, Dep: d})
		case have.text != d.Want && have.text != "":
			out = append(out, Fault{Lock: lock, Dep: d, Have: have.value()})
		}
	}
	return out
}

func cargoLock(m *Manifest, lock *File) []Fault {
	known := map[string]bool{}
	for _, n := range lockedName.FindAllStringSubmatch(lock.Text, -1) {
		known[n[1]] = true
	}
	if m.Name.Text != "" && !known[m.Name.Text] {
		return nil // of another workspace
	}
	return byName(m, lock, func(d Dep) bool { return known[d.Name] })
}

// IsApplication says that a manifest describes something to be run, not a
// library for others: only where that can be told.
func (p *Project) IsApplication(m *Manifest) bool {
	switch m.Tool {
	case "npm":
		return m.Private && !slices.ContainsFunc(p.manifests, func(o *Manifest) bool {
			return o != m && o.Tool == "npm" &&
				o.Workspace
		})
	case "cargo":
		return p.names[path.Join(m.File.Dir, "src/main.rs")] && !p.names[path.Join(m.File.Dir, "src/lib.rs")]
	}
	return false
}

// Ignored says whether the project keeps a name out of its repository: such a
// file may be made by a build, and its absence says nothing.
func (p *Project) Ignored(at string) bool {
	parts := strings.Split(path.Clean(at), "/")
	for depth := range parts {
		dir := path.Join(append([]string{"."}, parts[:depth]...)...)
		f := p.byPath[path.Join(dir, ".gitignore")]
		if f == nil || !f.Read {
			continue
		}
		for _, line := range Lines(f.Text) {
			pattern := strings.TrimSpace(line)
			if pattern == "" || pattern[0] == '#' || pattern[0] == '!' {
				continue
			}
			if ignores(strings.TrimPrefix(strings.TrimSuffix(pattern, "/"), "**/"), parts[depth:]) {
				return true
			}
		}
	}
	return false
}

func ignores(pattern string, parts []string) bool {
	pattern = strings.TrimSuffix(pattern, "/*")
	if rooted := strings.TrimPrefix(pattern, "/"); strings.Contains(rooted, "/") || rooted != pattern {
		for n := range parts {
			if ok, _ := path.Match(rooted, strings.Join(parts[:n+1], "/")); ok {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(parts, func(s string) bool { ok, _ := path.Match(pattern, s); return ok })
}
