package offline

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

type guardianVerdict struct {
	verdict    string
	summary    string
	gaps       []string
	conditions []string
}

const guardianOpening = "There is no model behind me. I look, I do not reason: I go by signs that can be checked, and where I cannot check, the gate does not simply open."

// guardian judges named work by checkable signs.
func guardian(t *turn) error {
	t.say(t.opening(guardianOpening))
	if t.read(verdictFile) != "" {
		return t.discuss()
	}
	w, err := t.openWork()
	if err != nil {
		return err
	}
	v := guardianVerdict{}
	seen := ""
	if w == nil {
		v.gaps = []string{"no work was put before me; name the files of this stage"}
	} else if seen, err = t.inspect(w, &v); err != nil {
		return err
	}
	v.conclude()
	if t.form == nil || len(t.before) == 0 {
		t.say(seen, v.words())
	} else {
		t.say("In the form that was asked for: " + v.verdict + ". " + v.summary)
	}
	t.answerWith(fill(t.form, map[string]any{"verdict": v.verdict, "summary": v.summary, "gaps": v.gaps, "conditions": v.conditions}))
	return nil
}

// inspect looks at the work and notes what is missing and what stays open.
func (t *turn) inspect(w *work, v *guardianVerdict) (string, error) {
	code, tests := 0, 0
	for _, f := range w.files {
		switch kindByName(f.path) {
		case codeKind:
			code++
		case testKind:
			tests++
		}
		if strings.Contains(f.text, "#[test]") {
			tests++
		}
		v.signs(f, w)
	}
	if code > 0 && tests == 0 {
		v.condition("%s of code and no test among them: show one that fails when the code is wrong", count(code, "file"))
	}
	if w.cut {
		v.condition("there is more than I could look at; name less work at a time")
	}
	if err := t.expected(w, v); err != nil {
		return "", err
	}
	return fmt.Sprintf("I have looked at %s: %d of code, %d of tests, beginning with `%s`.", count(len(w.files), "file"), code, tests, w.files[0].path), nil
}

const (
	codeKind = code
	testKind = test
)

func (v *guardianVerdict) gap(format string, args ...any) {
	v.gaps = append(v.gaps, fmt.Sprintf(format, args...))
}

func (v *guardianVerdict) condition(format string, args ...any) {
	v.conditions = append(v.conditions, fmt.Sprintf(format, args...))
}

