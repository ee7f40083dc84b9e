package offline

import (
	"strings"
	"testing"
)

// TestQuiet: sound trees of which a rule once said something false.
func TestQuiet(t *testing.T) {
	const ci = ".github/workflows/ci.yml"
	exported := strings.Repeat("\nfunc F() {}\n", 9)
	for _, c := range []struct {
		name  string
		rule  rule
		files map[string]string
	}{
		{"an action that an earlier step checks out", deadSteps, map[string]string{"a.txt": "x\n",
			ci: "steps:\n- uses: actions/checkout@v4\n  with:\n    path: tools\n- uses: ./tools\n"}},
		{"an action within what is checked out", deadSteps, map[string]string{"tools/a.txt": "x\n",
			ci: "- uses: actions/checkout@v4\n  with:\n    path: ./tools # ours\n- uses: ./tools/lint\n"}},
		{"an action of another repository", deadSteps, map[string]string{"tools/a.txt": "x\n",
			ci: "- uses: actions/checkout@v4\n  with:\n    repository: a/b\n- uses: ./tools/lint\n"}},
		{"a target that matches every name", deadSteps, map[string]string{"Makefile": "all:\n\tx\n\n%:\n\t./do $@\n",
			ci: "- run: make lint\n"}},
		{"a rule for all that has none", deadSteps, map[string]string{"Makefile": "all:\n\tx\n\n.DEFAULT:\n\t./do $@\n",
			ci: "- run: make lint\n"}},
		{"flags before the name of a script", deadSteps, map[string]string{
			"package.json": "{\"scripts\": {\"build\": \"x\"}}\n",
			ci:             "- run: npm run -s build\n- run: npm run --prefix web lint\n- run: npm run lint --if-present\n"}},
		{"a replacement before what it replaces", unlocked, map[string]string{
			"go.mod": "module m\n\nreplace x.example/y => ../y\n\nrequire x.example/y v0.0.0\n", "go.sum": "\n"}},
		{"a replacement that is not there", unlocked, map[string]string{
			"go.mod": "module m\n\nrequire (\n\tx.example/y v0.0.0\n)\n\nreplace (\n\tx.example/y => ./gone\n)\n",
			"go.sum": "\n"}},
		{"a module of the workspace", unlocked, map[string]string{"go.work": "go 1.24\n\nuse (\n\t.\n\t./y\n)\n",
			"go.mod": "module m\n\nrequire x.example/y v0.0.0\n", "go.sum": "\n", "y/go.mod": "module x.example/y\n"}},
		{"the name of a package in a text", retiredAPI, map[string]string{
			"a.go": "package a\n\nvar list = `\nimport \"io/ioutil\"\n`\n\nvar more = f(\n\t\"io/ioutil\"" + `+"",` + "\n)\n",
			"b.go": "package a\n\nvar x = []string{\"x\",\n\t\"io/ioutil\"}\n\nconst y = \"strings.Title(\"\n"}},
		{"a Go without what takes its place", retiredAPI, map[string]string{"go.mod": "module m\n\ngo 1.15\n",
			"a.go": "package a\n\nimport \"io/ioutil\"\n"}},
		{"a source for an older Go", retiredAPI, map[string]string{"go.mod": "module m\n\ngo 1.21\n",
			"a.go": "//go:build !go1.16 && linux\n\npackage a\n\nimport \"io/ioutil\"\n"}},
		{"another package of the name", retiredAPI, map[string]string{
			"a.go": "package a\n\nimport \"x.example/rand\"\n\nfunc init() { rand.Seed(1) }\n"}},
		{"a step in a directory with its own manifest", olderMachine, map[string]string{
			"go.mod": "module m\n\ngo 1.23\n", "web/go.mod": "module web\n\ngo 1.20\n",
			ci: "- with:\n    go-version: '1.20'\n- run: go test ./...\n  working-directory: ./web\n"}},
		{"a step in a directory that is filled in", olderMachine, map[string]string{"go.mod": "module m\n\ngo 1.23\n",
			ci: "- with:\n    go-version: '1.20'\n- run: go test ./...\n  working-directory: ${{ matrix.dir }}\n"}},
		{"a package comment that ends in a directive", unexplained, map[string]string{
			"a/a.go": "// Package a is one.\n//\n//go:generate x\npackage a\n" + exported}},
		{"a package comment that is cut off", unexplained, map[string]string{
			"a/a.go": "// Copyright.\n\n// Package a is one.\n\npackage a\n" + exported}},
		{"marks that are none", leftOpen, map[string]string{
			"README.md": "# X\n\n??? note \"More\"\n\nThe bytes to be written are counted before the file is to be written.\n" +
				"Copyright [yyyy] [name of copyright owner]\n\nClone <your fork> and see [add a plugin].\n"}},
		{"names with a day", gapInSeries, map[string]string{"n/2024-01-05.md": "x\n", "n/2024-02-05.md": "x\n",
			"n/2024-04-05.md": "x\n", "n/2024-05-05.md": "x\n", "n/2024-06-05.md": "x\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := told(t, c.rule, c.files, ""); got != "" {
				t.Errorf("of a sound tree it says: %s", got)
			}
		})
	}
}

// TestTold: what a finding says of a tree, and what it must not say.
func TestTold(t *testing.T) {
	const ci = ".github/workflows/ci.yml"
	mod := "module m\n\ngo 1.21\n\nrequire github.com/mitchellh/go-homedir v1.1.0\n"
	use := "package m\n\nimport \"github.com/mitchellh/go-homedir\"\n\nvar _, _ = homedir."
	for _, c := range []struct {
		name    string
		rule    rule
		files   map[string]string
		yes, no string
	}{
		{"two steps of a family", retiredImage, map[string]string{
			ci: "- uses: actions/upload-artifact@v3\n- uses: actions/download-artifact@v2\n"}, "at `" + ci + ":1`", "2 places"},
		{"a call that Go has given up", retiredAPI, map[string]string{"go.mod": "module m\n\ngo 1.20\n",
			"a.go": "package a\n\nimport r \"math/rand\"\n\nfunc init() { r.Seed(1) }\n"}, "`a.go:5`", "`a.go:3`"},
		{"a directory without a manifest", olderMachine, map[string]string{"go.mod": "module m\n\ngo 1.23\n",
			"web/a.go": "package web\n",
			ci:         "- with:\n    go-version: '1.20'\n- working-directory: web\n"}, "Go 1.20", "Go 1.23 "},
		{"only the home directory", retiredDependency, map[string]string{"go.mod": mod, "a.go": use + "Dir()\n"},
			"os.UserHomeDir", "Expand"},
		{"more than the home directory", retiredDependency, map[string]string{"go.mod": mod,
			"a.go": use + "Expand(\"~\")\n"}, "archived.", "os.UserHomeDir"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := told(t, c.rule, c.files, "")
			if !strings.Contains(got, c.yes) || strings.Contains(got, c.no) {
				t.Errorf("it has to say %q and not %q:\n%s", c.yes, c.no, got)
			}
		})
	}
}
