package project

import (
	"path"
	"slices"
	"strings"

	"conclave/internal/pattern"
)

// pairing knows the tests of a project.
type pairing struct {
	goDirs map[string]bool // directories with a _test.go
	words  map[string]bool // every word of every test, and of the names of tests
	folded map[string]bool // the same, however they are spelled
	loaded map[string]bool // folded words of the lines by which tests load something
	bases  []string        // the names of tests, folded
	goText []*File
	n      int
}

func (p *Project) pairs() *pairing {
	p.pairOnce.Do(func() {
		x := &pairing{goDirs: map[string]bool{}, words: map[string]bool{}, folded: map[string]bool{},
			loaded: map[string]bool{}}
		for _, f := range p.Files {
			if f.Kind != Test || !f.Read {
				continue
			}
			x.n++
			if f.Lang == "Go" {
				x.goDirs[f.Dir] = true
				x.goText = append(x.goText, f)
				continue
			}
			eachWord(f.Text, func(w string) { x.words[w] = true })
			for _, line := range loads.FindAllString(f.Text, -1) {
				eachWord(line, func(w string) { x.loaded[fold(w)] = true })
			}
			x.bases = append(x.bases, fold(f.Base))
			eachWord(strings.TrimSuffix(f.Base, path.Ext(f.Base)), func(w string) {
				x.words[w] = true
				for _, mark := range []string{"test_", "_test", "_tests", "_spec", "Test", "Tests", "TestCase", "IT", "ITCase"} {
					x.words[strings.TrimPrefix(strings.TrimSuffix(w, mark), mark)] = true
				}
			})
		}
		for w := range x.words {
			x.folded[fold(w)] = true
		}
		p.pairing = x
	})
	return p.pairing
}

func eachWord(s string, do func(string)) {
	start := -1
	for i := 0; i <= len(s); i++ {
		if i < len(s) && (s[i] == '_' || s[i] == '-' && start >= 0 || s[i] >= '0' && s[i] <= '9' || s[i] >= 'a' &&
			s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z' || s[i] >= 0x80) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			do(s[start:i])
			start = -1
		}
	}
}

// loads is a line by which a test takes something in.
var loads = pattern.New(`(?m)^\s*(?:(?:pub\s+)?use|import|from|mod|export)\b.*$` +
	`|^.*\b(?:require|import|mock|importorskip|import_module)\(.*$|^\}? ?from ['"].*$`)

// Tests is how many files of tests were read.
func (p *Project) Tests() int { return p.pairs().n }

var (
	decides = pattern.New(`(?m)^\s*(?:\}\s*)?(?:if|for|while|switch|match|elif|else|try|except|catch|return` +
		`|raise|throw|await|yield|with|case)\b`)
	noSubject = pattern.New(`^(main\.go|__main__\.py|__init__\.py|_version\.py|version\.\w+|setup\w*\.py|conf\.py` +
		`|conftest\.py|manage\.py|index\.\w+|mod\.rs|lib\.rs|main\.rs|build\.rs|package-info\.java|module-info\.java` +
		`|doc\.go` +
		`|.*\.d\.ts|.*\.config\.\w+|.*types?\.\w+|constants?\.\w+|.*rc\.\w+)$`)
	aside = strings.Fields("scripts script tools tool hack ci build migrations contrib bin cmd locale locales i18n " +
		"lang translations")
)

// subject says whether a file is one that its language's people test: it
// decides something, is no entry and no list of names or types.
func subject(f *File) bool {
	if f.Kind != Source || !f.Read || f.Lines < 40 || noSubject.MatchString(strings.ToLower(f.Base)) {
		return false
	}
	switch f.Lang {
	case "Go":
		if strings.Contains(f.Text, "\npackage main\n") || strings.HasPrefix(f.Text, "package main\n") {
			return false
		}
	case "Python", "JavaScript", "TypeScript", "Rust", "Java":
	default:
		return false
	}
	if slices.ContainsFunc(strings.Split(f.Dir, "/"), func(d string) bool { return slices.Contains(aside, d) }) {
		return false
	}
	return len(decides.FindAllStringIndex(f.Text, 12)) >= 12
}

