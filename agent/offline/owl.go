package offline

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

func owl() animal {
	return animal{
		name:    "owl",
		opening: "First, so that it is said: I have no model behind me. I look, I do not reason. Then, in order:",
		nothing: "First: I looked for steps, dates and checks. Then: I found none that is written down. Only then would there be something to say.",
		probes: []probe{
			{name: "todo", kinds: []kind{code, test, config}, words: []string{"TODO"}, ok: note(todoNote)},
			{name: "box", kinds: []kind{doc}, words: []string{"- [ ]", "* [ ]"}, ok: matches(`^\s*[-*] \[ \] \S`)},
			{name: "ticked", kinds: []kind{doc}, words: []string{"- [x]", "* [x]", "- [X]"}, ok: matches(`^\s*[-*] \[[xX]\] \S`)},
			{name: "step", kinds: []kind{config}, words: []string{"run:", "script:", "steps:", "command:"}, ok: matches(`^\s*-?\s*(run|script|command): *[^|>\s]`)},
		},
		look: func(s *survey) []observation {
			return slices.Concat(s.checked(), s.pace(), s.stale(), s.todos(), s.longest(), s.boxes(), s.release(), s.crowded())
		},
	}
}

var (
	ciFile     = regexp.MustCompile(`^(\.github/workflows/.*\.ya?ml|\.gitlab-ci\.yml|\.travis\.yml|\.circleci/config\.yml|azure-pipelines\.yml|Jenkinsfile|\.woodpecker.*\.ya?ml|\.builds/.*\.yml|appveyor\.yml|\.cirrus\.yml|\.ci/.*)$`)
	makeTarget = regexp.MustCompile(`^([A-Za-z][\w.-]*):([^=]|$)`)
	npmScript  = regexp.MustCompile(`^\s*"(test|build|lint|check|start)"\s*:\s*"`)
	runsChecks = regexp.MustCompile(`(?i)\b(test|check|lint|vet|build)\b`)
)

// checked says what is checked when, and by what.
func (s *survey) checked() []observation {
	var ci []*file
	for _, f := range s.files {
		if ciFile.MatchString(f.path) && f.kind != binary {
			ci = append(ci, f)
		}
	}
	for _, f := range ci {
		if h := ciStep(f); h.line > 0 {
			return []observation{observe("Run the command of "+f.at(h).place()+" yourself once, and note how long it takes.",
				"Machines are told what to do in %s; one of their steps is %s.", count(len(ci), "file"), f.at(h))}
		}
	}
	targets, first := 0, where{}
	for _, f := range s.of(config) {
		base := path.Base(f.path)
		if base != "Makefile" && base != "package.json" || strings.Count(f.path, "/") > 1 {
			continue
		}
		for n, line := range numbered(s.texts[f.path]) {
			if base == "Makefile" && makeTarget.MatchString(line) || base == "package.json" && npmScript.MatchString(line) {
				targets++
				if quote(line) != "" && (first.f == nil || !runsChecks.MatchString(first.text) && runsChecks.MatchString(line)) {
					first = where{f, hit{line: n, text: line}}
				}
			}
		}
	}
	if first.f == nil {
		if len(ci) == 0 && len(s.of(code)) > 0 {
			f := s.of(code)[0]
			return []observation{observe("Write down, as one command, what has to pass before a change is done.",
				"Among %s none tells a machine what to check: no pipeline and no target. Whoever changes %s checks what comes to mind.", count(len(s.files), "file"), f.top())}
		}
		return nil
	}
	if len(ci) > 0 {
		return nil
	}
	return []observation{observe("Let a machine run "+first.cite().place()+" on every change.",
		"I see no pipeline file of a kind that I know. There are %s for somebody to remember, among them %s.", count(targets, "target"), first.cite())}
}

// ciStep is the step that says most about checking.
func ciStep(f *file) hit {
	got := f.found["step"]
	if got == nil {
		return hit{}
	}
	for _, h := range got.hits {
		if runsChecks.MatchString(h.text) && quote(h.text) != "" {
			return h
		}
	}
	for _, h := range got.hits {
		if quote(h.text) != "" {
			return h
		}
	}
	return hit{}
}

func (s *survey) pace() []observation {
	h := s.history
	if len(h) < 2 || h[0].cite().quote == "" || h[len(h)-1].cite().quote == "" {
		return nil
	}
	span := days(h[0].date.Sub(h[len(h)-1].date))
	return []observation{observe("Compare the last thirty days' pace with what is still open before naming a date.",
		"%s lie between %s and %s, %s apart; %d of them fall into the last thirty days of that. That is the pace, whatever the plan says.",
		count(len(h), "commit"), h[len(h)-1].cite(), h[0].cite(), count(span, "day"), h.within(30))}
}

