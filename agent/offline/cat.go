package offline

import (
	"path"
	"slices"
	"strings"
)

var goCode = []string{"Go"}

func cat() animal {
	return animal{
		name:    "cat",
		opening: "No model behind me: I look, I do not reason. So: no likelihoods, only what is there and can be pointed at.",
		nothing: "I walked along the walls and found no hole that I could point at. That is not the same as there being none.",
		probes: []probe{
			{name: "fixme", kinds: []kind{code, test, config}, words: []string{"FIXME", "XXX", "HACK", "BUG"}, ok: note(fixNote)},
			{name: "panic", kinds: []kind{code}, langs: goCode, words: []string{"panic("}, ok: func(l string) bool { return inCode(l) && goPanic(l) }},
			{name: "panic", kinds: []kind{code}, langs: []string{"Rust"}, words: []string{".unwrap()", "panic!("}, ok: inCode},
			{name: "danger", kinds: []kind{code}, langs: goCode, words: []string{"InsecureSkipVerify", "unsafe.Pointer", "os.RemoveAll(", "exec.Command("}, ok: inCode},
			{name: "danger", kinds: []kind{code}, langs: []string{"Python"}, words: []string{"eval(", "exec(", "pickle.load", "shell=True", "except:"}, ok: func(l string) bool {
				return inCode(l) && pyDanger(l)
			}},
			{name: "danger", kinds: []kind{code}, langs: []string{"JavaScript", "TypeScript"}, words: []string{"eval(", "innerHTML =", "dangerouslySetInnerHTML", "child_process"}, ok: inCode},
			{name: "danger", kinds: []kind{code}, langs: []string{"Rust"}, words: []string{"unsafe {", "unsafe fn"}, ok: inCode},
			{name: "danger", kinds: []kind{code}, langs: []string{"C", "C++"}, words: []string{"strcpy(", "sprintf(", "gets(", "system("}, ok: func(l string) bool { return inCode(l) && cDanger(l) }},
			{name: "skip", kinds: []kind{test}, langs: goCode, words: []string{".Skip(", ".Skipf(", ".SkipNow("}, ok: inCode},
			{name: "skip", kinds: []kind{test}, langs: []string{"Python"}, words: []string{"mark.skip", "unittest.skip", "skipTest("}, ok: inCode},
			{name: "skip", kinds: []kind{test}, langs: []string{"JavaScript", "TypeScript"}, words: []string{"it.skip(", "test.skip(", "describe.skip(", "xit(", "xdescribe("}, ok: matches(`^\s*(it\.skip|test\.skip|describe\.skip|xit|xdescribe)\(`)},
			{name: "skip", kinds: []kind{test, code}, langs: []string{"Rust"}, words: []string{"#[ignore"}},
			{name: "skip", kinds: []kind{test}, langs: []string{"Java", "Kotlin"}, words: []string{"@Ignore", "@Disabled"}},
			{name: "dropped", kinds: []kind{code}, langs: goCode, words: []string{"_ = "}, ok: matches(`^\s*_(, _)* = [\w.]+\(`)},
			{name: "action", kinds: []kind{config}, words: []string{"uses:"}, ok: matches(movedAction)},
			{name: "trial", kinds: []kind{doc, code}, words: []string{"xperimental", "unstable", "may change", "subject to change"}, ok: func(l string) bool { return !strings.Contains(l, "import") && (!inCode(l) || isProse(l)) }},
		},
		look: func(s *survey) []observation {
			return slices.Concat(s.untested(), s.hotUntested(), s.fixmes(), s.dangers(), s.skips(), s.loose(), s.panics(), s.trials(), s.dropped(), s.ownTest(), s.actions())
		},
	}
}

var (
	goPanic  = matches(`(^|[^\w."])panic\(`)
	pyDanger = matches(`(^|[^\w.])(eval|exec)\(|pickle\.loads?\(|shell=True|except:\s*($|#)`)
	cDanger  = matches(`(^|[^\w.])(strcpy|sprintf|gets|system)\(`)
	isProse  = matches(`^[#*\-\s]*[A-Z][\w'-]* ([\w'-]+ ){3,}`)
)

// stem is what a source file and its test have in common.
func stem(p string) string {
	base := path.Base(p)
	base = strings.ToLower(strings.TrimSuffix(base, path.Ext(base)))
	for _, mark := range []string{"test_", "_test", ".test", ".spec", "_spec", "tests", "test"} {
		base = strings.TrimPrefix(strings.TrimSuffix(base, mark), mark)
	}
	return strings.Trim(base, "_.-")
}

// withoutTest lists code that no test stands beside: in Go none in the same
// directory, elsewhere none with the same stem.
func (s *survey) withoutTest() []*file {
	dirs, stems := map[string]bool{}, map[string]bool{}
	for _, f := range s.of(test) {
		dirs[f.dir+" "+f.lang] = true
		stems[stem(f.path)+" "+f.lang] = true
	}
	var out []*file
	for _, f := range s.of(code) {
		if f.lang == "Go" && dirs[f.dir+" Go"] || f.lang != "Go" && stems[stem(f.path)+" "+f.lang] || f.lang == "shell" || f.lang == "SQL" || f.lang == "assembly" || f.lang == "C" && path.Ext(f.path) == ".h" {
			continue
		}
		out = append(out, f)
	}
	return out
}

