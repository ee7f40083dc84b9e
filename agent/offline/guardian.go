package offline

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"conclave/internal/jsontext"
	"conclave/internal/pattern"
	"conclave/internal/project"
)

type guardianVerdict struct {
	verdict  string
	summary  string
	gaps     []string // proved
	unjudged []string
}

const guardianOpening = "There is no model behind me. I look, I do not reason: I stop what is provably not ready, " +
	"and I let pass what was said to be a fact and is one. Of everything else I say that I have not judged it."

// guardian judges named work by what can be proved about it.
func guardian(t *turn) error {
	t.say(t.opening(guardianOpening))
	if t.read(verdictFile) != "" {
		return t.discuss()
	}
	v := guardianVerdict{}
	seen, err := t.inspect(&v)
	if err != nil {
		return err
	}
	v.conclude()
	if t.form == nil || len(t.before) == 0 {
		t.say(seen, v.words(), v.wayOut())
	} else {
		t.say("In the form that was asked for: " + v.verdict + ". " + v.summary)
	}
	t.answerWith(fill(t.form, v.fields()))
	return nil
}

func (v *guardianVerdict) fields() map[string]any {
	gaps := v.gaps
	if v.verdict == guardianOpen {
		gaps = v.unjudged
	}
	if gaps == nil {
		gaps = []string{}
	}
	return map[string]any{"verdict": v.verdict, "summary": v.summary, "gaps": gaps, "conditions": []string{}}
}

// inspect looks at the work, and notes what is proved and what is not judged.
func (t *turn) inspect(v *guardianVerdict) (string, error) {
	tree, err := t.named()
	if err != nil {
		return "", err
	}
	if tree == nil {
		v.gap("no work was put before me; name the files of this stage")
		return "", nil
	}
	files, err := t.readAll(tree)
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(files, func(f *workFile) bool {
		return f.unread &&
			f.size > 0 || strings.TrimSpace(f.text) != ""
	}) {
		v.gap("the work is empty: %s, and nothing stands in any of them", count(len(files), "file"))
	}
	long, sought := 0, "the marks of an unsettled merge"
	for _, f := range files {
		if f.unread && f.size > t.opts.fileSize {
			long++
		}
		v.signs(f)
	}
	if slices.ContainsFunc(files, func(f *workFile) bool { return path.Ext(f.path) == ".json" }) {
		sought += " and for JSON that no reader accepts"
	}
	seen := "I have looked at " + count(len(files), "file") + ", for " + sought + "."
	if long > 0 {
		seen += fmt.Sprintf(" %s too long for me to read.", were(long, "file"))
	}
	return seen, t.expected(tree, v)
}

// were is a number of things of the past.
func were(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " was"
	}
	return count(n, noun) + " were"
}

// readAll reads the named work, within the limits.
func (t *turn) readAll(tree fs.FS) ([]*workFile, error) {
	var files []*workFile
	left := t.opts.bytes
	err := fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if err := t.Alive(); err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		limit := min(left, t.opts.fileSize)
		f := readWork(tree, p, info.Size(), limit)
		left -= int64(len(f.text))
		files = append(files, f)
		return nil
	})
	return files, err
}

func (v *guardianVerdict) gap(format string, args ...any) {
	v.gaps = append(v.gaps, fmt.Sprintf(format, args...))
}

// signs are what can be proved of one file by itself. Tests and their data may
// hold on purpose what would be a fault elsewhere.
func (v *guardianVerdict) signs(f *workFile) {
	if k := project.Classify(f.path); k == project.Test || k == project.Fixture {
		return
	}
	if from, to := mergeMarks(f.path, f.text); from > 0 {
		v.gap("lines %d to %d of `%s` are the marks of an unsettled merge", from, to, f.path)
	}
	if path.Ext(f.path) == ".json" && strings.TrimSpace(f.text) != "" {
		if err := brokenJSON(f.text); err != nil {
			v.gap("`%s` is no JSON: %v", f.path, err)
		}
	}
}

var (
	ours   = pattern.New(`^<{7} \S`)
	theirs = pattern.New(`^>{7} \S`)
)

