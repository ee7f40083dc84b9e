package offline

import (
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"conclave/internal/project"
)

// sightOf sees a tree as on a day that never passes.
func sightOf(t testing.TB, files map[string]string, log string) (*sight, fs.FS) {
	t.Helper()
	tree := mapFS(files)
	p, err := project.Open(tree, usual.project(), func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return newSight(p, readHistory(log), time.Date(2026, 6, 15, 0, 0, 0, 0, time.UTC)), tree
}

// told is what a rule finds, one finding a line; its citations have to be true.
func told(t testing.TB, r rule, files map[string]string, log string) string {
	t.Helper()
	s, tree := sightOf(t, files, log)
	room := fstest.MapFS{historyFile: {Data: []byte(log)}}
	var out []string
	for _, f := range r(s) {
		for _, c := range f.cites {
			if err := c.verify(tree, room); err != nil {
				t.Errorf("%s: %v", f.text, err)
			}
		}
		if f.subject == "" || f.step == "" || f.cost == "" || f.saves == "" || f.weight == 0 || len(f.cites) == 0 {
			t.Errorf("a finding that says too little: %+v", f)
		}
		out = append(out, f.subject+": "+f.text)
	}
	return strings.Join(out, "\n")
}

// ruleCase is a tree with a fault that a rule has to see, and files that make
// the tree sound: with them the rule has to be silent.
type ruleCase struct {
	name  string
	rule  rule
	files map[string]string
	log   string
	want  []string
	sound map[string]string
}

const goMain = "package main\n\nfunc main() {}\n"

func ruleCases() []ruleCase {
	return []ruleCase{
		{"a dead link", deadLinks,
			map[string]string{"README.md": "# X\n\nSee [the guide](docs/guide.md) and [y](https://y.example/z.md).\n",
				"docs/other.md": "x\n"}, "",
			[]string{"`docs/guide.md`", "`README.md:3`"}, map[string]string{"docs/guide.md": "x\n"}},
		{"a link in another case", deadLinks,
			map[string]string{"README.md": "[x](Docs/Guide.md)\n", "docs/guide.md": "x\n"}, "",
			[]string{"spells it `docs/guide.md`"}, map[string]string{"README.md": "[x](docs/guide.md)\n"}},
		{"a link in a fence, to a build's output, to a credential", deadLinks,
			map[string]string{"README.md": "```\n[x](no.md)\n```\n`[y](no.md)` [z](dist/x.js) [e](.env) [k](vendor/x/y.md) " +
				"[q](gone.md)\n", "vendor/x/z.go": "package x\n"}, "",
			[]string{"A link leads", "`gone.md`"}, map[string]string{"gone.md": "x"}},
		{"a contents page without its chapter", deadEntries,
			map[string]string{"docs/index.rst": "T\n=\n\n.. toctree::\n   :maxdepth: 2\n\n   intro\n   setup\n",
				"docs/intro.rst": "x\n", "docs/conf.py": "x = 1\n"}, "",
			[]string{"`docs/setup`", "`docs/index.rst:8`"}, map[string]string{"docs/setup.rst": "x\n"}},
		{"links to one file", deadLinks,
			map[string]string{"README.md": "[x](gone.md)\n\n[y](gone.md)\n"}, "",
			[]string{"At least 2 links lead to one file that is not in the tree, `gone.md`; the first: `README.md:1`"},
			map[string]string{"README.md": "[x](logo.png)\n", "site/static/logo.png": "x"}},
		{"addresses of a site", deadLinks,
			map[string]string{"docs/a.md": "[x](v1.2/) [y](gone.md)\n", "mkdocs.yml": "site_name: x\n"}, "",
			[]string{"A link leads", "`docs/gone.md`"}, map[string]string{"gatsby-config.js": "x\n"}},
		{"a program that the reader writes", deadCommands,
			map[string]string{"README.md": "```sh\n./x.js\n```\n", "a.js": "x\n"}, "", []string{"`x.js`"},
			map[string]string{"README.md": "```js\n#!/usr/bin/env node\n```\n\n```sh\n./x.js\n```\n"}},
		{"a heading alone", emptyWork,
			map[string]string{"a.md": "# A\n\n"}, "", []string{"`a.md:1`"},
			map[string]string{"a.md": "# A\n\n```\nx\n```\n", "b.md": "# B\n\n## C\n"}},
		{"no test at all", noTests, sixSources(), "", []string{"Among 6 source files", "`a5.js:62`"},
			map[string]string{"package.json": `{"scripts":{"test":"node test/all.js"}}`}},
		{"the tasks of one heading", nearlyDone,
			map[string]string{"p.md": "# A\n\n- [x] a\n- [x] b\n- [x] c\n- [ ] the last\n\n# B\n\n- [ ] one\n"}, "",
			[]string{"3 of 4 tasks in one list", "`p.md:6`"},
			map[string]string{"p.md": "# Roadmap\n\n## 1.0\n\n- [x] a\n- [x] b\n- [x] c\n- [ ] d more\n\n# B\n\n" +
				"- [x] a\n\n# C\n\n- [x] b\n- [x] c\n- [ ] d more\n"}},
		{"a skipped test whose function says why", skippedTests,
			map[string]string{"a_test.go": "package a\n\nfunc TestX(t *testing.T) {\n\tt.Skip()\n}\n",
				"test_b.py": "@pytest.mark.skip\ndef test_b():\n    pass\n"}, "", []string{"`a_test.go:4`", "`test_b.py:1`"},
			map[string]string{"a_test.go": "package a\n\n// TestX needs a network.\nfunc TestX(t *testing.T) {\n" +
				"\tt.Parallel()\n\tt.Skip()\n}\n",
				"test_b.py": "@pytest.mark.skip\ndef test_b():\n    \"\"\"Fails on Windows.\"\"\"\n    pass\n"}},
		{"a package that enters through what is built", unusedPackage,
			map[string]string{"package.json": "{\n\"main\": \"a.js\",\n\"dependencies\": {\n\"left-pad\": \"1\"\n}}\n",
				"a.js": "x\n"}, "", []string{"left-pad", "`package.json:4`"},
			map[string]string{"package.json": "{\n\"main\": \"dist/a.js\",\n\"dependencies\": {\n\"left-pad\": \"1\"\n}}\n"}},
		{"two versions in one document", olderPromise,
			map[string]string{"package.json": "{\n\"engines\": {\"node\": \">=18\"}\n}\n", "README.md": "Node 14+.\n"}, "",
			[]string{"Node 14"}, map[string]string{"README.md": "Version 2 wants Node 14+.\n\nIt needs Node.js 18.\n"}},
		{"a target that is not there", deadCommands,
			map[string]string{"README.md": "Build:\n\n```sh\n$ make dist\n```\n", "Makefile": "all: x\n\tgo build\n"}, "",
			[]string{"make dist", "has a target `dist`"}, map[string]string{"Makefile": "all: x\ndist:\n\tgo build\n"}},
		{"a script that is not there", deadCommands,
			map[string]string{"CONTRIBUTING.md": "```\nnpm run lint\n```\n",
				"package.json": `{"name":"x","scripts":{"test":"jest"}}`, ".gitignore": "x\n"}, "",
			[]string{"npm run lint"},
			map[string]string{"package.json": `{"name":"x","scripts":{"test":"jest","lint":"eslint"}}`}},
		{"a version without an entry", missingEntry,
			map[string]string{"package.json": "{\n \"name\": \"x\",\n \"version\": \"2.4.0\"\n}\n",
				"CHANGELOG.md": "# Changes\n\n## 2.3.1\n\n- x\n\n## 2.3.0\n"}, "",
			[]string{"2.3.1", "none for 2.4.0", "`package.json:3`", "`CHANGELOG.md:3`"},
			map[string]string{"CHANGELOG.md": "## 2.4.0\n\n## 2.3.1\n"}},
		{"a README with an old version", ownVersion,
			map[string]string{"Cargo.toml": "[package]\nname = \"tide\"\nversion = \"0.9.2\"\n",
				"README.md": "```toml\n[dependencies]\ntide = \"0.7\"\n```\n"}, "",
			[]string{"0.7", "0.9.2"}, map[string]string{"README.md": "tide = \"0.9\"\n"}},
		{"a promise that the manifest breaks", olderPromise,
			map[string]string{"pyproject.toml": "[project]\nname = \"x\"\nrequires-python = \">=3.10\"\n",
				"README.md": "Works with Python 3.8 or later.\n"}, "",
			[]string{"Python 3.8", "`pyproject.toml:3`"}, map[string]string{"README.md": "Works with Python 3.10+.\n"}},
		{"an anchor to nothing", deadAnchors,
			map[string]string{"README.md": "[x](#set-up)\n\n# Use\n"}, "", []string{"`#set-up`"},
			map[string]string{"README.md": "[x](#set-up)\n\n## Set up\n"}},
		{"a missing chapter", gapInSeries,
			map[string]string{"ch/01-a.md": "# a\n", "ch/02-b.md": "# b\n", "ch/04-d.md": "# d\n", "ch/05-e.md": "# e\n"}, "",
			[]string{"no number 3", "`ch/02-b.md:1`"}, map[string]string{"ch/03-c.md": "# c\n"}},
		{"more chapters than there are", countedParts,
			map[string]string{"README.md": "A novel in four chapters.\n", "chapters/01-a.md": "# a\n",
				"chapters/02-b.md": "# b\n", "chapters/03-c.md": "# c\n"}, "",
			[]string{"four chapters", "holds 3"}, map[string]string{"chapters/04-d.md": "# d\n"}},
		{"a blank to be filled", leftOpen,
			map[string]string{"plan.md": "# Plan\n\nThe hall: TBD. Ring [insert name].\n"}, "", []string{"`plan.md:3`"},
			map[string]string{"plan.md": "# Plan\n\nThe hall: St Mary's.\n"}},

		{"a merge that was not settled", unsettledMerge,
			map[string]string{"a.go": "package a\n<<<<<<< HEAD\nvar x = 1\n=======\nvar x = 2\n>>>>>>> topic\n"}, "",
			[]string{"`a.go:2`", "`a.go:6`"}, map[string]string{"a.go": "package a\n\nvar x = 1\n"}},
		{"a test that runs alone", focusedTests,
			map[string]string{"a.test.ts": "describe('x', () => {\n  it.only('y', () => {})\n  it('z', () => {})\n})\n"}, "",
			[]string{"`a.test.ts:2`"}, map[string]string{"a.test.ts": "it('y', () => {})\n"}},
		{"a swallowed exception", swallowed,
			map[string]string{"a.py": "def f():\n    try:\n        g()\n    except Exception:\n        pass\n    return 1\n"},
			"", []string{"`a.py:4`"},
			map[string]string{"a.py": "try:\n    import x\nexcept ImportError:\n    pass\ntry:\n    g()\nexcept Exception:\n   " +
				" pass  # g says so itself\ntry:\n    g()\nexcept Exception:\n    # why\n    pass\n"}},
		{"a swallowed exception in Java", swallowed,
			map[string]string{"src/main/java/A.java": "class A { void f() {\n  try { g(); } catch (IOException e) {\n  }\n} " +
				"}\n"}, "", []string{"`src/main/java/A.java:2`"},
			map[string]string{"src/main/java/A.java": "class A { void f() {\n  try { g(); } catch (IOException ignored) {\n  " +
				"}\n  try { g(); } catch (NumberFormatException e) {\n  }\n} }\n",
				"b.js": "try { f() } catch (e) {}\n"}},
		{"a text that is executed", unchecked,
			map[string]string{"a.py": "import yaml\nx = yaml.load(text)\n"}, "", []string{"`a.py:2`"},
			map[string]string{"a.py": "import yaml\nx = yaml.load(text, Loader=L)\n"}},
		{"tests without a reason to be skipped", skippedTests,
			map[string]string{"a_test.go": "package a\n\nfunc TestX(t *testing.T) {\n\tt.Skip()\n}\n",
				"tests/test_b.py": "import pytest\n\n@pytest.mark.skip\ndef test_b():\n    pass\n",
				"c.test.js":       "it.skip('c', () => {})\n", "tests/d.rs": "#[test]\n#[ignore]\nfn d() {}\n",
				"src/test/java/ETest.java": "class ETest {\n  @Disabled\n  @Test void e() {}\n}\n"}, "",
			[]string{"at least 5 places of 5 files", "`a_test.go:4`"},
			map[string]string{"a_test.go": "package a\n\nfunc TestX(t *testing.T) {\n\tif testing.Short() " +
				"{\n\t\tt.Skip()\n\t}\n}\n", "tests/test_b.py": "@pytest.mark.skip(reason=\"x\")\ndef test_b():\n    pass\n",
				"c.test.js":                "// flaky on Windows\nit.skip('c', () => {})\n",
				"tests/d.rs":               "/// Ignored: needs the network.\n#[test]\n#[ignore]\nfn d() {}\n",
				"src/test/java/ETest.java": "class ETest {\n  // slow\n  @Disabled\n  @Test void e() {}\n}\n"}},
		{"a member that is not there", brokenNames,
			map[string]string{"Cargo.toml": "[workspace]\nmembers = [\n  \"a\",\n  \"b\",\n]\n",
				"a/Cargo.toml": "[package]\nname = \"a\"\n"}, "",
			[]string{"workspace member", "`Cargo.toml:4`"}, map[string]string{"b/Cargo.toml": "[package]\nname = \"b\"\n"}},
		{"a default that is shared", sharedDefault,
			map[string]string{"a.py": "def f(x, seen=[]):\n    seen.append(x)\n    return seen\n"}, "", []string{"`f`",
				"`a.py:1`"},
			map[string]string{"a.py": "def f(x, seen=[]):\n    return x in seen\n\n\ndef g(x, seen=[]):\n    seen = " +
				"list(seen)\n    seen.append(x)\n"}},

		{"a package that a step names is gone", deadSteps,
			map[string]string{"go.mod": "module m\n", "a/a.go": "package a\n",
				".github/workflows/ci.yml": "jobs:\n  t:\n    steps:\n      - run: go vet ./... || true\n      - run: go test ./gone/...\n"},
			"", []string{"there is no `gone`"}, map[string]string{"gone/x.go": "package gone\n"}},
		{"a step without its script", deadSteps,
			map[string]string{".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n      - run: ./scripts/check.sh\n",
				"scripts/build.sh": "x\n"}, "",
			[]string{"`scripts/check.sh`", "`.github/workflows/ci.yml:4`"}, map[string]string{"scripts/check.sh": "x\n"}},
		{"a pipeline with an older Go", olderMachine,
			map[string]string{"go.mod": "module m\n\ngo 1.23\n",
				".github/workflows/ci.yml": "steps:\n  - uses: actions/setup-go@v5\n    with:\n      go-version: '1.21'\n"}, "",
			[]string{"Go 1.21", "`go.mod:3`", "`.github/workflows/ci.yml:4`"},
			map[string]string{".github/workflows/ci.yml": "      go-version: '1.23.x'\n"}},
		{"a matrix with a Python that is refused", olderMachine,
			map[string]string{"pyproject.toml": "[project]\nrequires-python = \">=3.9\"\n",
				".github/workflows/ci.yml": "matrix:\n  python-version:\n    - '3.8'\n    - '3.9'\n"}, "",
			[]string{"Python 3.8", "`.github/workflows/ci.yml:3`"},
			map[string]string{".github/workflows/ci.yml": "  python-version: ['3.9', '3.10']\n"}},
		{"an image with an older Node", olderMachine,
			map[string]string{"package.json": "{\n\"engines\": {\"node\": \">=20\"}\n}\n",
				"Dockerfile": "FROM node:18-alpine\n"}, "",
			[]string{"Node 18", "`Dockerfile:1`"}, map[string]string{"Dockerfile": "FROM node:20-alpine\n"}},
		{"a version read as a number", readAsNumber,
			map[string]string{".github/workflows/ci.yml": "python-version: [3.9, 3.10]\n"}, "", []string{"number 3.1"},
			map[string]string{".github/workflows/ci.yml": "python-version: [3.9, \"3.10\"]\n"}},
		{"a machine that is no more", retiredImage,
			map[string]string{".github/workflows/ci.yml": "jobs:\n  a:\n    runs-on: ubuntu-20.04\n"}, "",
			[]string{"ubuntu-20.04"}, map[string]string{".github/workflows/ci.yml": "    runs-on: ubuntu-24.04\n"}},
		{"a note whose day has passed", overdueNote,
			map[string]string{"a.go": "package a\n\n// TODO: remove after 2024-03-01\nvar x = 1\n"}, "",
			[]string{"2024-03-01", "`a.go:3`"},
			map[string]string{"a.go": "package a\n\n// TODO: remove after 2031-03-01\n// FIXME: broken with nightly " +
				"2022-08-02\n// TODO(ann, 2020-01-01): think\nvar x = 1\n"}},
		{"a removal whose version has come", overdueVersion,
			map[string]string{"package.json": "{\n\"version\": \"3.1.0\"\n}\n",
				"a.js": "// deprecated: will be removed in 3.0\nexport function old() {}\n"}, "", []string{"3.0", "`a.js:1`",
				"`package.json:2`"},
			map[string]string{"a.js": "// will be removed in 4.0; workaround to be removed in Node 12.0\n"}},
		{"a task whose day has passed", overdueTask,
			map[string]string{"plan.md": "- [x] a (2024-01-01)\n- [ ] Ring the hall (3 May 2025)\n- [ ] Pay (3 May 2036)\n"},
			"", []string{"3 May 2025", "`plan.md:2`"},
			map[string]string{"plan.md": "- [x] Ring the hall (3 May 2025)\n",
				".github/ISSUE_TEMPLATE/x.md": "- [ ] by 2020-01-01\n"}},
		{"a day that is another one", wrongDay,
			map[string]string{"plan.md": "We meet on Friday 13 June 2026.\n"}, "", []string{"13 June 2026 is a Saturday"},
			map[string]string{"plan.md": "We meet on Saturday 13 June 2026.\n"}},
		{"a classifier that is refused", statedVersions,
			map[string]string{"pyproject.toml": "[project]\nrequires-python = \">=3.9\"\nclassifiers = [\n  \"Programming " +
				"Language :: Python :: 3.8\",\n]\n"}, "",
			[]string{"Python 3.8", "`pyproject.toml:4`"},
			map[string]string{"pyproject.toml": "[project]\nrequires-python = \">=3.9\"\nclassifiers = [\"Programming " +
				"Language :: Python :: 3.9\"]\n"}},

		{"entries that wait", waitingEntries,
			map[string]string{"CHANGELOG.md": "# Log\n\n## Unreleased\n\n- a\n- b\n- c\n\n## 1.0.0 (2025-03-01)\n\n- d\n"}, "",
			[]string{"3 changes wait", "`CHANGELOG.md:5`", "1 March 2025"},
			map[string]string{"CHANGELOG.md": "# Log\n\n## Unreleased\n\n- a\n- b\n- c\n\n## 1.0.0 (2026-05-01)\n\n- d\n"}},
		{"nearly done", nearlyDone,
			map[string]string{"plan.md": "- [x] a\n- [x] b\n- [x] c\n- [ ] the last one\n"}, "", []string{"3 of 4",
				"`plan.md:4`"}, map[string]string{"plan.md": "- [x] a\n- [ ] b\n- [ ] c\n"}},

		{"a lock file that is behind", unlocked,
			map[string]string{"package.json": "{\"dependencies\": {\n\"a\": \"^2.0.0\"\n}}\n",
				"package-lock.json": "{\"lockfileVersion\": 3, \"packages\": {\"\": {\"dependencies\": {\n\"a\": " +
					"\"^1.0.0\"\n}}}}\n"}, "",
			[]string{"another range", "`package.json:2`", "`package-lock.json:2`"},
			map[string]string{"package.json": "{\"dependencies\": {\"a\": \"^1.0.0\"}}\n"}},
		{"a lock file that does not know", unlocked,
			map[string]string{"go.mod": "module m\n\ngo 1.23\n\nrequire x.example/y v1.2.0\n",
				"go.sum": "x.example/y v1.1.0 h1:a\nx.example/y v1.1.0/go.mod h1:b\n"}, "",
			[]string{"x.example/y", "does not know it"},
			map[string]string{"go.sum": "x.example/y v1.2.0 h1:a\nx.example/y v1.2.0/go.mod h1:b\n"}},
		{"asked for twice", twiceDeclared,
			map[string]string{"package.json": "{\"dependencies\": {\n\"a\": \"^2.0.0\"},\n\"devDependencies\": {\n\"a\": " +
				"\"^1.0.0\"\n}}\n"}, "",
			[]string{"twice and differently", "`package.json:2`", "`package.json:4`"},
			map[string]string{"package.json": "{\"dependencies\": {\"a\": \"^2.0.0\"}, \"peerDependencies\": {\"a\": " +
				"\">=1\"}}\n"}},
		{"a pin that the package refuses", twiceDeclared,
			map[string]string{"pyproject.toml": "[project]\nname = \"x\"\ndependencies = [\n  \"flask>=3\",\n]\n",
				"requirements.txt": "flask==2.1.0\n"}, "",
			[]string{"`requirements.txt:1`", "`pyproject.toml:4`"}, map[string]string{"requirements.txt": "flask==3.0.1\n"}},
		{"another licence", otherLicence,
			map[string]string{"package.json": "{\n\"name\": \"x\", \"license\": \"Apache-2.0\"\n}\n",
				"LICENSE": "MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a copy\n"}, "",
			[]string{"Apache-2.0", "that of MIT"}, map[string]string{"package.json": "{\"name\": \"x\", \"license\": " +
				"\"MIT\"}\n"}},
		{"a module that nobody imports", unusedModule,
			map[string]string{"go.mod": "module m\n\ngo 1.23\n\nrequire (\n\tx.example/y v1.2.0\n\tx.example/z v1.0.0 // " +
				"indirect\n)\n", "a.go": "package a\n\nimport _ \"fmt\"\n"}, "",
			[]string{"x.example/y", "`go.mod:6`"}, map[string]string{"a_test.go": "package a\n\nimport _ " +
				"\"x.example/y/sub\"\n"}},
		{"a package that nobody names", unusedPackage,
			map[string]string{"pyproject.toml": "[project]\nname = \"x\"\ndependencies = [\n  \"requests>=2\",\n  " +
				"\"PyYAML>=6\",\n]\n", "x/a.py": "import yaml\n"}, "",
			[]string{"requests", "`pyproject.toml:4`"}, map[string]string{"x/a.py": "import yaml, requests\n"}},
		{"no go.sum", noLock,
			map[string]string{"go.mod": "module m\n\ngo 1.23\n\nrequire x.example/y v1.2.0\n", "a.go": "package a\n"}, "",
			[]string{"`go.sum`"}, map[string]string{"go.sum": "x.example/y v1.2.0 h1:a\n"}},
		{"an application without a lock", noLock,
			map[string]string{"package.json": "{\"private\": true, \"dependencies\": {\n\"a\": \"^1.0.0\"\n}}\n",
				"a.js": "x\n"}, "", []string{"`package-lock.json`"}, map[string]string{"yarn.lock": "a@^1.0.0:\n"}},
		{"some that are not pinned", unpinned,
			map[string]string{"requirements.txt": "a==1\nb==2\nc==3\nd\n"}, "", []string{"pins 3 requirements",
				"`requirements.txt:4`"}, map[string]string{"requirements.txt": "a==1\nb==2\nc==3\nzensical==0.0.45\n"}},
		{"any version", anyVersion,
			map[string]string{"package.json": "{\"dependencies\": {\n\"a\": \"*\"\n}}\n"}, "", []string{"Any version"},
			map[string]string{"package.json": "{\"dependencies\": {\"a\": \"workspace:*\"}, \"peerDependencies\": {\"b\": " +
				"\"*\"}}\n"}},
		{"an image that moves", movingImage,
			map[string]string{"Dockerfile": "FROM golang:1.23 AS build\nFROM build\nFROM alpine\n"}, "", []string{"`alpine`",
				"`Dockerfile:3`"}, map[string]string{"Dockerfile": "FROM golang:1.23 AS build\nFROM build\nFROM scratch\n"}},
		{"a sum that is none", wrongSum,
			map[string]string{"budget.csv": "item,planned,spent\na,100,10\nb,200,20\ntotal,310,30\n"}, "",
			[]string{"adds up to 300", "says 310", "`budget.csv:4`"},
			map[string]string{"budget.csv": "item,planned,spent\na,100,10\nb,200,20\ntotal,300,30\n"}},
		{"a sum in a document", wrongSum,
			map[string]string{"m.md": "| what | £ |\n|---|---|\n| a | 1,000 |\n| b | 250.50 |\n| **Total** | **1,350.50** " +
				"|\n"}, "", []string{"adds up to 1250.50", "`m.md:5`"},
			map[string]string{"m.md": "| what | £ |\n|---|---|\n| a | 1,000 |\n| b | 250.50 |\n| **Total** | **1,250.50** " +
				"|\n"}},

		{"an owner of nothing", ownerless,
			map[string]string{"CODEOWNERS": "/ledger/ @mara\n/tide/ @joss\n*.go @all\n", "ledger/a.go": "package a\n"}, "",
			[]string{"`tide`", "`CODEOWNERS:2`"}, map[string]string{"tide/a.go": "package a\n"}},
		{"two lock files", twoLocks,
			map[string]string{"package-lock.json": "{}\n", "yarn.lock": "# x\n"}, "", []string{"`yarn.lock:1`"},
			map[string]string{"yarn.lock": ""}},
		{"two lock files, and one manager named", twoLocks,
			map[string]string{"package-lock.json": "{}\n", "pnpm-lock.yaml": "x: 1\n",
				"package.json": "{\n\"packageManager\": \"pnpm@11.3.0\"\n}\n"}, "",
			[]string{"`pnpm-lock.yaml:1`; the manifest names the manager, `package.json:2`"},
			map[string]string{"package-lock.json": ""}},
		{"several blanks", leftOpen,
			map[string]string{"plan.md": "Date: [Insert date]\n\nPlace: [Insert place]\n",
				"b.md": "Who: [fill in]\n\nWhat: [fill in]\n"},
			"", []string{"At least 4 places are still to be filled, among them `b.md:1`"}, nil},
		{"one hand over the whole", oneHand, map[string]string{"a/a.go": "package a\n", "a/b.go": "package a\n"},
			commits("a/a.go", "Mara", 60) + commits("a/a.go", "Joss", 5),
			[]string{"the whole project", "of the last 65 commits in the log 65 count here, and 60 of these are by Mara"}, nil},
		{"the same source twice", copied,
			map[string]string{"a/x.py": long("a"), "b/y.py": long("a")}, "", []string{"byte for byte"},
			map[string]string{"b/y.py": long("b")}},
		{"a row that nobody has", unowned,
			map[string]string{"plan.md": "| task | owner | status |\n|---|---|---|\n| hall | Mara | open |\n| cake | TBD | " +
				"open |\n| song | ? | done |\n"}, "", []string{"`plan.md:4`"},
			map[string]string{"plan.md": "| task | owner | status |\n|---|---|---|\n| hall | Mara | open |\n| cake | Joss | " +
				"open |\n"}},
		{"a flag that no source has", deadFlags,
			map[string]string{"go.mod": "module example.org/tide\n\ngo 1.24\n", "main.go": "package main\n\nfunc main() { flag.Bool(\"dry-run\", false, \"\") }\n", "README.md": "```sh\n$ tide --dry-run --moon-phase x\n```\n"}, "",
			[]string{"`--moon-phase`", "`README.md:2`"}, map[string]string{"README.md": "```sh\n$ tide --dry-run | grep --color\n```\n"}},
		{"a package that says nothing", unexplained,
			map[string]string{"a/a.go": "// Copyright.\n\npackage a\n" + strings.Repeat("\nfunc F() {}\n", 9)}, "", []string{"`a/`", "`a/a.go:3`"}, map[string]string{"a/doc.go": "// Package a is one.\npackage a\n"}},
		{"two set-ups", twoSetups,
			map[string]string{"setup.py": "setup(\n    install_requires=[\"MarkupSafe>=2.0\"],\n)\n", "setup.cfg": "[options]\ninstall_requires =\n    MarkupSafe>=2.1\n"}, "",
			[]string{"`setup.py:2`", "`setup.cfg:3`"}, map[string]string{"setup.cfg": "[options]\ninstall_requires = MarkupSafe>=2.0\n"}},
		{"a package that was given up", retiredDependency,
			map[string]string{"Cargo.toml": "[dependencies]\natty = \"0.2\"\n"}, "", []string{"atty", "`Cargo.toml:2`"}, map[string]string{"Cargo.toml": "[dependencies]\nserde = \"1\"\n"}},
		{"a store that is closed", closedStore,
			map[string]string{"build.gradle": "repositories {\n  jcenter()\n}\n"}, "", []string{"`build.gradle:2`"}, map[string]string{"build.gradle": "// jcenter() is closed\n"}},
		{"an old commit", oldCommit,
			map[string]string{"go.mod": "module m\n\ngo 1.24\n\nrequire golang.org/x/net " +
				"v0.0.0-20190707220628-8d4bc4ba7749\n"}, "", []string{"7 July 2019"},
			map[string]string{"go.mod": "module m\n\nrequire golang.org/x/net v0.1.0\n"}},
		{"a replacement in a program", replaced,
			map[string]string{"go.mod": "module m\n\ngo 1.24\n\nreplace a.example/b => c.example/b v1.0.0\n", "main.go": goMain}, "", []string{"`go.mod:5`", "`main.go:3`"}, map[string]string{"go.mod": "module m\n"}},
		{"what Go has given up", retiredAPI,
			map[string]string{"a.go": "package a\n\nimport \"io/ioutil\"\n"}, "", []string{"`a.go:3`"}, map[string]string{"a.go": "package a\n\n// \"io/ioutil\" was used here.\nvar x = map[string]bool{\n\t\"io/ioutil\": true,\n}\n"}},
		{"what Python has given up", retiredAPI,
			map[string]string{"a.py": "import distutils\n"}, "", []string{"`a.py:1`"}, map[string]string{"a.py": "try:\n    import distutils\nexcept ImportError:\n    pass\n"}},
		{"a step from a branch", branchActions,
			map[string]string{".github/workflows/ci.yml": "- uses: a/b@master\n"}, "", []string{"`a/b@master`"}, map[string]string{".github/workflows/ci.yml": "- uses: a/b@v1\n"}},
		{"the lowest version is not checked", lowestUnchecked,
			map[string]string{"pyproject.toml": "[project]\nrequires-python = \">=3.8\"\n", ".github/workflows/ci.yml": "python-version: [\"3.10\", \"3.11\"]\n"}, "", []string{"Python 3.8", "`.github/workflows/ci.yml:1`"},
			map[string]string{"tox.ini": "envlist = py38,py311\n"}},
		{"a function without an end", longFunction,
			map[string]string{"a.go": "package a\n\nfunc F() {\n" + strings.Repeat("\tif g() {\n\t\tg()\n\t}\n", 100) + "}\n"}, "", []string{"`a.go:3`", "302 lines"}, map[string]string{"a.go": "package a\n\nfunc F() {}\n" + strings.Repeat("// x\n", 300) + "\nfunc G() {\n" + strings.Repeat("\tg()\n", 300) + "}\n"}},
		{"a long function in Python", longFunction,
			map[string]string{"a.py": "def f(\n    x,\n):\n" + strings.Repeat("    if g():\n        g()\n\n", 100) + "\n\ndef h():\n    pass\n"}, "", []string{"`a.py:1`", "`a.py:302`", "302 lines"}, map[string]string{"a.py": "x = 1\n"}},
		{"rows in another form of document", deadLinks,
			map[string]string{"README.rst": "X\n=\n\n.. image:: docs/logo.png\n\n`the guide <docs/guide.rst>`_\n", "docs/logo.png": "x"}, "", []string{"`docs/guide.rst`", "`README.rst:6`"}, map[string]string{"docs/guide.rst": "x"}},
		{"a command without its module", deadEntryPoint,
			map[string]string{"pyproject.toml": "[project]\nname = \"x\"\n\n[project.scripts]\nx = \"x.cli:main\"\n", "x/__init__.py": ""}, "",
			[]string{"`pyproject.toml:5`"}, map[string]string{"x/cli.py": "def main():\n    pass\n"}},
		{"a command without its function", deadEntryPoint,
			map[string]string{"setup.cfg": "[options.entry_points]\nconsole_scripts =\n    x = x.cli:main\n", "x/cli.py": "def run():\n    pass\n"}, "",
			[]string{"`setup.cfg:3`", "`x/cli.py`"}, map[string]string{"x/cli.py": "def main():\n    pass\n"}},
		{"an entry that is not there", brokenNames,
			map[string]string{"package.json": "{\n\"main\": \"lib/server.js\"\n}\n", "lib/client.js": "x\n"}, "", []string{"`lib/server.js`"}, map[string]string{"lib/server.js": "x\n"}},
		{"an error in Rust", swallowed,
			map[string]string{"src/a.rs": "fn f() {\n    let a = 1;\n    if let Err(_) = g(a) {}\n}\n"}, "",
			[]string{"`src/a.rs:3`"},
			map[string]string{"src/a.rs": "fn f() {\n    // no matter\n    if let Err(_) = g() {}\n    match r {\n        " +
				"Ok(_) => {}\n        Err(_) => {}\n    }\n    r\n}\n"}},
		{"a directory that is not there, beside patterns that are no names", deadSteps,
			map[string]string{".github/workflows/ci.yml": "- run: go test ./...\n- run: go vet ./cmd/...\n- run: go build ./$X\n- run: go run ./cmd/gone\n", "cmd/a/main.go": goMain}, "",
			[]string{"`cmd/gone`", "`.github/workflows/ci.yml:4`"},
			map[string]string{".github/workflows/ci.yml": "- run: go test ./...\n- run: go test -race ./cmd/... ./...\n- run: ./scripts/$X.sh\n", "README.md": "x\n"}},
		{"a recipe without its script", deadSteps,
			map[string]string{"Makefile": "all:\n\t./scripts/gen.sh\n", "scripts/x.sh": "x\n"}, "", []string{"`Makefile:2`"}, map[string]string{"scripts/gen.sh": "x\n"}},
		{"a script of npm without its file", deadSteps,
			map[string]string{"package.json": "{\"scripts\": {\n\"build\": \"node scripts/build.js && tsc\"\n}}\n", "scripts/x.js": "x\n",
				".gitignore": "x\n"}, "", []string{"`package.json:2`"}, map[string]string{"scripts/build.js": "x\n"}},
		{"a copy of nothing", deadSteps,
			map[string]string{"Dockerfile": "FROM a:1\nCOPY requirements.txt /x/\nCOPY --from=b /y /z\n"}, "", []string{"`requirements.txt`"}, map[string]string{"requirements.txt": "x\n"}},
		{"an example that is not there", deadCommands,
			map[string]string{"README.md": "```\ncargo run --example tides\n```\n", "Cargo.toml": "[package]\nname = \"x\"\n"}, "", []string{"tides"}, map[string]string{"examples/tides.rs": "fn main() {}\n"}},
		{"a variable that nothing reads", deadVariables,
			map[string]string{"go.mod": "module example.org/tide\n", "main.go": "package main\n\nvar x = os.Getenv(\"TIDE_HOME\")\n", "README.md": "Set `TIDE_HOME` and TIDE_MOON_PHASE.\n"}, "", []string{"`TIDE_MOON_PHASE`"}, map[string]string{"README.md": "Set `TIDE_HOME`.\n"}},
		{"an older module", olderModule,
			map[string]string{"go.mod": "module example.org/tide/v3\n", "README.md": "```\ngo install example.org/tide/v2/cmd/x@latest\n```\n"}, "", []string{"`README.md:2`", "`go.mod:1`"}, map[string]string{"README.md": "```\ngo install example.org/tide/v3/cmd/x@latest\n```\n"}},
		{"a README with another licence", readmeLicence,
			map[string]string{"README.md": "# X\n\n## License\n\nApache 2.0\n", "LICENSE": "MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a copy\n"}, "", []string{"`README.md:5`", "that of MIT"}, map[string]string{"README.md": "# X\n\nReleased under the MIT License.\n"}},
		{"a licence in a pom", otherLicence,
			map[string]string{"pom.xml": "<project>\n<licenses>\n<license>\n<name>Apache License 2.0</name>\n</license>\n</licenses>\n</project>\n", "LICENSE": "Permission is hereby granted, free of charge, to any person obtaining a copy\n"}, "", []string{"`pom.xml:4`"}, map[string]string{"pom.xml": "<project>\n<licenses><license><name>The MIT License</name></license></licenses>\n</project>\n"}},
		{"two days for one thing", twoDays,
			map[string]string{"plan.md": "- [ ] The move itself (all, 13 August 2036)\n", "c.ics": "BEGIN:VEVENT\nDTSTART;VALUE=DATE:20360812\nSUMMARY:The move\nEND:VEVENT\n"}, "",
			[]string{"13 August 2036", "12 August 2036", "`c.ics:2`"}, map[string]string{"plan.md": "- [ ] The move itself (all, 12 August 2036)\n"}},
		{"two titles", otherTitle,
			map[string]string{"contents.md": contentsPage("Four"), "c/1.md": "# 1 · One more\n", "c/2.md": "# 2 · Two more\n", "c/3.md": "# 3 · Three more\n", "c/4.md": "# 4 · Five\n"}, "",
			[]string{"`contents.md:6`", "`c/4.md:1`"}, map[string]string{"contents.md": contentsPage("Five")}},
		{"a chapter that is not listed", unlistedPart,
			map[string]string{"contents.md": contentsPage("Four"), "c/1.md": "# 1\n", "c/2.md": "# 2\n", "c/3.md": "# 3\n", "c/4.md": "# 4\n", "c/5.md": "# 5\n"}, "",
			[]string{"`c/5.md`"}, map[string]string{"c/5.md": ""}},
		{"an amount that the table does not have", otherAmount,
			map[string]string{"money.md": "See [budget](budget.csv). The reserve of £1,720 is untouched.\n", "budget.csv": "item,planned\nroof,1400\nreserve,1620\ntotal,3020\n"}, "",
			[]string{"£1,720", "1620", "`budget.csv:3`"}, map[string]string{"money.md": "See [budget](budget.csv). The reserve of £1,620 is untouched; £32 over.\n"}},
		{"an age that cannot be", wrongAge,
			map[string]string{"people.md": "| name | born | in 1848 |\n|---|---|---|\n| Nell | 1836 | 11, then 12 |\n| Jory | 1803 | 48 |\n"}, "",
			[]string{"Jory", "44 or 45"}, map[string]string{"people.md": "| name | born | in 1848 |\n|---|---|---|\n| Jory | 1803 | 45 |\n"}},
		{"a box that nobody has", unowned,
			map[string]string{"plan.md": "- [x] a (Mara, 1 May 2026)\n- [x] b (Joss, 2 May 2026)\n- [ ] c (Mara, 1 May 2036)\n- [ ] d (all, 2 May 2036)\n- [ ] e (3 May 2036)\n"}, "",
			[]string{"`plan.md:5`"}, map[string]string{"plan.md": "- [ ] a (Mara, 1 May 2036)\n- [ ] b\n"}},
		{"one hand", oneHand,
			map[string]string{"ledger/a.go": "package a\n", "ledger/c.go": "package a\n", "tide/b.go": "package b\n",
				"tide/c.go": "package b\n"}, commits("ledger/a.go", "Mara", 14) +
				commits("tide/b.go", "Joss", 12) + commits("tide/b.go", "Mara", 6),
			[]string{"`ledger/`", "of the last 32 commits in the log 14 touch `ledger/`, and 14 of these are by Mara"}, nil},
		{"two that change together", changedTogether,
			map[string]string{"a/x.go": "package a\n", "b/y.go": "package b\n"},
			strings.Repeat("aaaa111 2026-02-20 Mara\n    x\n\nM\ta/x.go\nM\tb/y.go\n", 6),
			[]string{"of the last 6 commits", "`a/x.go` and `b/y.go`"}, nil},
		{"a target among computed paths", deadCommands,
			map[string]string{"BUILD.md": "```sh\nmake publish\n```\n", "Makefile": "all:\n\tx\n\ntarget/$(BIN): x\n\ty\n"}, "",
			[]string{"make publish"}, map[string]string{"Makefile": "all:\n\tx\n\n$(NAMES): x\n\ty\n"}},
		{"a list to install that is not there", deadSteps,
			map[string]string{"tox.ini": "[testenv]\ndeps = -r requirements/test.txt\n", "requirements/tests.txt": "x\n"}, "",
			[]string{"`requirements/test.txt`", "`tox.ini:2`"}, map[string]string{"requirements/test.txt": "x\n"}},
		{"a dependency on a branch", movingSource,
			map[string]string{"Cargo.toml": "[package]\nname = \"a\"\n\n[dependencies]\n" +
				"x = { git = \"https://x.example/x\", branch = \"main\" }\n"}, "", []string{"`Cargo.toml:5`"},
			map[string]string{"Cargo.toml": "[package]\nname = \"a\"\n\n[dependencies]\nx = { git = \"https://x.example/x\", " +
				"rev = \"abc\" }\n"}},
		{"a dependency of npm and of pip on a branch", movingSource,
			map[string]string{"package.json": "{\n\"dependencies\": {\n\"x\": \"own/x\"\n}}\n", ".gitignore": "x\n",
				"requirements.txt": "y==1\n"}, "", []string{"`package.json:3`"},
			map[string]string{"package.json": "{\n\"dependencies\": {\n\"x\": \"own/x#v1\"\n}}\n",
				"requirements.txt": "y @ git+https://x.example/y@v1\n"}},
		{"a release on a snapshot", unreleasedDependency,
			map[string]string{"pom.xml": "<project>\n<version>1.2</version>\n<dependencies><dependency>\n<groupId>a</groupId>\n" +
				"<artifactId>b</artifactId>\n<version>2.0-SNAPSHOT</version>\n</dependency></dependencies>\n</project>\n"}, "",
			[]string{"a:b", "`pom.xml:6`"},
			map[string]string{"pom.xml": "<project>\n<version>1.3-SNAPSHOT</version>\n<dependencies><dependency>\n" +
				"<groupId>a</groupId>\n<artifactId>b</artifactId>\n<version>2.0-SNAPSHOT</version>\n</dependency></dependencies>\n" +
				"</project>\n"}},
		{"what is to be written", unwritten,
			map[string]string{"src/a.rs": "fn f() {\n    todo!(\"x\")\n}\n"}, "", []string{"`src/a.rs:2`"},
			map[string]string{"src/a.rs": "// todo!() is gone\nfn f() {}\n\n#[cfg(test)]\nmod tests {\n    fn g() { todo!() }\n}\n"}},
		{"a flag of the README's list", listedFlags,
			map[string]string{"main.go": goMain + "var f = \"a.one a.two a.three\"\n", "go.mod": "module x.example/tide\n",
				"README.md": "- `--a.one`: x\n- `--a.two`: x\n- `--a.three`: x\n- `--a.four`: x\n"}, "",
			[]string{"`--a.four`", "as it does 3 flags"}, map[string]string{"main.go": goMain + "var f = \"a.one a.two a.three a.four\"\n"}},
		{"a subproject that is not there", brokenNames,
			map[string]string{"settings.gradle": "include 'a'\ninclude ':b:c'\n", "a/build.gradle": "x\n"}, "",
			[]string{"subproject", "`settings.gradle:2`"}, map[string]string{"b/c/build.gradle": "x\n"}},
		{"a removal that a note names by its version", overdueVersion,
			map[string]string{"pyproject.toml": "[project]\nname = \"a\"\nversion = \"2.16.2\"\n", "a/b.py": "# TODO: 2.13: remove this\n"},
			"", []string{"`a/b.py:1`", "2.16.2"}, map[string]string{"a/b.py": "# TODO: 2.17: remove this\n"}},
		{"two licence texts, and neither is it", otherLicence,
			map[string]string{"Cargo.toml": "[package]\nname = \"a\"\nlicense = \"GPL-3.0-only\"\n",
				"LICENSE-APACHE": "Apache License Version 2.0\n", "LICENSE-MIT": "Permission is hereby granted, free of charge, to any " +
					"person obtaining a copy\n"}, "", []string{"none of the 2 licence texts"},
			map[string]string{"Cargo.toml": "[package]\nname = \"a\"\nlicense = \"MIT\"\n"}},
		{"busy and without a test", busyUntested,
			map[string]string{"a/x.py": long("a"), "a/y.py": long("b"), "a/v.py": long("v"), "a/w.py": long("w"),
				"tests/test_y.py": "from a import v, w, y\n"},
			commits("a/x.py", "Mara", 9) + commits("a/y.py", "Joss", 12),
			[]string{"`a/x.py`", "of the last 21 commits in the log at least 9 changed it"}, map[string]string{"tests/test_more.py": "from a.x import f\n"}},
	}
}

// sixSources are six sources of some length, and declarations that are longer.
func sixSources() map[string]string {
	out := map[string]string{"b.d.ts": strings.Repeat("x\n", 90)}
	for i := range 6 {
		out[fmt.Sprintf("a%d.js", i)] = strings.Repeat("f(x);\n", 57+i)
	}
	return out
}

func contentsPage(four string) string {
	text := "| no | title | file |\n|---|---|---|\n"
	for i, title := range []string{"One", "Two", "Three", four} {
		text += fmt.Sprintf("| %d | %s | [c](c/%d.md) |\n", i+1, title, i+1)
	}
	return text
}

// long is a source that decides something.
func long(name string) string {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, "def %s%d(x):\n    if x > %d:\n        return x\n", name, i, i)
	}
	return b.String()
}

func commits(path, who string, n int) string {
	return strings.Repeat("aaaa111 2026-02-20 "+who+"\n    x\n\nM\t"+path+"\n", n)
}

// TestRules: each rule sees its fault, with the lines that show it, and is
// silent where the fault is mended.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range ruleCases() {
		if seen[c.name] {
			t.Fatalf("two cases are called %q", c.name)
		}
		seen[c.name] = true
		t.Run(c.name, func(t *testing.T) {
			got := told(t, c.rule, c.files, c.log)
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("it does not say %q:\n%s", w, got)
				}
			}
			if c.sound == nil {
				return
			}
			files := maps.Clone(c.files)
			maps.Copy(files, c.sound)
			if got := told(t, c.rule, files, c.log); got != "" {
				t.Errorf("of a sound tree it says: %s", got)
			}
		})
	}
}