func (s *survey) untested() []observation {
	sum, n := map[string]int{}, map[string]int{}
	for _, f := range s.withoutTest() {
		sum[f.dir] += f.lines
		n[f.dir]++
	}
	if len(sum) == 0 {
		return nil
	}
	worst := ranked(sum)[0]
	var big *file
	for _, f := range s.withoutTest() {
		if f.dir == worst.name && (big == nil || f.lines > big.lines) {
			big = f
		}
	}
	dir, all := "`"+worst.name+"/`", count(len(sum), "directory")
	if worst.name == "." {
		dir = "the top directory"
	}
	if len(s.of(test)) == 0 {
		return []observation{observe("Write the first test, for `"+big.path+"`.",
			"Not one test among %s. The most that can break unseen is in %s: %d lines in %s; begin reading at %s.",
			count(len(s.files), "file"), dir, worst.n, count(n[worst.name], "file"), big.top())}
	}
	return []observation{observe("Write one test that fails when `"+big.path+"` is wrong.",
		"No test stands beside %d lines of code in %s (%s); it is the largest of %s like that. Its biggest file begins at %s and ends at %s.",
		worst.n, dir, count(n[worst.name], "file"), all, big.top(), big.end())}
}

func (s *survey) hotUntested() []observation {
	bare := s.withoutTest()
	for _, c := range s.history.changed() {
		if c.n < 3 {
			return nil
		}
		i := slices.IndexFunc(bare, func(f *file) bool { return f.path == c.name })
		if i < 0 {
			continue
		}
		_, ch, ok := s.history.newest(func(p string) bool { return p == c.name })
		if !ok {
			return nil
		}
		last := cite{path: historyFile, line: ch.line, quote: quote(ch.path)}
		return []observation{observe("Before the next change to `"+c.name+"`, pin down what it does now with a test.",
			"What changes most and has no test: `%s`, changed in %d of %s, last at %s. It begins at %s.",
			c.name, c.n, count(len(s.history), "commit"), last, bare[i].top())}
	}
	return nil
}

func (s *survey) fixmes() []observation {
	return s.tell("fixme", byKind, "place", "file", "Settle %s, or write down why it may stay.",
		"%s that the authors themselves called broken (FIXME, XXX, HACK, BUG), in %s. One of them: %s.")
}

func (s *survey) dangers() []observation {
	return s.tell("danger", nil, "line", "file", "Say in a comment at %s what keeps this call safe.",
		"Sharp tools in use: %s in %s, the first %s. It may be right; it is where one looks first after an incident.")
}

func (s *survey) skips() []observation {
	return s.tell("skip", nil, "line", "test file", "Find out on which machines %s is skipped, and whether any machine still runs it.",
		"%s in %s by which a test, or a case of one, is passed over and counts as no failure, for instance %s.")
}

func (s *survey) loose() []observation {
	var all []dependency
	direct := directOnly(s.dependencies())
	for _, d := range direct {
		if d.unsettled() != "" && quote(d.line.text) != "" {
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		return nil
	}
	c := all[0].cite()
	return []observation{observe("Pin `"+all[0].name+"`, or decide that its next breaking change is yours to follow.",
		"%d of %s promise nothing about tomorrow: %s %s.", len(all), count(len(direct), "direct dependency"), c, all[0].unsettled())}
}

func (d dependency) cite() cite {
	return cite{path: d.file, line: d.line.line, quote: quote(d.line.text)}
}

func (s *survey) panics() []observation {
	return s.tell("panic", nil, "line", "file", "Say in the documentation what makes %s happen, or return an error there.",
		"%s outside the tests that end the program instead of saying no, in %s; the first is %s.")
}

func (s *survey) trials() []observation {
	return s.tell("trial", byKind, "line", "file", "Decide whether %s is in scope or on trial.",
		"Ground that may move, by its own words: %s in %s, such as %s.")
}

func (s *survey) dropped() []observation {
	return s.tell("dropped", nil, "place", "file", "Say at %s why the result may be lost.",
		"%s in %s where a result is thrown away on purpose, such as %s.")
}

// ownTest finds the longest Go file that has no test file of its own name.
func (s *survey) ownTest() []observation {
	names := map[string]bool{}
	for _, f := range s.of(test) {
		names[f.dir+"/"+stem(f.path)] = true
	}
	n, all := 0, 0
	var big *file
	for _, f := range s.of(code) {
		if f.lang != "Go" || f.lines == 0 {
			continue
		}
		all++
		if names[f.dir+"/"+stem(f.path)] {
			continue
		}
		n++
		if big == nil || f.lines > big.lines {
			big = f
		}
	}
	if big == nil || len(names) == 0 || big.lines < 50 {
		return nil
	}
	return []observation{observe("Find out which test would fail if `"+big.path+"` were wrong.",
		"%d of %s have no test file of their own name; the longest of those begins at %s and ends at %s. Tests elsewhere may cover it; from the names one cannot tell.",
		n, count(all, "Go file"), big.top(), big.end())}
}

func (s *survey) actions() []observation {
	return s.tell("action", nil, "line", "file", "Pin %s to a commit.",
		"%s in %s let somebody else's code run in the pipeline under a name that can be moved, the first %s.")
}

// movedAction is a step of somebody else's under a tag or a branch; a commit,
// which may begin with a digit too, cannot be moved.
const movedAction = `^\s*(- )?uses:\s*[\w.-]+/[\w./-]+@(v?\d+(\.[\w-]+)*|main|master)\s*(#.*)?$`