// MostTested says of a language that most of the sources which its people test
// have a test beside or within them, or one that names them or what they declare,
// and that of three in four some word of a test speaks at least: then one without
// is an exception, and no habit.
func (p *Project) MostTested(lang string) bool {
	x := p.pairs()
	all, known, bare := 0, 0, 0
	for _, f := range p.Files {
		if f.Lang != lang || !subject(f) {
			continue
		}
		switch all++; {
		case p.beside(x, f) || x.names(f):
			known++
		case !x.mentions(f):
			bare++
		}
	}
	return known*2 > all && bare*4 <= all
}

// Untested lists the sources for which no test is known: none beside it by the
// habit of its language, none within it, and no word in any test names it. In a
// project without tests there is nothing to list.
func (p *Project) Untested() []*File {
	x := p.pairs()
	if x.n == 0 || !p.Looked.Whole() {
		return nil
	}
	var out []*File
	for _, f := range p.Files {
		if subject(f) && !p.beside(x, f) && !x.names(f) && !x.mentions(f) {
			out = append(out, f)
		}
	}
	return out
}

func stemOf(f *File) string { return strings.TrimSuffix(f.Base, path.Ext(f.Base)) }

// beside says that a test stands where the language's people put it: in the same
// package, next to the source or within it.
func (p *Project) beside(x *pairing, f *File) bool {
	stem := stemOf(f)
	switch f.Lang {
	case "Go":
		return x.goDirs[f.Dir]
	case "Rust":
		if strings.Contains(f.Text, "#[cfg(test)]") || strings.Contains(f.Text, "#[test]") || strings.Contains(f.Text,
			"/// ```") || strings.Contains(f.Text, "//! ```") {
			return true
		}
		for _, beside := range []string{"tests.rs", "test.rs", stem + "/tests.rs", stem + "_test.rs", stem + "_tests.rs"} {
			if p.names[path.Join(f.Dir, beside)] {
				return true
			}
		}
	case "Python":
		return strings.Contains(f.Text, ">>> ")
	}
	return false
}

// names says that a test can mean nothing else: it bears the name of the source or
// loads it, or speaks of something that the source declares under a name of its
// own.
func (x *pairing) names(f *File) bool {
	if f.Lang == "Go" {
		return slices.ContainsFunc(x.goText, func(t *File) bool { return strings.Contains(t.Text, "/"+path.Base(f.Dir)+`"`) })
	}
	stem := stemOf(f)
	short := fold(strings.TrimLeft(stem, "_"))
	bears := func(base string) bool { return strings.Contains(base, short) }
	if x.loaded[short] || len(short) > 5 && slices.ContainsFunc(x.bases, bears) || f.Lang == "Java" && x.words[stem] {
		return true
	}
	for _, m := range declared.FindAllStringSubmatch(f.Text, -1) {
		if x.words[m[1]] && ownName.MatchString(m[1]) {
			return true
		}
	}
	return false
}

// ownName is a name that is no word of the language: of several words, or long.
var ownName = pattern.New(`[a-z][A-Z]|\w_\w|^\w{10,}$`)

// mentions says that some word of a test may mean the source, or something that it
// declares. The word may as well mean something else.
func (x *pairing) mentions(f *File) bool {
	if f.Lang == "Go" {
		return false
	}
	stem := stemOf(f)
	if stem == "" || x.words[stem] || f.Lang == "Python" && x.words[strings.TrimLeft(stem, "_")] {
		return true
	}
	if f.Lang == "Java" {
		for _, mark := range []string{"Impl", "Default", "Abstract", "Base"} {
			if short := strings.TrimPrefix(strings.TrimSuffix(stem, mark), mark); short != stem && x.words[short] {
				return true
			}
		}
	}
	if x.folded[fold(stem)] { // useThing.ts is tested as use-thing
		return true
	}
	return slices.ContainsFunc(declared.FindAllStringSubmatch(f.Text, -1), func(m []string) bool { return x.words[m[1]] })
}

// declared are the names that a file gives to others.
var declared = pattern.New(`(?m)^(?:export\s+(?:default\s+)?|pub(?:\([^)]*\))?\s+|public\s+|final\s+` +
	`|abstract\s+|async\s+)*` +
	`(?:class|def|function|const|let|fn|struct|enum|trait|interface|type)\s+([A-Za-z_]\w{3,})`)

// fold writes a name as whoever spells it otherwise would recognise it.
func fold(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
}