// stale finds the directory with code that has rested longest.
func (s *survey) stale() []observation {
	if len(s.history) == 0 {
		return nil
	}
	var worst commit
	var row change
	dir := ""
	seen := map[string]bool{}
	for _, f := range s.of(code) {
		if seen[f.dir] || f.dir == "." {
			continue
		}
		seen[f.dir] = true
		c, ch, ok := s.history.newest(func(p string) bool { return path.Dir(p) == f.dir })
		if ok && (dir == "" || c.date.Before(worst.date)) {
			worst, row, dir = c, ch, f.dir
		}
	}
	if dir == "" || days(s.history[0].date.Sub(worst.date)) < 90 {
		return nil
	}
	at := cite{path: historyFile, line: row.line, quote: quote(row.path)}
	return []observation{observe("Ask whether `"+dir+"/` is finished or forgotten, and write the answer down.",
		"`%s/` rests: its last change is %s, %s before the newest commit %s.", dir, at, count(days(s.history[0].date.Sub(worst.date)), "day"), s.history[0].cite())}
}

func (s *survey) todos() []observation {
	n, files, at := s.met("todo", byKind)
	if at.f == nil {
		return nil
	}
	by := map[string]int{}
	for _, f := range s.files {
		if got := f.found["todo"]; got != nil {
			by[f.path] += got.n
		}
	}
	most := ranked(by)[0]
	if files == 1 {
		return []observation{observe("Decide about "+at.cite().place()+": now, by when, or never.",
			"Work in hand that nobody has finished: %s, all in one file, the first %s.", count(n, "TODO note"), at.cite())}
	}
	return []observation{observe("Sort the notes of `"+most.name+"` into: now, by when, never.",
		"Work in hand that nobody has finished: %s in %s, %d of them in `%s`. One of them: %s.",
		count(n, "TODO note"), count(files, "file"), most.n, most.name, at.cite())}
}

func (s *survey) longest() []observation {
	var at *file
	for _, f := range s.of(code) {
		if f.long.lines > 60 && quote(f.long.text) != "" && (at == nil || f.long.lines > at.long.lines) {
			at = f
		}
	}
	if at == nil {
		return nil
	}
	return []observation{observe("Find the first thing "+at.at(at.long.hit).place()+" does that has a name of its own, and take it out.",
		"The longest single step is %s: %s without a break. That is where an order of steps is hardest to see.", at.at(at.long.hit), count(at.long.lines, "line"))}
}

func (s *survey) boxes() []observation {
	open, _, at := s.met("box", func(w where) int { return strings.Count(w.f.path, "/") })
	done, _, _ := s.met("ticked", nil)
	if at.f == nil {
		return nil
	}
	return []observation{observe("Give "+at.cite().place()+" a name and a date, or strike it out.",
		"Of %s in the documents %d are ticked. The first open one is %s.", count(open+done, "box"), done, at.cite())}
}

var (
	logHeading   = regexp.MustCompile(`^#{1,3}\s+\[?v?(\d+\.\d+|[Uu]nreleased)|^v?\d+\.\d+(\.\d+)?(\s|$)`)
	changelogBox = regexp.MustCompile(`(?i)^(changelog|changes|history|news|releases?)(\.\w+)?$`)
)

func (s *survey) release() []observation {
	for _, f := range s.of(doc) {
		if !changelogBox.MatchString(path.Base(f.path)) || strings.Count(f.path, "/") > 1 {
			continue
		}
		entries, first := 0, hit{}
		for n, line := range numbered(s.texts[f.path]) {
			if logHeading.MatchString(line) {
				entries++
				if first.line == 0 {
					first = hit{line: n, text: line}
				}
			}
		}
		if quote(first.text) == "" {
			continue
		}
		return []observation{observe("", "The log of changes holds %s; the newest is %s.", count(entries, "entry"), f.at(first))}
	}
	return nil
}

func (s *survey) crowded() []observation {
	by := map[string]int{}
	for _, f := range s.of(code, test) {
		by[f.dir]++
	}
	if len(by) == 0 {
		return nil
	}
	most := ranked(by)[0]
	total := len(s.of(code, test))
	if most.n < 5 {
		return nil
	}
	var big *file
	for _, f := range s.of(code) {
		if f.dir == most.name && (big == nil || f.lines > big.lines) {
			big = f
		}
	}
	if big == nil {
		return nil
	}
	where := "`" + most.name + "/`"
	if most.name == "." {
		where = "the top directory"
	}
	return []observation{observe("Write the order in which a newcomer should read the files of "+where+".",
		"%d of %s lie side by side in %s; in all they are spread over %s. Nothing in that tells which comes first; the longest begins at %s.",
		most.n, count(total, "source file"), where, count(len(by), "directory"), big.top())}
}
