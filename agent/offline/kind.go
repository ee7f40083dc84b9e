package offline

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

// kind is what a file is for, by its name and its first bytes.
type kind int

const (
	other kind = iota
	code
	test
	doc
	config
	fixture   // data of tests: looked at by nobody
	generated // written by a program: counted, not judged
	binary
)

var languages = map[string]string{
	".go": "Go", ".py": "Python", ".js": "JavaScript", ".jsx": "JavaScript", ".mjs": "JavaScript", ".cjs": "JavaScript",
	".ts": "TypeScript", ".tsx": "TypeScript", ".rs": "Rust", ".java": "Java", ".kt": "Kotlin", ".scala": "Scala",
	".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".cxx": "C++", ".hpp": "C++", ".cs": "C#", ".rb": "Ruby",
	".php": "PHP", ".swift": "Swift", ".sh": "shell", ".bash": "shell", ".pl": "Perl", ".lua": "Lua", ".ex": "Elixir",
	".exs": "Elixir", ".erl": "Erlang", ".hs": "Haskell", ".ml": "OCaml", ".clj": "Clojure", ".dart": "Dart", ".zig": "Zig",
	".vue": "Vue", ".svelte": "Svelte", ".sql": "SQL", ".r": "R", ".jl": "Julia", ".m": "Objective-C", ".s": "assembly",
}

var docTypes = []string{".md", ".markdown", ".rst", ".txt", ".adoc", ".org", ".tex"}

var configTypes = []string{".yml", ".yaml", ".toml", ".json", ".xml", ".ini", ".cfg", ".mod", ".gradle", ".mk"}

// skippedDirs hold what others wrote or a program made.
var skippedDirs = []string{
	".git", ".hg", ".svn", ".campaign", ".conclave", "node_modules", "vendor", "third_party", "thirdparty", "bower_components",
	"dist", "target", "__pycache__", ".venv", "venv", ".tox", ".idea", ".gradle", ".next", ".cache", "Pods", ".terraform",
}

var fixtureDirs = []string{"testdata", "fixtures", "__fixtures__", "__snapshots__", "golden"}

var lockFiles = []string{"go.sum", "go.work.sum", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "Cargo.lock", "poetry.lock", "composer.lock", "Gemfile.lock", "uv.lock"}

var (
	testBase   = regexp.MustCompile(`(?i)(^test_|_test\.|\.test\.|\.spec\.|_spec\.|tests?\.(java|kt|cs|swift|php|scala)$)`)
	generation = regexp.MustCompile(`(?m)^// Code generated .*DO NOT EDIT\.?\s*$`)
	otherMark  = regexp.MustCompile(`(?im)^\W{0,4}(code generated .*do not edit|this file (is|was) (auto-?|automatically )?generated|auto-?generated (by|from|file)|@generated\b|generated .*do not (edit|modify)).*$`)
)

// kindByName judges a file by its path alone.
func kindByName(p string) kind {
	base, ext := path.Base(p), strings.ToLower(path.Ext(p))
	dirs := strings.Split(path.Dir(p), "/")
	switch {
	case slices.ContainsFunc(dirs, func(d string) bool { return slices.Contains(fixtureDirs, d) }):
		return fixture
	case slices.Contains(lockFiles, base), strings.Contains(base, ".min."):
		return generated
	case slices.Contains(strings.Fields("CODEOWNERS MAINTAINERS AUTHORS CONTRIBUTORS OWNERS LICENSE LICENCE COPYING README NOTICE CHANGELOG"), strings.TrimSuffix(base, path.Ext(base))):
		return doc
	case languages[ext] != "":
		if testBase.MatchString(base) || slices.ContainsFunc(dirs, func(d string) bool { return d == "test" || d == "tests" || d == "__tests__" || d == "spec" }) {
			return test
		}
		return code
	case slices.Contains(docTypes, ext):
		return doc
	case slices.Contains(configTypes, ext), base == "Makefile", base == "Dockerfile", base == "Gemfile", base == "Jenkinsfile":
		return config
	}
	return other
}

// kindByHead corrects that by the file's first bytes. A generated file says so
// at the offset it returns, -1 for none.
func kindByHead(f *file, head []byte) (kind, int) {
	if bytes.IndexByte(head, 0) >= 0 {
		return binary, -1
	}
	if f.kind != code && f.kind != test && f.kind != config {
		return f.kind, -1
	}
	head = head[:min(len(head), 2048)]
	if !bytes.Contains(head, []byte("enerated")) && !bytes.Contains(head, []byte("ENERATED")) {
		return f.kind, -1 // most files: an expression is tried on the others only
	}
	mark := otherMark
	if f.lang == "Go" {
		mark = generation
	}
	if at := mark.FindIndex(head); at != nil {
		return generated, at[0]
	}
	return f.kind, -1
}