// mergeMarks finds the three marks that a merge leaves behind, in their order.
// What a document shows in a fence is an example.
func mergeMarks(name, text string) (from, to int) {
	state, start, fenced := 0, 0, false
	for n, line := range numbered(text) {
		if path.Ext(name) == ".md" && strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		switch {
		case fenced:
		case ours.MatchString(line):
			state, start = 1, n
		case state == 1 && line == "=======":
			state = 2
		case state == 2 && theirs.MatchString(line):
			return start, n
		}
	}
	return 0, 0
}

var template = pattern.New(`\{\{|\{%|<%|\$\{`)

// brokenJSON says why a text is JSON by nobody's reading: comments, commas too
// many and several values in a row are read by one program or another, and a
// template becomes JSON later.
func brokenJSON(text string) error {
	b := []byte(strings.TrimPrefix(text, "\ufeff"))
	fault := jsontext.Check(b)
	if fault == nil || template.Match(b) {
		return nil
	}
	b = relaxed(b)
	for at := 0; ; {
		for at < len(b) && strings.IndexByte(" \t\r\n", b[at]) >= 0 {
			at++
		}
		if at == len(b) {
			return nil
		}
		if at = jsontext.Skip(b, at, 0); at < 0 {
			return fault
		}
	}
}

// relaxed blanks comments, and commas before an end.
func relaxed(b []byte) []byte {
	out := slices.Clone(b)
	comma := -1
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '"':
			for i++; i < len(out) && out[i] != '"'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
			comma = -1
		case c == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			end := commentEnd(out, i)
			for ; i < end; i++ {
				out[i] = ' '
			}
			i--
		case c == ',':
			comma = i
		case (c == '}' || c == ']') && comma >= 0:
			out[comma], comma = ' ', -1
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			comma = -1
		}
	}
	return out
}

func commentEnd(b []byte, at int) int {
	mark, more := "\n", 0
	if b[at+1] == '*' {
		mark, more = "*/", 2
	}
	if i := strings.Index(string(b[at+2:]), mark); i >= 0 {
		return at + 2 + i + more
	}
	return len(b)
}

const expectationFile = "expectation.md"

// expected holds the work against what "ready" was said to mean.
func (t *turn) expected(tree fs.FS, v *guardianVerdict) error {
	expectation := strings.TrimSpace(t.read(expectationFile))
	if expectation == "" {
		v.unjudged = append(v.unjudged, fmt.Sprintf("whether the stage “%s” is ready: nobody has said what that means",
			clip(strings.TrimSpace(t.read("stage.txt")), 60)))
		return nil
	}
	for _, item := range sentences(expectation) {
		proofs, known := facts{tree, t.opts.fileSize}.verify(item)
		if !known {
			v.unjudged = append(v.unjudged, "“"+clip(item, 160)+"”: it is no fact that I could look up")
			continue
		}
		ok, evidence, err := t.weigh(proofs, tree)
		if err != nil {
			return err
		}
		if !ok {
			v.gap("%s", evidence)
		}
	}
	return nil
}

const guardianOpen = "No verdict"

func (v *guardianVerdict) conclude() {
	v.gaps, v.unjudged = limited(v.gaps), limited(v.unjudged)
	switch {
	case len(v.gaps) > 0:
		v.verdict, v.summary = "Blocked", "Not yet: "+count(len(v.gaps), "thing")+" to put right, the first: "+v.gaps[0]+"."
	case len(v.unjudged) > 0:
		v.verdict, v.summary = guardianOpen, "Nothing that I can prove stands against it, and "+count(len(v.unjudged),
			"thing")+" I could not judge."
	default:
		v.verdict, v.summary = "Approved", "What ready means was said in facts that can be looked up, and all of them hold."
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
	for _, u := range v.unjudged {
		b.WriteString("\n- Not judged: " + u)
	}
	return b.String()
}

// wayOut says what would let the rest be judged.
func (v *guardianVerdict) wayOut() string {
	if len(v.unjudged) == 0 {
		return ""
	}
	return "What I have not judged can be: say with --expect what ready means in facts that can be looked up, as in " +
		"“`README.md` exists and contains `make test`”; or " +
		fmt.Sprintf(seatModel, "guardian") + ". You may also go on without my verdict: it is your quest."
}
