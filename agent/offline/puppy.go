package offline

import (
	"strings"
	"time"

	"conclave/internal/pattern"
	"conclave/internal/project"
)

// puppy looks for what is nearly there, and for what is strong.
func puppy() animal {
	return animal{
		name:    "puppy",
		opening: "No model here, just a nose: I look, I do not reason.",
		nothing: "I looked for something that is done and not shown, or nearly done, and found nothing I could point at.",
		rules: []rule{
			waitingEntries, unwritten, unfuzzed, untyped, unshownExamples, unshownDocs, nearlyDone,
		},
	}
}

var unreleased = pattern.New(`(?i)^(?:#{1,4}\s*)?\[?(unreleased|next release|upcoming)\]?(?:\s*[-–(:].*)?$`)

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
			day, _, dated := dateIn(line)
			if n < 3 || !dated || s.today.Sub(day) < 180*24*time.Hour {
				return nil
			}
			return []finding{found("the next release", "%s wait to be released: they stand under %s, the first at %s; the "+
				"release before is of %s, %s.",
				count(n, "change"), at(f, start), at(f, firstEntry), day.Format("2 January 2006"), at(f, i+1)).
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

var fuzzFunc = pattern.New(`(?m)^func Fuzz[A-Z]\w*\(`)

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

var pyDef = pattern.New(`(?m)^[ \t]*(?:async )?def \w+(?:\[[^\]]*\])?\(`)

// annotated counts the functions of a Python source, those that say what they
// return, and the line of the first of these.
func annotated(text string) (all, typed, first int) {
	for _, m := range pyDef.FindAllStringIndex(text, -1) {
		all++
		depth, i := 1, m[1]
		for ; i < len(text) && depth > 0; i++ {
			switch text[i] {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth--
			}
		}
		if rest := strings.TrimLeft(text[i:], " \t\\\n"); strings.HasPrefix(rest, "->") {
			if typed++; first == 0 {
				first = 1 + strings.Count(text[:m[0]], "\n")
			}
		}
	}
	return all, typed, first
}

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
			all, typed, most, line := 0, 0, 0, 0
			var best *project.File
			for _, f := range s.own(project.Source) {
				if f.Lang != "Python" || !strings.HasPrefix(f.Path, dir+"/") {
					continue
				}
				a, n, first := annotated(f.Text)
				all, typed = all+a, typed+n
				if n > most {
					best, most, line = f, n, first
				}
			}
			if all < 20 || typed*10 < all*7 {
				return nil
			}
			return []finding{found("`py.typed`", "Most functions in `%s/` say what they return, such as the one at %s, and there is no `py.typed`: "+
				"the type checkers of those who import it ignore that.", dir, at(best, line)).
				then("Add an empty `"+dir+"/py.typed` and let the package ship it.", costMinutes, "every user's own guesses about types").
				weighs(worthKnowing+10, "types python packaging")}
		}
	}
	return nil
}

var docSite = pattern.New(`(?i)https?://\S*(?:doc|guide|manual|tutorial|readthedocs|\.dev|\.io)|\bdocs/`)

// unshownExamples: programs to try are there, and the README says nothing of
// them.
func unshownExamples(s *sight) []finding {
	f := s.readme()
	if f == nil || strings.Contains(strings.ToLower(f.Text), "example") || docSite.MatchString(f.Text) {
		return nil // who is sent to a site finds examples there
	}
	var list []*project.File
	for _, x := range s.own(project.Example) {
		if top, _, _ := strings.Cut(x.Path, "/"); (top == "examples" || top == "example" || top == "_examples") && x.Lang != "" && x.Lines > 0 {
			list = append(list, x)
		}
	}
	if len(list) < 2 {
		return nil
	}
	top, _, _ := strings.Cut(list[0].Path, "/")
	return []finding{found("`"+top+"/`", "Examples lie in `%s/`, among them %s, and the README (it begins at %s) has no word "+
		"“example”.", top, at(list[0], 1), at(f, 1)).
		then("Point to `"+top+"/` from the README.", costMinutes, "newcomers who would learn fastest from them").
		weighs(welcome+8, "examples readme documentation")}
}

// unshownDocs: documentation that the README does not speak of.
func unshownDocs(s *sight) []finding {
	f := s.readme()
	if f == nil || !s.HasCode() {
		return nil
	}
	low := strings.ToLower(f.Text)
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

var tickedBox = pattern.New(`^\s*(?:[-*+]|\d+[.)])\s+\[[xX]\]\s+\S`)

// noTasks are the lists whose boxes say what a thing can do.
var noTasks = pattern.New(`(?i)road-?map|feature|support|compatib|status|progress|implement|coverage|parity` +
	`|platform|template|checklist`)

// boxes is a list of tasks under one heading.
type boxes struct{ done, open, next int }

// boxLists reads the lists of tasks of a document, one for each heading.
func boxLists(f *project.File) []boxes {
	if noTasks.MatchString(f.Base) {
		return nil
	}
	var out []boxes
	var list boxes
	none := 0 // the depth of a heading under which boxes are no tasks
	for _, l := range append(proseOf(f), proseLine{text: "# "}) {
		depth := len(l.text) - len(strings.TrimLeft(l.text, "#"))
		switch {
		case depth > 0 && depth < 7 && l.text[depth:] != "" && l.text[depth] == ' ':
			out, list = append(out, list), boxes{}
			if none == 0 || depth <= none {
				if none = 0; noTasks.MatchString(l.code) {
					none = depth
				}
			}
		case none > 0:
		case tickedBox.MatchString(l.text):
			list.done++
		case openBox.MatchString(l.text):
			if list.open++; list.next == 0 && at(f, l.n).quote != "" {
				list.next = l.n
			}
		}
	}
	return out
}

// nearlyDone is the list of tasks of which most are ticked.
func nearlyDone(s *sight) []finding {
	for _, f := range s.documents() {
		for _, x := range boxLists(f) {
			if x.done < 3 || x.next == 0 || x.open > 3 || x.done < 2*x.open {
				continue
			}
			return []finding{found("`"+f.Path+"`", "%d of %d tasks in one list of it are ticked; what is left begins with %s.",
				x.done, x.done+x.open, at(f, x.next)).
				then("Finish "+at(f, x.next).place()+" and close the list.", costHour,
					"a list that stays open for its last line").
				weighs(worthKnowing, "tasks plan progress todo")}
		}
	}
	return nil
}
