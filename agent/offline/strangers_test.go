package offline

import (
	"fmt"
	"strings"
	"testing"
)

// TestStrangers: shapes of real repositories of which a rule once said something
// that was not so, or was nobody's affair.
func TestStrangers(t *testing.T) {
	const ci = ".github/workflows/ci.yml"
	pkg := func(name string) string { return "[package]\nname = \"" + name + "\"\n\n[dependencies]\n" }
	body := func(n int, line string) string { return strings.Repeat(line+"\n", n) }
	for _, c := range []struct {
		name  string
		rule  rule
		files map[string]string
		log   string
	}{
		{"a step of the same owner", branchActions, map[string]string{"go.mod": "module github.com/Quay/tide\n",
			ci: "- uses: quay/meta/.github/workflows/lint.yml@main\n"}, ""},
		{"a step that is offered as a branch only", branchActions, map[string]string{
			ci: "- uses: dtolnay/rust-toolchain@master\n- uses: google/oss-fuzz/infra/x@master\n"}, ""},
		{"a source that tests read as data", skippedTests, map[string]string{
			"src/test/resources/a/Input.java": "class Input {\n  @Ignore\n  void a() {}\n}\n"}, ""},
		{"ignored tests that a pipeline runs", skippedTests, map[string]string{
			"src/a.rs": "#[test]\n#[ignore]\nfn a() {}\n", ci: "- run: cargo test -- --include-ignored\n"}, ""},
		{"a test whose body begins with the reason", skippedTests, map[string]string{
			"src/test/java/ATest.java": "class ATest {\n  @Test\n  @Disabled\n  void a() {\n    // LANG-1655\n  }\n}\n"}, ""},
		{"tests whose names say why", skippedTests, map[string]string{
			"src/test/java/ATest.java":       "class ATest {\n  @Disabled\n  void disableA() {\n    x();\n  }\n}\n",
			"src/test/java/LogPerfTest.java": "@Disabled\nclass LogPerfTest {\n}\n",
			"a_test.go":                      "package a\n\nfunc TestPublishPerf(t *testing.T) {\n\tt.SkipNow()\n}\n"}, ""},
		{"an error for which what follows is the answer", swallowed, map[string]string{
			"a.js": "function f() {\n  try {\n    return g()\n  } catch {}\n  return null\n}\n",
			"b.py": "def f():\n    try:\n        return g()\n    except Exception:\n        pass\n    return 1\n"}, ""},
		{"an error that a comment before tells of", swallowed, map[string]string{
			"a.js": "// IE throws on invalid input.\ntry {\n  x = parse(y)\n} catch (e) {}\nuse(x)\n"}, ""},
		{"an error that is looked at later", swallowed, map[string]string{
			"a.js": "try {\n  mod = load()\n} catch {\n}\n\nif (!mod) {\n  mod = other()\n}\n",
			"b.py": "try:\n    a = g()\nexcept Exception:\n    pass\nelse:\n    b()\n"}, ""},
		{"an error of tidying up", swallowed, map[string]string{
			"a.js": "try {\n  session.destroy(err)\n} catch {}\nx.close().catch(function (err) {})\n",
			"b.py": "try:\n    os.unlink(name)\nexcept Exception:\n    pass\ng()\n"}, ""},
		{"a licence that leaves a choice", otherLicence, map[string]string{
			"package.json": "{\n\"license\": \"EPL-2.0\"\n}\n", "LICENSE": "Dual-licensed under the terms of the Eclipse Public " +
				"License v2.0\nor the GNU Lesser General Public License version 2.1.\n"}, ""},
		{"the licence for libraries", otherLicence, map[string]string{
			"package.json": "{\n\"license\": \"LGPL-2.0-or-later\"\n}\n",
			"LICENSE": "under the terms of the GNU Library General Public License version 2, see the GNU General Public " +
				"License version 2\n"}, ""},
		{"an entry under a heading of another form", missingEntry, map[string]string{
			"package.json": "{\n\"version\": \"2.22.0\"\n}\n", "RELEASE-NOTES.txt": "Apache X 2.22.0 Release Notes\n\n" +
				"Version 2.15.1\n--------------\n\nVersion 2.15.0\n--------------\n"}, ""},
		{"versions named in passing", olderPromise, map[string]string{
			"package.json": "{\n\"engines\": {\"node\": \">=22\"}\n}\n",
			"README.md": "### Async functions (Node v7.6+)\n\nUse `node --test` (Node 20+).\n\nOn Node 18 or later:\n\n" +
				"```js\n// in Node 18+\n```\n"}, ""},
		{"flags of a program that this one starts", deadFlags, map[string]string{
			"pyproject.toml": "[project]\nname = \"quay\"\n", "quay/a.py": "x = 1\n",
			"README.md": "```sh\nquay run pytest --cov=x\n```\n"}, ""},
		{"a variable that is put together", deadVariables, map[string]string{
			"pyproject.toml": "[project]\nname = \"gum\"\n", "gum/a.py": "x = os.environ['GUM_COLOR']\ny = 'GUM_INPUT_' + z\n",
			"README.md": "Set `GUM_INPUT_WIDTH`.\n"}, ""},
		{"variables that are all put together", deadVariables, map[string]string{
			"pyproject.toml": "[project]\nname = \"gum\"\n", "gum/a.py": "x = os.environ[name.upper()]\n",
			"README.md": "Set `GUM_WIDTH`.\n"}, ""},
		{"a step in another repository", deadSteps, map[string]string{"Makefile": "all:\n\tx\n",
			ci: "- uses: actions/checkout@v4\n  with:\n    repository: a/b\n- run: make image\n"}, ""},
		{"a package as npm installs it", deadSteps, map[string]string{
			"package.json": "{\"scripts\": {\n\"docs\": \"./publish.sh\"\n}}\n", "a.js": "x\n"}, ""},
		{"a link out of a package as npm installs it", deadLinks, map[string]string{"package.json": "{}\n",
			"README.md": "[x](CONTRIBUTING.md)\n"}, ""},
		{"a step that goes elsewhere", deadSteps, map[string]string{".gitignore": "x\n",
			"package.json": "{\"scripts\": {\n\"bench\": \"cd ./gone/simple && npm run benchmark\"\n}}\n"}, ""},
		{"a command for another repository", deadCommands, map[string]string{"hack/a.sh": "x\n",
			"README.md": "In the root of the [b/b] repository, run:\n\n```sh\n./hack/update.sh\n```\n"}, ""},
		{"a package of the tree itself", unlocked, map[string]string{"yarn.lock": "\nleft-pad@1:\n",
			"a/package.json": "{\n\"name\": \"@x/a\"\n}\n",
			"b/package.json": "{\n\"name\": \"@x/b\",\n\"dependencies\": {\n\"@x/a\": \"0.18.0\"\n}}\n"}, ""},
		{"a manifest to be filled in", unlocked, map[string]string{"pnpm-lock.yaml": "x: 1\n",
			"create/template-a/package.json": "{\n\"dependencies\": {\n\"preact\": \"^10\"\n}}\n"}, ""},
		{"a crate with another name", unusedPackage, map[string]string{
			"Cargo.toml": pkg("a") + "rust-ini = \"0.21\"\n", "src/main.rs": "use ini::Ini;\n"}, ""},
		{"a part that is loaded by the rest of its name", unusedPackage, map[string]string{".gitignore": "x\n",
			"package.json":  "{\n\"dependencies\": {\n\"@vitest/coverage-istanbul\": \"^4\"\n}}\n",
			"src/config.ts": "export default { provider: 'istanbul' }\n"}, ""},
		{"a package that a build puts in another's place", unusedPackage, map[string]string{".gitignore": "x\n",
			"package.json": "{\n\"dependencies\": {\n\"lodash-es\": \"^4\"\n}}\n", "src/a.ts": "import get from 'lodash/get'\n"}, ""},
		{"sources for two systems", copied, map[string]string{
			"a_x.go": "//go:build linux\n\npackage a\n" + numbers(120), "a_y.go": "//go:build !linux\n\npackage a\n" + numbers(120)}, ""},
		{"sources that a program wrote", copied, map[string]string{
			"a.py": "# Auto generated by tools/make.py\n" + numbers(60), "b.py": "# Auto generated by tools/make.py\n" + numbers(60),
			"c.go": "// Created by cgo -godefs - DO NOT EDIT\n\npackage a\n" + numbers(60),
			"d.go": "// Created by cgo -godefs - DO NOT EDIT\n\npackage a\n" + numbers(60)}, ""},
		{"the listings of a book", copied, map[string]string{"listings/ch1/a.rs": numbers(60), "listings/ch2/a.rs": numbers(60)}, ""},
		{"two that are not installed together", driftingVersions, map[string]string{
			"Cargo.toml": pkg("a") + "x = \"0.14\"\n", "Cargo.lock": "\n", "tools/b/Cargo.toml": pkg("b") + "x = \"0.10\"\n",
			"tools/b/Cargo.lock": "\n"}, ""},
		{"a text with examples", noTests, map[string]string{"README.md": body(900, "words"), "a.py": numbers(80),
			"b.py": "x\n", "c.py": "x\n", "d.py": "x\n", "e.py": "x\n"}, ""},
		{"a log of changes that is behind", longSinceRelease, map[string]string{"package.json": "{\n\"version\": \"3.2.0\"\n}\n",
			"History.md": "3.0.0 / 2025-02-11\n==================\n"}, commits("a.js", "Mara", 40)},
		{"an image whose name bears its version", movingImage, map[string]string{
			"Dockerfile": "FROM gcr.io/distroless/base-debian12\n"}, ""},
		{"an image for an example", movingImage, map[string]string{"functions/examples/a/Dockerfile": "FROM alpine\n"}, ""},
		{"a directory that a program keeps", oneHand, map[string]string{"a/a.go": "x\n", "a/b.go": "x\n", "b/a.go": "x\n",
			"b/b.go": "x\n"}, commits("a/a.go", "dependabot[bot]", 30) + commits("b/a.go", "Joss", 9) + commits("b/a.go", "Mara", 12)},
		{"a directory that was carried once", oneHand, map[string]string{"a/a.go": "x\n", "a/b.go": "x\n", "b/a.go": "x\n",
			"b/b.go": "x\n"}, commits("b/a.go", "Joss", 9) + commits("b/a.go", "Mara", 12) +
			strings.ReplaceAll(commits("a/a.go", "Ada", 12), "2026-02", "2024-02")},
		{"a function that frames others", longFunction, map[string]string{
			"a.js": "function all() {\n" + body(200, "  if (x) y()") + body(5, "  function f() {\n    if (x) y()\n  }") +
				body(200, "  if (x) y()") + "}\n"}, ""},
		{"a long function that nobody changes", longFunction, map[string]string{"b.js": "x\n",
			"a.js": "function all() {\n" + body(400, "  if (x) y()") + "}\n"}, commits("b.js", "Mara", 40)},
		{"links that are none", deadLinks, map[string]string{
			"README.md": "A [character](@) and [Javadoc]([Javadoc](http://x.example/2.x/javadoc/)).\n"}, ""},
		{"a directory that an archive lacks", deadLinks, map[string]string{"README.md": "[x](cmd/krane/README.md)\n"}, ""},
		{"what setuptools brings", retiredAPI, map[string]string{
			"build.py": "import setuptools\nfrom distutils.core import Extension\n", "setup.py": "import distutils\n"}, ""},
		{"a heading that was translated", deadAnchors, map[string]string{
			"docs/ckb-IR/README.md": "[x](#configuration)\n\n## Other\n"}, ""},
		{"a source of a program that is tested whole", busyUntested, map[string]string{"src/main.rs": "x\n", "src/cli.rs": long("a"),
			"tests/all.rs": "#[test]\nfn a() {}\n"}, commits("src/cli.rs", "Mara", 30)},
		{"a site that looks for names at its top", deadLinks, map[string]string{"website/docusaurus.config.js": "x\n",
			"website/docs/api/a.mdx": "[x](blog.mdx)\n", "website/docs/blog.mdx": "x\n"}, commits("a", "Mara", 1)},
		{"words in brackets after brackets", deadLinks, map[string]string{"pages/a.md": "[t](시간) [m](3)\n"}, ""},
		{"an example of a directive", deadLinks, map[string]string{"docs/a.rst": "Write::\n\n    .. include:: file.rst\n"}, ""},
		{"a program that is built before", deadSteps, map[string]string{"Dockerfile": "FROM a:1\nCOPY migrate /bin/migrate\n"}, ""},
		{"a range without an end", driftingVersions, map[string]string{"Cargo.lock": "\n", "a/Cargo.toml": pkg("a") + "x = \"0.20\"\n",
			"b/Cargo.toml": pkg("b") + "x = \">=0.17\"\n"}, ""},
		{"tests of what runs alone", focusedTests, map[string]string{"test/only/a.spec.js": "it.only('x', () => {})\n"}, ""},
		{"a log of changes of a module without a version", longSinceRelease, map[string]string{"go.mod": "module m\n",
			"CHANGELOG.md": "## v5.0.12 (2024-02-16)\n"}, commits("a.go", "Mara", 40)},
		{"a log of changes in two forms", longSinceRelease, map[string]string{"package.json": "{\n\"version\": \"7.0.0-dev\"\n}\n",
			"CHANGES": "6.0.2 (2025-08-06)\n\n- x\n\n5.2 (2019-12-02)\n----------------\n"}, commits("a.js", "Mara", 40)},
		{"a pipeline for another branch", olderMachine, map[string]string{"go.mod": "module m\n\ngo 1.25\n",
			".github/workflows/nightly-25.2.yml": "- with:\n    go-version: '1.23'\n"}, ""},
		{"a pipeline that checks another branch out", olderMachine, map[string]string{"go.mod": "module m\n\ngo 1.25\n",
			ci: "- uses: actions/checkout@v4\n  with:\n    ref: release-1.2\n- with:\n    go-version: '1.23'\n"}, ""},
		{"versions for several readers", ownVersion, map[string]string{
			"Cargo.toml": "[package]\nname = \"tide\"\nversion = \"6.0.1\"\n",
			"README.md":  "tide = \"4.0\"\n\ntide = \"6.0\"\n"}, ""},
		{"a version after the manifest's", ownVersion, map[string]string{
			"Cargo.toml": "[package]\nname = \"tide\"\nversion = \"1.2.84\"\n", "README.md": "tide = \"2.0\"\n"}, ""},
		{"marks on what tests try", skippedTests, map[string]string{
			"src/test/test_sourcecode/A.java": "class A {\n  @Ignore\n  @Test\n  void a() {}\n}\n",
			"src/test/java/BTest.java": "class BTest {\n    static class C {\n        @Ignore\n        @Test\n        public void c() {}\n" +
				"    }\n\n    @Disabled\n    private String d() {\n    }\n}\n",
			"tests/e.rs": "#[test]\n#[ignore]\nfn e() {}\n\nfn run() { cmd().arg(\"--ignored\"); }\n"}, ""},
		{"a text about merges", unsettledMerge, map[string]string{
			"book/a.asc": "----\n<<<<<<< HEAD:index.html\nx\n=======\ny\n>>>>>>> iss53:index.html\n----\n"}, ""},
		{"a module that may have no release", oldCommit, map[string]string{
			"go.mod": "module m\n\nrequire github.com/google/shlex v0.0.0-20191202100458-e7afc7fbc510\n"}, ""},
		{"what a build makes at the top", brokenNames, map[string]string{".gitignore": "x\n", "rollup.config.js": "x\n",
			"package.json": "{\n\"main\": \"intro.js\"\n}\n"}, ""},
		{"a version under construction", missingEntry, map[string]string{"package.json": "{\n\"version\": \"0.46.0\"\n}\n",
			"CHANGELOG.md": "## [Unreleased]\n\n## [0.45.0]\n\n## [0.44.0]\n"}, ""},
		{"a footnote", olderPromise, map[string]string{"package.json": "{\n\"engines\": {\"node\": \">=22\"}\n}\n",
			"README.md": "¹ Requires Node.js 15.10 or above.\n"}, ""},
		{"a text to try things with", leftOpen, map[string]string{"README.md": "It makes up a \"lorem ipsum\" content.\n", "a.go": "x\n"}, ""},
		{"the day on which a note was written", overdueNote, map[string]string{"A.java": "// TODO: 2017-03-17 Very ugly\n"}, ""},
		{"sources that tests interpret", retiredAPI, map[string]string{"_test/a.go": "package a\n\nimport \"io/ioutil\"\n"}, ""},
		{"a program and what it writes", changedTogether, map[string]string{"app/gen/html.go": "package gen\n", "app/html.go": "package app\n"},
			strings.Repeat("aaaa111 2026-02-20 Mara\n    x\n\nM\tapp/gen/html.go\nM\tapp/html.go\n", 9)},
		{"a README that sends its readers to a site", unshownExamples, map[string]string{"README.md": "See https://x.example/docs.\n",
			"examples/a.go": "package a\n", "examples/b.go": "package a\n"}, ""},
		{"a function that says that errors are lost", swallowed, map[string]string{
			"a.py": "def f(x):\n    \"\"\" Call g and ignore exceptions \"\"\"\n    try:\n        g(x)\n        h(x)\n    except Exception:\n" +
				"        pass\n"}, ""},
		{"a licence that speaks of another at its end", otherLicence, map[string]string{"package.json": "{\n\"license\": \"GPL-2.0\"\n}\n",
			"LICENSE": "GNU GENERAL PUBLIC LICENSE Version 2\n" + body(90, "words") + "use the GNU Library General Public License\n"}, ""},
		{"a command in another tree", deadCommands, map[string]string{"a.c": "x\n",
			"README.md": "```\ngit clone https://x.example/pkg\ncd pkg\n./bootstrap-pkg.sh\n```\n"}, ""},
		{"a module in a directory of its own", deadEntryPoint, map[string]string{"gyp/pylib/gyp/__init__.py": "def script_main(): pass\n",
			"gyp/pyproject.toml": "[project]\nname = \"gyp\"\n[project.scripts]\ngyp = \"gyp:script_main\"\n"}, ""},
		{"another version for whoever needs it", ownVersion, map[string]string{
			"package.json": "{\n\"name\": \"tide\",\n\"version\": \"3.1.1\"\n}\n",
			"README.md":    "npm install tide\n\nFor CommonJS: npm install tide@2\n"}, ""},
		{"a note of this year", overdueNote, map[string]string{"a.c": "/* fixme (2026-05-30): support chomp */\n"}, ""},
		{"a command in what was cloned", deadCommands, map[string]string{"a.c": "x\n",
			"README.md": "```\n$ git clone https://x.example/pkg\n$ ./bootstrap-pkg.sh\n```\n"}, ""},
		{"a page that Sphinx makes", deadEntries, map[string]string{"docs/conf.py": "x\n",
			"docs/index.rst": "T\n=\n\n.. toctree::\n\n   General Index <genindex>\n"}, ""},
		{"a mark on the whole of a file", focusedTests, map[string]string{
			"a.test.ts": "fdescribe('x', () => {\n  it('y', () => {})\n})\n"}, ""},
		{"a release before that is new", waitingEntries, map[string]string{
			"CHANGELOG.md": "## Unreleased\n\n- a\n- b\n- c\n\n## 1.0.0\n\n- d\n"}, ""},
		{"blanks in specimens", leftOpen, map[string]string{"locales/en/examples/teamwork/index.md": "Date: [Insert date]\n",
			"record-template.md": "Date: [insert date]\n"}, ""},
		{"a test that bears the plural of a name", busyUntested, javas(map[string]string{
			"src/test/java/TreeAdaptersTest.java": "class TreeAdaptersTest { void a() {} }\n",
		}, "TreeAdapter", "Tide", "Quay", "Mole", "Pier"), commits("src/main/java/TreeAdapter.java", "Mara", 30)},
		{"tests that name the index only", busyUntested, map[string]string{"src/index.ts": "export * from './struct'\n",
			"src/struct.ts": body(60, "if (x) y()"), "src/error.ts": body(60, "if (x) z()"),
			"src/shape.ts": body(60, "if (x) a()"), "src/coerce.ts": body(60, "if (x) c()"),
			"src/helpers.ts":     body(60, "if (x) b()"),
			"test/index.test.ts": "import { object } from '../src'\nconst struct = object(error, shape, coerce)\n",
		}, commits("src/helpers.ts", "Mara", 30)},
		{"as many changes as in nineteen others", longFunction, map[string]string{
			"a.js": "function all() {\n" + body(400, "  if (x) y()") + "}\n", "b.js": "x\n"},
			evenly(20) + commits("b.js", "Mara", 9)},
		{"a log without patch releases", missingEntry, map[string]string{"package.json": "{\n\"version\": \"2.0.2\"\n}\n",
			"Changelog.md": "### `2.0.0` - July 3, 2024\n\n### `1.0.0`\n\n### `0.16.0`\n\n### `0.15.0`\n"}, ""},
		{"a lock file of another manager", unlocked, map[string]string{
			"pnpm-lock.yaml": "lockfileVersion: '9.0'\n\ndom: ^7.0.1\n",
			"package.json":   "{\n\"packageManager\": \"pnpm@11.3.0\",\n\"devDependencies\": {\n\"dom\": \"^7.0.1\"\n}}\n",
			"package-lock.json": "{\n\"lockfileVersion\": 3,\n\"packages\": {\n\"\": {\n\"devDependencies\": {\n" +
				"\"dom\": \"^6.9.1\"\n}}}}\n"}, ""},
		{"a part of what one person makes", oneHand, map[string]string{"a/a.go": "x\n", "a/b.go": "x\n", "b/a.go": "x\n",
			"b/b.go": "x\n"}, commits("a/a.go", "Ada", 30) + commits("b/a.go", "Ada", 8) + commits("b/a.go", "Joss", 8)},
		{"a project that has one person", oneHand, map[string]string{"a/a.go": "x\n", "a/b.go": "x\n"},
			commits("a/a.go", "Ada", 60) + commits("a/a.go", "Joss", 2) + commits("a/b.go", "Mara", 1)},
		{"tasks to watch what is older", overdueTask, map[string]string{
			"README.md": "- [ ] [CS 61B 2014-04-21: Radix Sort (video)](https://x.example/a)\n"}, ""},
		{"a catalogue that looks for names", deadLinks, map[string]string{"Sources/A/Docs.docc/A.md": "![x](repeat.png)\n",
			"Sources/A/Docs.docc/Images/repeat.png": "x\n", "Sources/A/Docs.docc/other.png": "x\n"}, commits("a", "Mara", 1)},
		{"what is kept if it can be", swallowed, map[string]string{
			"a.py": "def f():\n    rv = g()\n    try:\n        cache[stream] = rv\n    except Exception:\n        pass\n" +
				"    return rv\n"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := told(t, c.rule, c.files, c.log); got != "" {
				t.Errorf("it says: %s", got)
			}
		})
	}
}

// javas adds classes, and a test for each but the first.
func javas(files map[string]string, names ...string) map[string]string {
	for i, n := range names {
		files["src/main/java/"+n+".java"] = "class " + n + " {\n" + strings.Repeat("  if (x) y();\n", 60) + "}\n"
		if i > 0 {
			files["src/test/java/"+n+"Test.java"] = "class " + n + "Test { " + n + " x; }\n"
		}
	}
	return files
}

// evenly is a log in which each of n files changes as often as a.js does.
func evenly(n int) string {
	log := commits("a.js", "Mara", 5)
	for i := range n - 1 {
		log += commits(fmt.Sprintf("f%d.js", i), "Mara", 5)
	}
	return log
}

// numbers are n lines that differ.
func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "value_%d = %d\n", i, i*i)
	}
	return b.String()
}
