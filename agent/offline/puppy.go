package offline

import (
	"regexp"
	"strings"

	"conclave/internal/project"
)

// puppy looks for what is nearly there, and for what is strong.
func puppy() animal {
	return animal{
		name:    "puppy",
		opening: "No model here, just a nose: I look, I do not reason.",
		nothing: "I looked for something that is done and not shown, or nearly done, and found nothing I could point at.",
		rules: []rule{
			waitingEntries, unfuzzed, untyped, unshownExamples, unshownGuide, nearlyDone, smallNotes, strongest,
		},
	}
}

var unreleased = regexp.MustCompile(`(?i)^(?:#{1,4}\s*)?\[?(unreleased|next release|upcoming)\]?(?:\s*[-–(:].*)?$`)

// waitingEntries are changes that are written down and not released.
func waitingEntries(s *sight) []finding {
	f, _ := s.releases()
	if f == nil || !citable(f.Path) {
		return nil
	}
	start, n := 0, 0
	var firstEntry int
	for i, line := range strings.Split(f.Text, "\n") {
		line = strings.TrimRight(line, "\r")
		switch {
		case start == 0 && unreleased.MatchString(line):
			start = i + 1
		case start > 0 && (logHeading.MatchString(line) && (strings.HasPrefix(line, "#") || strings.HasPrefix(line, "["))):
			if n < 3 {
				return nil
			}
			return []finding{found("the next release", "%s wait to be released: they stand under %s, the first at %s.",
				count(n, "change"), at(f, start), at(f, firstEntry)).
				then("Give the section its number and release it.", costHour, "users who could have all that today").
				weighs(worthKnowing, "release changelog")}
		case start > 0 && (strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ")):
			if n++; firstEntry == 0 {
				firstEntry = i + 1
			}
		}
	}
	return nil
}

var fuzzFunc = regexp.MustCompile(`(?m)^func Fuzz[A-Z]\w*\(`)

// unfuzzed: fuzz tests are written, and no pipeline lets them look for
// anything.
func unfuzzed(s *sight) []finding {
	ci := s.pipelines()
	if len(ci) == 0 || !s.Looked.Whole() {
		return nil
	}
	for _, f := range s.Files {
		if f.Read && (strings.Contains(f.Text, "-fuzz") || strings.Contains(f.Text, "oss-fuzz") || strings.Contains(f.Text,
			"clusterfuzz")) && f.Kind != project.Doc && f.Kind != project.Test {
			return nil
		}
	}
	var g grouped
	for _, f := range s.own(project.Test) {
		if f.Lang != "Go" || !fuzzFunc.MatchString(f.Text) {
			continue
		}
		for n, line := range project.Lines(f.Text) {
			if fuzzFunc.MatchString(line) {
				g.add(f, n)
			}
		}
	}
	if g.n == 0 {
		return nil
	}
	return []finding{g.said("fuzz tests", "Fuzz tests are written %s, and no pipeline or script here runs one with "+
		"`-fuzz`: they try their examples and look for nothing new.").
		then("Let a nightly job fuzz the one at "+g.where[0].place()+" for a few minutes.", costHour,
			"the inputs that nobody thought of, for free").
		weighs(worthKnowing+2, "tests fuzz ci")}
}

var (
	pyDef      = regexp.MustCompile(`(?m)^\s*(?:async )?def \w+\(`)
	pyTypedDef = regexp.MustCompile(`(?m)^\s*(?:async )?def \w+\([^)]*\)\s*->`)
)

// untyped: a Python package whose functions say their types, without the file
// that lets others profit from them.
func untyped(s *sight) []finding {
	if !s.Looked.Whole() {
		return nil
	}
	for _, m := range s.Manifests() {
		if m.Tool != "pip" || m.File.Base == "requirements.txt" || m.Name.Text == "" || m.File.Dir != "." {
			continue
		}
		name := strings.ReplaceAll(strings.ToLower(m.Name.Text), "-", "_")
		for _, dir := range []string{name, "src/" + name} {
			init := s.File(dir + "/__init__.py")
			if init == nil {
				continue
			}
			if s.Has(dir+"/py.typed") || strings.Contains(m.File.Text, "py.typed") {
				return nil
			}
			all, typed := 0, 0
			var best *project.File
			most := 0
			for _, f := range s.own(project.Source) {
				if f.Lang == "Python" && strings.HasPrefix(f.Path, dir+"/") {
					n := len(pyTypedDef.FindAllString(f.Text, -1))
					all += len(pyDef.FindAllString(f.Text, -1))
					typed += n
					if n > most {
						best, most = f, n
					}
				}
			}
			if all < 20 || typed*10 < all*7 {
				return nil
			}
			line := 1 + strings.Count(best.Text[:pyTypedDef.FindStringIndex(best.Text)[0]+1], "\n")
			return []finding{found("`py.typed`", "At least %d of %d functions in `%s/` say what they return, such as the one "+
				"at %s, and there is no `py.typed`: the type checkers of those who import it ignore all that.", typed, all, dir,
				at(best, line)).
				then("Add an empty `"+dir+"/py.typed` and let the package ship it.", costMinutes,
					"every user's own guesses about types").
				weighs(worthKnowing+10, "types python packaging")}
		}
	}
	return nil
}

// unshownExamples: programs to try are there, and the README says nothing of
// them.
func unshownExamples(s *sight) []finding {
	f := s.readme()
	if f == nil || strings.Contains(strings.ToLower(f.Text), "example") || strings.Contains(strings.ToLower(f.Text),
		"sample") {
		return nil
	}
	var list []*project.File
	for _, x := range s.own(project.Example) {
		if top, _, _ := strings.Cut(x.Path, "/"); (top == "examples" || top == "example" || top == "_examples" ||
			top == "samples") && x.Lang != "" && x.Lines > 0 {
			list = append(list, x)
		}
	}
	if len(list) < 2 {
		return nil
	}
	top, _, _ := strings.Cut(list[0].Path, "/")
	return []finding{found("`"+top+"/`", "%s lie in `%s/`, among them %s, and the README (it begins at %s) has no word "+
		"“example”.", count(len(list), "example file"), top, at(list[0], 1), at(f, 1)).
		then("Point to `"+top+"/` from the README.", costMinutes, "newcomers who would learn fastest from them").
		weighs(welcome+8, "examples readme documentation")}
}

// unshownGuide: a guide for contributors, or documentation, that the README
// does not name.
func unshownGuide(s *sight) []finding {
	f := s.readme()
	if f == nil || !s.HasCode() {
		return nil
	}
	low := strings.ToLower(f.Text)
	for _, x := range s.documents() {
		if strings.HasPrefix(strings.ToUpper(x.Base), "CONTRIBUTING") && (x.Dir == "." || x.Dir == ".github" ||
			x.Dir == "docs") && x.Lines > 5 && !strings.Contains(low, "contribut") {
			return []finding{found("`"+x.Path+"`", "There is a guide for contributors, %s, and the README (it begins at %s) "+
				"has no word of it.", at(x, 1), at(f, 1)).
				then("Add one line to the README that names `"+x.Path+"`.", costMinutes,
					"the first question of whoever wants to help").
				weighs(welcome+6, "contributing readme documentation")}
		}
	}
	if strings.Contains(low, "docs") || strings.Contains(low, "documentation") || strings.Contains(low, "http") &&
		strings.Contains(low, "doc") {
		return nil
	}
	var docs []*project.File
	for _, x := range s.documents() {
		if (x.Dir == "docs" || x.Dir == "doc") && x.Lines > 20 {
			docs = append(docs, x)
		}
	}
	if len(docs) < 3 {
		return nil
	}
	return []finding{found("`"+docs[0].Dir+"/`",
		"%s lie in `%s/`, such as %s, and the README (it begins at %s) speaks of no documentation.", count(len(docs),
			"document"), docs[0].Dir, at(docs[0], 1), at(f, 1)).
		then("Point to `"+docs[0].Dir+"/` from the README.", costMinutes, "readers who stop at the README").
		weighs(welcome+4, "documentation readme")}
}

var tickedBox = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s+\[[xX]\]\s+\S`)

// nearlyDone is the list of tasks of which most are ticked.
func nearlyDone(s *sight) []finding {
	for _, f := range s.documents() {
		done, open, next := 0, 0, 0
		for _, l := range proseOf(f) {
			switch {
			case tickedBox.MatchString(l.text):
				done++
			case openBox.MatchString(l.text):
				if open++; next == 0 && at(f, l.n).quote != "" {
					next = l.n
				}
			}
		}
		if done < 3 || open == 0 || open > 3 || done < 2*open {
			continue
		}
		return []finding{found("`"+f.Path+"`", "%d of %d tasks in it are ticked; what is left begins with %s.", done,
			done+open, at(f, next)).
			then("Finish "+at(f, next).place()+" and close the list.", costHour, "a list that stays open for its last line").
			weighs(worthKnowing, "tasks plan progress todo")}
	}
	return nil
}

var noteInCode = regexp.MustCompile(`\b(?:TODO|FIXME)\b[:( ].*\pL{2,}\s+\S*\pL{2,}\s+\S*\pL{2,}`)

// smallNotes are several notes in one short file: an hour that clears a place.
func smallNotes(s *sight) []finding {
	var best *project.File
	var lines []int
	for _, f := range s.own(project.Source) {
		if f.Lines > 400 || f.Lines < 20 || !strings.Contains(f.Text, "TODO") && !strings.Contains(f.Text, "FIXME") {
			continue
		}
		var got []int
		for n, line := range project.Lines(f.Text) {
			if c := comment(line, f.Lang); c != "" && noteInCode.MatchString(c) && at(f, n).quote != "" {
				got = append(got, n)
			}
		}
		if len(got) >= 3 && (best == nil || len(got) > len(lines)) {
			best, lines = f, got
		}
	}
	if best == nil {
		return nil
	}
	var where places
	for _, n := range lines[:min(len(lines), maxPlaces)] {
		where = append(where, at(best, n))
	}
	return []finding{found("`"+best.Path+"`", "%d notes of things to do stand in one file of %s: %s.", len(lines),
		count(best.Lines, "line"), where).
		then("Take the smallest of the "+number(len(lines))+" and send it as one change.", costHour,
			"a file that everybody steps around").
		weighs(welcome, "todo notes first")}
}

// strongest is the directory with most tests for its sources: where a newcomer
// can dare a change.
func strongest(s *sight) []finding {
	if !s.Looked.Whole() {
		return nil
	}
	tests, where := map[string]int{}, map[string]cite{}
	for _, f := range s.own(project.Test) {
		if lines := project.TestsIn(f); len(lines) > 0 && f.Lang == "Go" {
			tests[f.Dir] += len(lines)
			if c := at(f, lines[0]); where[f.Dir].path == "" && c.quote != "" {
				where[f.Dir] = c
			}
		}
	}
	sources := map[string]int{}
	for _, f := range s.own(project.Source) {
		if f.Lang == "Go" {
			sources[f.Dir]++
		}
	}
	best, most := "", 0
	for _, t := range ranked(tests) {
		if n := sources[t.name]; n > 0 && t.n*100/n > most && where[t.name].path != "" {
			best, most = t.name, t.n*100/n
		}
	}
	if best == "" || tests[best] < 12 || len(tests) < 3 {
		return nil
	}
	shown := "`" + best + "/`"
	if best == "." {
		shown = "the top directory"
	}
	return []finding{found(shown, "It has more tests for each source file than any other package here: %s for %s, the "+
		"first %s. A change there is told at once whether it is right.",
		count(tests[best], "test"), count(sources[best], "file"), where[best]).
		then("Let the next newcomer make the first change there.", costHour, "the fear of breaking something").
		weighs(welcome-5, "tests newcomer")}
}