var (
	conflict    = regexp.MustCompile(`(?m)^(<{7} |>{7} )`)
	placeholder = regexp.MustCompile(`(?i)\b(lorem ipsum|TBD|to be (written|done|decided|defined)|coming soon|fill (this )?in|insert .{1,20} here)\b`)
	unfinished  = regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`)
)

// signs are what can be seen of one file.
func (v *guardianVerdict) signs(f *workFile, w *work) {
	if f.size == 0 {
		if base := path.Base(f.path); base != "__init__.py" && base != ".gitkeep" {
			v.gap("`%s` is empty", f.path)
		}
		return
	}
	if f.unread {
		v.condition("`%s` is too long for me to read (%d bytes); somebody has to", f.path, f.size)
		return
	}
	if f.binary {
		return
	}
	if strings.TrimSpace(f.text) == "" {
		v.gap("`%s` holds nothing but white space", f.path)
	}
	if why, _ := syntaxFault(f); why != "" {
		v.gap("`%s` does not parse: %s", f.path, strings.ReplaceAll(why, f.path+":", "line "))
	}
	if at, ok := f.first(conflict); ok {
		v.gap("an unsettled merge at %s", at)
	}
	if at, ok := f.first(placeholder); ok {
		v.condition("a place that is still to be filled: %s", at)
	}
	if at, ok := f.first(unfinished); ok {
		v.condition("unfinished by its own words: %s", at)
	}
	if kindByName(f.path) == doc {
		v.document(f, w)
	}
}

// document looks at links and fences.
func (v *guardianVerdict) document(f *workFile, w *work) {
	if !strings.HasSuffix(f.path, ".md") {
		return
	}
	fences := 0
	for n, line := range numbered(f.text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fences++
			continue
		}
		if fences%2 == 1 {
			continue
		}
		for _, m := range linkForm.FindAllStringSubmatch(line, -1) {
			v.link(f, w, n, m[1])
		}
	}
	if fences%2 == 1 {
		v.condition("a block of code in `%s` is begun and never closed", f.path)
	}
}

// link follows a link between the files. What it points to may be broken or
// may not have been named: that cannot be told from here, so it blocks nothing.
func (v *guardianVerdict) link(f *workFile, w *work, line int, target string) {
	target, _, _ = strings.Cut(target, "#")
	target, _, _ = strings.Cut(target, "?")
	if target == "" || strings.Contains(target, ":") || strings.HasPrefix(target, "/") || strings.HasPrefix(target, "<") {
		return
	}
	p := path.Join(path.Dir(f.path), target)
	for _, x := range w.files {
		if x.path == p || strings.HasPrefix(x.path, p+"/") {
			return
		}
	}
	v.condition("the link to `%s` at %s leads to nothing in the work: name it too, or mend the link", target, cite{path: f.path, line: line})
}

// first is the first line that an expression matches.
func (f *workFile) first(re *regexp.Regexp) (cite, bool) {
	if !re.MatchString(f.text) {
		return cite{}, false
	}
	for n, line := range numbered(f.text) {
		if re.MatchString(line) {
			return f.at(hit{line: n, text: line}), true
		}
	}
	return cite{}, false
}

const expectationFile = "expectation.md"

// expected holds the work against what "ready" was said to mean.
func (t *turn) expected(w *work, v *guardianVerdict) error {
	stage := strings.TrimSpace(t.read("stage.txt"))
	expectation := t.read(expectationFile)
	if strings.TrimSpace(expectation) == "" {
		v.condition("nobody has said what ready means for the stage “%s”: somebody who knows has to read the work", clip(stage, 60))
		return nil
	}
	for _, item := range sentences(expectation) {
		claims, known := w.verify(item)
		ok, evidence, err := t.weigh(claims, w.tree)
		if err != nil {
			return err
		}
		switch {
		case !ok:
			v.gap("%s", evidence)
		case known:
		default:
			status, evidence, err := t.trace(criterion{text: item}, w)
			if err != nil {
				return err
			}
			if status == notMet && len(claims) == 0 {
				v.gap("expected: “%s”; %s", clip(item, 120), evidence)
			} else {
				v.condition("“%s”: somebody has to confirm it; %s", clip(item, 120), evidence)
			}
		}
	}
	return nil
}

func (v *guardianVerdict) conclude() {
	v.gaps, v.conditions = limited(v.gaps), limited(v.conditions)
	switch {
	case len(v.gaps) > 0:
		// What is open besides the gaps is told with them: a block has no
		// conditions.
		v.gaps = append(v.gaps, v.conditions...)
		v.verdict, v.summary, v.conditions = "Blocked", "Not yet: "+count(len(v.gaps), "thing")+" to put right, the first: "+v.gaps[0]+".", nil
	case len(v.conditions) > 0:
		v.verdict, v.summary = "Conditional Approval", "It may go on, with "+count(len(v.conditions), "condition")+", the first: "+v.conditions[0]+"."
	default:
		v.verdict, v.summary = "Approved", "Everything that was expected can be checked, and was found in the work."
	}
	if v.gaps == nil {
		v.gaps = []string{}
	}
	if v.conditions == nil {
		v.conditions = []string{}
	}
}

const maxItems = 20

func limited(list []string) []string {
	if len(list) <= maxItems {
		return list
	}
	return append(list[:maxItems:maxItems], fmt.Sprintf("and %d more of the same kinds", len(list)-maxItems))
}

func (v *guardianVerdict) words() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s. %s\n", v.verdict, v.summary)
	for _, g := range v.gaps {
		b.WriteString("\n- Missing: " + g)
	}
	for _, c := range v.conditions {
		b.WriteString("\n- Condition: " + c)
	}
	return b.String()
}
