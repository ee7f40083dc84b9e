package project

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"conclave/internal/pattern"
)

// Kind is what a file is for.
type Kind int

// The kinds of files. Foreign is what others wrote, Generated what a program
// wrote, Fixture the data of tests, Template what is filled in elsewhere.
const (
	Other Kind = iota
	Source
	Test
	Example
	Fixture
	Doc
	Licence
	Config
	Data
	Lock
	Template
	Generated
	Foreign
	Binary
)

var languages = map[string]string{
	".go": "Go", ".py": "Python", ".pyi": "Python", ".js": "JavaScript", ".jsx": "JavaScript", ".mjs": "JavaScript",
	".cjs": "JavaScript", ".ts": "TypeScript", ".tsx": "TypeScript", ".mts": "TypeScript", ".cts": "TypeScript",
	".rs": "Rust", ".java": "Java", ".kt": "Kotlin", ".scala": "Scala", ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++",
	".cxx": "C++", ".hpp": "C++", ".hh": "C++", ".cs": "C#", ".rb": "Ruby", ".php": "PHP", ".swift": "Swift",
	".sh":   "shell",
	".bash": "shell", ".zsh": "shell", ".pl": "Perl", ".pm": "Perl", ".lua": "Lua", ".ex": "Elixir", ".exs": "Elixir",
	".erl": "Erlang", ".hs": "Haskell", ".ml": "OCaml", ".clj": "Clojure", ".dart": "Dart", ".zig": "Zig", ".vue": "Vue",
	".svelte": "Svelte", ".sql": "SQL", ".r": "R", ".jl": "Julia", ".s": "assembly", ".groovy": "Groovy",
	".ps1": "PowerShell",
	".bat": "batch", ".css": "CSS", ".scss": "CSS", ".less": "CSS",
}

// Language is the language of a file by its name, empty for none.
func Language(p string) string { return languages[strings.ToLower(path.Ext(p))] }

