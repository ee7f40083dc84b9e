package offline

import (
	"regexp"
	"slices"
	"strings"
)

func puppy() animal {
	return animal{
		name:    "puppy",
		opening: "No model here, just a nose: I look, I do not reason. And look what I found!",
		nothing: "I looked everywhere for something that already works and could be shown, and I found nothing yet. One small file would change that.",
		probes: []probe{
			{name: "test", kinds: []kind{test}, langs: goCode, words: []string{"func Test"}, ok: func(l string) bool { return goTest(l) && !strings.HasPrefix(l, "func TestMain(") }},
			{name: "test", kinds: []kind{test}, langs: []string{"Python"}, words: []string{"def test"}, ok: matches(`^\s*(async )?def test\w*\(`)},
			{name: "test", kinds: []kind{test}, langs: []string{"JavaScript", "TypeScript"}, words: []string{"it(", "test("}, ok: matches(`^\s*(it|test)\(`)},
			{name: "test", kinds: []kind{test, code}, langs: []string{"Rust"}, words: []string{"#[test]", "#[tokio::test]"}},
			{name: "test", kinds: []kind{test}, langs: []string{"Java", "Kotlin"}, words: []string{"@Test"}},
			{name: "example", kinds: []kind{test}, langs: goCode, words: []string{"func Example"}, ok: matches(`^func Example\w*\(`)},
			{name: "harder", kinds: []kind{test}, langs: goCode, words: []string{"func Fuzz", "func Benchmark"}, ok: matches(`^func (Fuzz|Benchmark)\w*\(`)},
			{name: "small", kinds: []kind{code, test}, words: []string{"TODO"}, ok: note(todoNote)},
			{name: "small", kinds: []kind{doc}, words: []string{"TODO", "help wanted", "good first issue", "elcome"}, ok: matches(`\bTODO\b.{6,}|(?i)(help wanted|good first issue|(contributions?|pull requests?|patches) (are )?(very )?welcome)`)},
		},
		look: func(s *survey) []observation {
			return slices.Concat(s.tests(), s.quickStart(), s.fresh(), s.examples(), s.smallest(), s.halfHour(), s.harder())
		},
	}
}

var goTest = matches(`^func Test\w*\(`)

func (s *survey) tests() []observation {
	var most *file
	n, files := 0, 0
	for _, f := range s.files {
		got := f.found["test"]
		if got == nil {
			continue
		}
		n += got.n
		files++
		if most == nil || got.n > most.found["test"].n {
			most = f
		}
	}
	if most == nil {
		return nil
	}
	got := most.found["test"]
	h := got.hits[0]
	return []observation{observe("Run the tests of `"+most.path+"` and show the green line to somebody.",
		"There is so much that already holds: %s in %s! `%s` alone has %d, beginning with %s.",
		count(n, "test"), count(files, "file"), most.path, got.n, most.at(h))}
}

var shellish = regexp.MustCompile(`^[$>]?\s*(go (get|install|run)|npm (i|install|run|start)|npx|yarn|pnpm|pip3? install|cargo (add|run|install)|brew install|docker (run|compose)|make\b|git clone \S+[:/]|curl http|python3? -m)`)

// quickStart is the first thing that a README lets one try.
func (s *survey) quickStart() []observation {
	f := s.readme()
	if f == nil {
		return nil
	}
	fences := 0
	var try hit
	for n, line := range numbered(s.texts[f.path]) {
		t := strings.TrimSpace(line)
		if strings.HasPrefix(t, "```") {
			fences++
			continue
		}
		if try.line == 0 && shellish.MatchString(t) && (fences%2 == 1 || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")) && quote(line) != "" {
			try = hit{line: n, text: line}
		}
	}
	if try.line == 0 {
		return nil
	}
	return []observation{observe("Type what stands at "+f.at(try).place()+" in an empty directory and time it.",
		"Somebody new has a first thing to type: %s, in one of %s of the README.", f.at(try), count(max(1, fences/2), "code block"))}
}

// fresh is what was begun last.
func (s *survey) fresh() []observation {
	if len(s.history) == 0 || s.history[0].said().quote == "" {
		return nil
	}
	c := s.history[0]
	added := 0
	for _, x := range s.history[:min(10, len(s.history))] {
		for _, ch := range x.changes {
			if ch.status == 'A' {
				added++
			}
		}
	}
	return []observation{observe("Tell somebody what "+c.said().place()+" made possible.",
		"It moves: the newest step is %s, and the last %s brought %s.", c.said(), count(min(10, len(s.history)), "commit"), count(added, "new file"))}
}

func (s *survey) examples() []observation {
	n, files, at := s.met("example", func(w where) int {
		if strings.Contains(w.f.path, "example") {
			return 0
		}
		return 1
	})
	if at.f != nil {
		return []observation{observe("Open "+at.cite().place()+" and change one line of it.",
			"Something to show right now: %s in %s that run and are read as documentation, like %s.", count(n, "example"), count(files, "file"), at.cite())}
	}
	for _, f := range s.of(code) {
		if strings.HasPrefix(f.path, "example") || strings.Contains(f.path, "/example") {
			return []observation{observe("Run `"+f.path+"` and change one thing in it.", "There is an example to play with: it begins at %s.", f.top())}
		}
	}
	return nil
}

// smallest finds the note in the shortest file: the step that costs least.
func (s *survey) smallest() []observation {
	n, _, at := s.met("small", func(w where) int { return w.f.lines })
	if at.f == nil || at.f.lines > 400 {
		return nil
	}
	return []observation{observe("Take "+at.cite().place()+" within the hour.",
		"Here is a small thing that asks for a hand: %s, in a file of only %s. Of such notes I count %d.",
		at.cite(), count(at.f.lines, "line"), n)}
}

// halfHour is the smallest piece of code without a test.
func (s *survey) halfHour() []observation {
	var best *file
	for _, f := range s.withoutTest() {
		if f.lines >= 15 && f.head.line > 0 && quote(f.head.text) != "" && (best == nil || f.lines < best.lines) {
			best = f
		}
	}
	if best == nil {
		return nil
	}
	return []observation{observe("Write one test for `"+best.path+"`.",
		"A win that fits into an hour: `%s` has no test beside it and only %s; it begins at %s.", best.path, count(best.lines, "line"), best.top())}
}

func (s *survey) harder() []observation {
	return s.tell("harder", nil, "function", "file", "",
		"Someone enjoyed being thorough: %s that fuzz or measure in %s, for instance %s.")
}