var (
	docTypes    = []string{".md", ".markdown", ".mdx", ".rst", ".txt", ".adoc", ".asciidoc", ".org", ".tex"}
	dataTypes   = []string{".csv", ".tsv", ".ics"}
	configTypes = []string{
		".yml", ".yaml", ".toml", ".json", ".jsonc", ".json5", ".xml", ".ini", ".cfg", ".mod", ".work", ".gradle", ".kts",
		".mk",
		".cmake", ".properties", ".conf", ".in",
	}
	binaryTypes = strings.Fields(`.png .jpg .jpeg .gif .webp .ico .bmp .tiff .pdf .zip .gz .tgz .xz .bz2 .zst .7z .tar ` +
		`.jar .war
		.class .so .dylib .dll .exe .o .a .lib .wasm .woff .woff2 .ttf .otf .eot .mp3 .mp4 .wav .ogg .webm .mov .avi .db .sqlite
		.pyc .pyd .whl .deb .rpm .bin .dat .docx .xlsx .pptx .odt .ods .psd .svg .parquet .npy .npz .pkl .pt .onnx`)

	// passedDirs are not entered: what others wrote, or what a program made.
	passedDirs = strings.Fields(`.git .hg .svn .bzr .campaign .conclave node_modules bower_components vendor third_party
		third-party thirdparty 3rdparty 3rd_party _vendor vendored site-packages Pods Carthage dist __pycache__ .venv venv
		.tox .nox .idea .vscode .gradle .next .nuxt .cache .terraform .mypy_cache .pytest_cache .ruff_cache .eggs coverage
		.nyc_output`)

	fixtureDirs = strings.Fields("testdata test-data test_data fixtures fixture __fixtures__ __snapshots__ snapshots " +
		"golden goldens cassettes")
	testDirs = strings.Fields("test tests __tests__ spec specs testing testutil testutils testhelpers test_helpers " +
		"e2e cypress mocks __mocks__")
	exampleDirs = strings.Fields("example examples _example _examples sample samples demo demos playground bench " +
		"benches benchmark benchmarks tutorial tutorials sandbox listings snippets exercises")
	templateDirs = strings.Fields("template templates ISSUE_TEMPLATE PULL_REQUEST_TEMPLATE skel skeleton scaffold " +
		"boilerplate archetype-resources")

	lockNames = []string{
		"go.sum", "go.work.sum", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock",
		"bun.lockb",
		"Cargo.lock", "poetry.lock", "pdm.lock", "uv.lock", "Pipfile.lock", "composer.lock", "Gemfile.lock",
		"gradle.lockfile", "deno.lock", "flake.lock",
	}
	configNames = []string{
		"Makefile", "GNUmakefile", "makefile", "Dockerfile", "Containerfile", "Gemfile", "Rakefile", "Jenkinsfile",
		"Justfile", "justfile",
		"Pipfile", "CODEOWNERS", "CMakeLists.txt", "robots.txt", "go.mod", "go.work", "Procfile", "Vagrantfile", "BUILD",
		"WORKSPACE",
		"BUILD.bazel", "meson.build", "MANIFEST.in", "Brewfile", "Caddyfile",
	}

	licenceBase = pattern.New(`(?i)^(un)?(licen[cs]e|copying|notice|patents|copyright)([._-].*)?$`)
	docBase     = pattern.New(`^(README|CHANGELOG|CHANGES|HISTORY|NEWS|CONTRIBUTING|CONTRIBUTORS|AUTHORS` +
		`|MAINTAINERS|OWNERS|TODO|ROADMAP|SECURITY|INSTALL|UPGRADING|GOVERNANCE|CREDITS|THANKS)$`)
	requirements = pattern.New(`(?i)^(.*[-_.])?(requirements|constraints)([-_.].*)?\.(txt|in)$`)
	generatedBy  = pattern.New(`(?i)(\.pb\.(go|cc|h)|_pb2(_grpc)?\.pyi?|_pb\.(js|d\.ts)|\.pb\.gw\.go|\.min\.(js` +
		`|css|mjs)|\.bundle\.(js|css)|[-.]min\.js|\.map|\.snap|\.generated\.\w+|_generated\.\w+|\.gen\.\w+|^zz_generated.*` +
		`|bindata\.go|\.designer\.cs|y\.tab\.[ch]|\.g\.dart)$`)
	foreignBase = pattern.New(`(?i)^(jquery|bootstrap|lodash|underscore|angular|react|vue|d3|moment|require` +
		`|backbone|modernizr|highlight|mathjax|three|chart|plotly|leaflet|popper|codemirror|ace` +
		`|swagger-ui)([-.]?[\d.]+)?([-.](slim|pack|min|all|full|bundle))*\.(js|css)$`)
	testBase = pattern.New(`(?i)(^test_|_tests?\.|[.-](test|spec)s?\.|_spec\.)`)
	javaTest = pattern.New(`^(Test[A-Z]\w*|\w+(Test|Tests|TestCase|IT|ITCase))\.(java|kt|scala|groovy|cs|swift` +
		`|php)$`)
)

// Classify judges a file by its path alone.
func Classify(p string) Kind {
	base, ext := path.Base(p), strings.ToLower(path.Ext(p))
	lang := Language(p)
	dirs := strings.Split(path.Dir(p), "/")
	in := func(set []string) bool {
		return slices.ContainsFunc(dirs, func(d string) bool { return slices.Contains(set, strings.ToLower(d)) })
	}
	tests := in(testDirs) || lang != "Go" && slices.ContainsFunc(dirs, aboutTests)
	switch {
	case in(passedDirs), foreignBase.MatchString(base) && !slices.Contains(dirs, "src"), foreignAsset(dirs, ext):
		return Foreign
	case slices.Contains(binaryTypes, ext):
		return Binary
	case slices.Contains(lockNames, base):
		return Lock
	case in(fixtureDirs), mavenData(dirs), slices.Contains(dirs, "_test"), slices.Contains(dirs, "_tests"),
		slices.Contains(dirs, "resources") && (tests || slices.Contains(dirs, "it")):
		return Fixture
	case generatedBy.MatchString(base):
		return Generated
	case licenceBase.MatchString(base) && lang == "", in([]string{"licenses", "licences"}) && lang == "":
		return Licence
	case slices.ContainsFunc(dirs, isTemplateDir),
		strings.Contains(strings.ToLower(base), "template."), strings.HasPrefix(strings.ToUpper(base),
			"PULL_REQUEST_TEMPLATE"), strings.Contains(p, "{{"),
		ext == ".tmpl", ext == ".tpl", ext == ".j2", ext == ".jinja", ext == ".jinja2", ext == ".mustache", ext == ".hbs":
		return Template
	}
	switch {
	case lang == "CSS":
		return Other
	case lang != "":
		switch {
		case isTestName(base, lang), tests && lang != "Go", lang == "Go" && in([]string{"testutil", "testing", "mocks",
			"e2e"}):
			return Test
		case slices.ContainsFunc(dirs, isExampleDir), dirs[0] == "docs", dirs[0] == "doc", dirs[0] == "website":
			return Example
		}
		return Source
	case slices.Contains(configNames, base), requirements.MatchString(base), strings.HasPrefix(base, "Dockerfile."),
		strings.HasSuffix(base, ".Dockerfile"):
		if tests {
			return Fixture
		}
		return Config
	case tests:
		return Fixture
	case docBase.MatchString(strings.TrimSuffix(base, path.Ext(base))), slices.Contains(docTypes, ext):
		return Doc
	case slices.Contains(dataTypes, ext):
		return Data
	case slices.Contains(configTypes, ext), strings.HasPrefix(base, ".") && (ext == base || ext == ".js" || ext == ""):
		return Config
	}
	return Other
}

// mavenData says that a file lies below src/test, in none of the directories in
// which Maven and Gradle look for tests.
func mavenData(dirs []string) bool {
	for i := 2; i < len(dirs); i++ {
		if dirs[i-2] == "src" && dirs[i-1] == "test" {
			return strings.HasPrefix(dirs[i], "test") || dirs[i] == "data" || dirs[i] == "inputs"
		}
	}
	return false
}

// isExampleDir knows directories of things to try; those that begin with "_" are
// passed by in Go.
func isExampleDir(dir string) bool {
	dir = strings.ToLower(strings.TrimLeft(dir, "_"))
	return slices.Contains(exampleDirs, dir) || strings.HasPrefix(dir, "example_") || strings.HasPrefix(dir, "example-")
}

func isTemplateDir(dir string) bool {
	return slices.Contains(templateDirs, dir) || strings.HasPrefix(dir, "template-") || strings.HasSuffix(dir, "-template")
}

// aboutTests knows directories like testRunner, test-utils and unit_tests.
func aboutTests(dir string) bool {
	dir = strings.ToLower(dir)
	return strings.HasPrefix(dir, "test") || strings.HasSuffix(dir, "tests") || strings.HasSuffix(dir, "-test") ||
		strings.Contains(dir, "-test-") || dir == "harness"
}

// isTestName knows tests by how each language names them.
func isTestName(base, lang string) bool {
	switch lang {
	case "Go":
		return strings.HasSuffix(base, "_test.go")
	case "Java", "Kotlin", "Scala", "Groovy", "C#", "Swift", "PHP":
		return javaTest.MatchString(base)
	}
	return testBase.MatchString(base) || base == "conftest.py"
}

// foreignAsset is a script or style in a directory of libraries for a browser.
func foreignAsset(dirs []string, ext string) bool {
	if ext != ".js" && ext != ".css" {
		return false
	}
	for i, d := range dirs {
		if i > 0 && (strings.HasPrefix(d, "lib") || d == "js" || d == "jquery" || d == "ext") &&
			slices.Contains([]string{"static", "assets", "public", "_static", "www", "wwwroot", "themes"}, dirs[i-1]) &&
			strings.HasPrefix(d, "lib") {
			return true
		}
	}
	return false
}

var (
	goMark    = pattern.New(`(?m)^// (?:Code generated|Created by cgo) .*DO NOT EDIT\.?\s*$`)
	otherMark = pattern.New(`(?im)^\W{0,6}(code generated .*do not edit|this (file|code|class) (is|was|has been) ` +
		`(auto[- ]?|automatically |machine[- ]?)?generated|(auto[- ]?|automatically )generated\b|@generated\b` +
		`|generated by .*` +
		`|.*generated.*do not (edit|modify)).*$`)
)

// settle corrects the kind by what the file begins with.
func (f *File) settle(head []byte) {
	if bytes.IndexByte(head, 0) >= 0 {
		f.Kind = Binary
		return
	}
	if f.Kind != Source && f.Kind != Test && f.Kind != Config && f.Kind != Example {
		return
	}
	head = head[:min(len(head), 2048)]
	if low := bytes.ToLower(head); !bytes.Contains(low, []byte("generated")) && !bytes.Contains(low, []byte("cgo")) {
		return
	}
	mark := otherMark
	if f.Lang == "Go" {
		mark = goMark
	}
	if mark.Match(head) {
		f.Kind = Generated
	}
}
