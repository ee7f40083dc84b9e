package quest

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"conclave/internal/shingle"
	"conclave/policy"
)

// How long an evaluator's free texts may be, in characters.
const (
	maxExpectation = 2000 // the text of --expect
	maxStage       = 80   // a stage's name
)

// Leak is a passage of a withheld source in something an evaluator would get:
// both sides of it, with where they stand.
type Leak struct {
	Where   string `json:"where"` // a work file, "success criteria", "expectation" …
	Line    int    `json:"line"`  // 0: it is the file's name that holds them
	EndLine int    `json:"endLine"`
	Source  string `json:"source"` // what it comes from
	Windows int    `json:"windows"`
	// Text is what stands there, and SourceText what stands at SourceAt, a file
	// and a line.
	Text       string `json:"text,omitempty"`
	SourceAt   string `json:"sourceAt,omitempty"`
	SourceText string `json:"sourceText,omitempty"`
	// Unnoted: nobody knows whether it stood in the project before it was said.
	Unnoted bool `json:"unnoted,omitempty"`

	from, to int // in what was searched
}

func (l Leak) String() string {
	head := fmt.Sprintf("%s:%d: words from %s", l.Where, l.Line, l.Source)
	if l.Line == 0 {
		head = fmt.Sprintf("%s: its name holds words from %s", l.Where, l.Source)
	}
	text := fmt.Sprintf("%s, which this role may not know\n    here:  %s\n    there: %s (%s)",
		head, l.Text, l.SourceText, l.SourceAt)
	if l.Unnoted {
		text += "\n    whether it stood in the project before it was said, nobody has noted"
	}
	return text
}

// LeakError stops an evaluator before it starts. The person may go on with
// open eyes; then every artefact says so.
type LeakError struct{ Leaks []Leak }

func (e *LeakError) Error() string {
	var lines []string
	for _, l := range e.Leaks {
		lines = append(lines, l.String())
	}
	return strings.Join(lines, "\n")
}

// Stamp is what is written on a verdict when the person accepted the leaks.
func (e *LeakError) Stamp() string {
	var where []string
	for _, l := range e.Leaks {
		where = append(where, fmt.Sprintf("%s:%d (%s)", l.Where, l.Line, l.Source))
	}
	return "the person accepted context that this role is not meant to have: " + strings.Join(where, ", ")
}

// Preflight looks for the party's reasoning, which is the traces of the denied
// pieces, in everything else that the room will hold: criteria, expectation,
// stage, profile, and every file of the work; and in what the role is told, the
// project's own instructions for it. The person is a channel too. A *LeakError
// shows both passages, with file and line. The key is fresh for each run.
func Preflight(key []byte, g Grants, work *Work, told ...NamedText) error {
	s := search{key: key, Grants: g, reasoning: map[string]traced{}}
	for _, p := range g.Denied {
		if p.reasons() {
			s.reasoning[p.Name] = p.traces(false)
		}
	}
	var leaks []Leak
	for _, t := range told {
		set, err := s.forbidden(policy.Unknown, nil)
		if err != nil {
			return err
		}
		leaks = append(leaks, s.in(t.Name, t.Data, set)...)
	}
	for _, target := range g.Given {
		var about *Work
		if target.Kind == policy.WorkChange {
			about = work
		}
		set, err := s.forbidden(target.Kind, about)
		if err != nil {
			return err
		}
		if target.Kind == policy.WorkChange {
			s.agreed(set)
		}
		found := s.in(label(target), target.Bytes, set)
		if target.Kind == policy.SuccessCriteria {
			found = s.inCriteria(target.Bytes, found)
		}
		leaks = append(leaks, found...)
	}
	if work != nil {
		set, err := s.forbidden(policy.FinalWork, work)
		if err != nil {
			return err
		}
		s.agreed(set)
		found, err := s.inWork(set, work)
		if err != nil {
			return err
		}
		leaks = append(leaks, found...)
	}
	if len(leaks) > 0 {
		return &LeakError{Leaks: leaks}
	}
	return nil
}

// agreed takes out of a set what the role is told anyway. The change is work
// itself, and clears nothing.
func (s *search) agreed(set *shingle.Set) {
	for _, p := range s.Given {
		if p.Kind != policy.WorkChange {
			set.Subtract(p.Bytes)
		}
	}
}

// search is a leak check under way.
type search struct {
	Grants
	key       []byte
	reasoning map[string]traced // by the names of denied pieces
}

// reasons says whether a piece may hold reasoning at all: a title, a criterion,
// a profile, the work of an earlier stage are none, wherever they stand.
func (p Piece) reasons() bool {
	switch p.Kind {
	case policy.QuestTitle, policy.SuccessCriteria, policy.OtherProfile, policy.StageWork, policy.StageName,
		policy.Mode, policy.Phase:
		return false
	}
	return true
}

// CheckStage refuses a stage's name that is more than a name.
func CheckStage(name string) error {
	switch {
	case oneLine(name) == "":
		return fmt.Errorf("stage: a checkpoint needs the stage's name")
	case oneLine(name) != name:
		return fmt.Errorf("stage %q: write it on one line, without spaces around it", clip(name, 40))
	case len([]rune(name)) > maxStage:
		return fmt.Errorf("stage: %d characters, at most %d; say what ready means in the expectation", len([]rune(name)), maxStage)
	}
	return nil
}

// CheckExpectation refuses an expectation that is too long.
func CheckExpectation(text string) error {
	if n := len([]rune(text)); n > maxExpectation {
		return fmt.Errorf("expectation: %d characters, at most %d; say what ready means, not how you got there", n, maxExpectation)
	}
	return nil
}

// forbidden is the set of windows to look for in a target.
func (s *search) forbidden(target policy.Kind, work *Work) (*shingle.Set, error) {
	set, err := shingle.NewSet(s.key)
	if err != nil {
		return nil, err
	}
	switch target {
	case policy.Mode, policy.CheckResults, policy.VerdictOwn:
		return set, nil // from the work, and from the evaluator
	}
	for _, p := range s.Denied {
		// The criteria and the title are agreed in conversations and come out of
		// councils.
		spoken := strings.HasPrefix(string(p.Kind), "conversation-") || p.Kind == policy.CouncilReport
		if spoken && (target == policy.SuccessCriteria && !s.brought || target == policy.QuestTitle) {
			continue
		}
		if work != nil && p.Kind == policy.PartyContext && work.has(strings.TrimPrefix(p.Name, "context/")) {
			continue // named as work, file by file
		}
		set.Add(p.Name, s.reasoning[p.Name].text)
	}
	for _, p := range s.Denied {
		if p.Kind == policy.SuccessCriteria {
			set.Subtract(p.Bytes) // what they say is agreed, and no reasoning
		}
	}
	return set, nil
}

func label(p Piece) string {
	return cmp.Or(map[policy.Kind]string{
		policy.SuccessCriteria: "success criteria", policy.Expectation: "expectation", policy.StageName: "stage name",
		policy.QuestTitle: "the quest's title", policy.OwnProfile: "profile",
	}[p.Kind], p.Name)
}

// inCriteria leaves of the leaks in the criteria those that argue: criteria may
// share the narrative's words, and a quest that was begun with one sentence has
// that sentence for both.
func (s *search) inCriteria(criteria []byte, found []Leak) []Leak {
	return slices.DeleteFunc(found, func(l Leak) bool {
		p := s.denied(l.Source)
		for c := range bytes.Lines(criteria) {
			_, text, _ := strings.Cut(string(c), " ") // its number
			plain := plainWords(text)
			if p != nil && plain == plainWords(string(p.Bytes)) && strings.Contains(plain, plainWords(l.Text)) {
				return true
			}
		}
		from := bytes.LastIndexByte(criteria[:l.from], '\n') + 1
		to := l.to + max(0, bytes.IndexByte(append(criteria[l.to:len(criteria):len(criteria)], '\n'), '\n'))
		return strengthOf(string(criteria[from:to])) < hints && strengthOf(l.Text) < argues
	})
}

// denied is a denied piece by its name.
func (g Grants) denied(name string) *Piece {
	for i := range g.Denied {
		if g.Denied[i].Name == name {
			return &g.Denied[i]
		}
	}
	return nil
}

// in looks through a text.
func (s *search) in(where string, text []byte, set *shingle.Set) []Leak {
	var out []Leak
	for _, h := range set.Find(text) {
		if l, yes := s.leakOf(where, h); yes {
			l.Text = excerpt(text[h.From:h.To])
			out = append(out, l)
		}
	}
	return out
}

// leakOf makes a leak of a hit, unless it is a stretch of a sentence that says
// nothing but what the work is: whoever describes a thing, and whoever argues
// about it, use the same words for it.
func (s *search) leakOf(where string, h shingle.Hit) (Leak, bool) {
	l := Leak{Where: where, Line: h.Line, EndLine: h.EndLine, Source: h.Source, Windows: h.Windows, from: h.From, to: h.To}
	p, trace := s.denied(h.Source), s.reasoning[h.Source]
	if p == nil || h.SourceTo > len(p.Bytes) {
		return l, true
	}
	l.SourceAt, l.SourceText = p.place(h.SourceLine), excerpt(p.Bytes[h.SourceFrom:h.SourceTo])
	if strings.HasPrefix(string(p.Kind), "conversation-") {
		l.Unnoted = slices.ContainsFunc(trace.unnoted, func(u span) bool { return u.from < h.SourceTo && h.SourceFrom < u.to })
	}
	for _, k := range trace.kept {
		from, to := max(k.from, h.SourceFrom), min(k.to, h.SourceTo)
		if from >= to {
			continue
		}
		if !onlyDescribes(string(trace.text[from:to]), string(trace.text[k.from:k.to])) {
			return l, true
		}
	}
	return l, len(trace.kept) == 0
}

// onlyDescribes says whether a part of a passage says what the work is, while
// the rest of the passage is not there.
func onlyDescribes(part, whole string) bool {
	n, all := len(strings.Fields(part)), len(strings.Fields(whole))
	switch s := strengthOf(part); {
	case 10*n >= 7*all:
		return false
	case 10*n >= 6*all:
		return s <= unmarked
	default:
		return s <= hints && !tellsOfThePast(part)
	}
}

// maxExcerpt bounds what is shown of a passage.
const maxExcerpt = 160

// excerpt is a passage on one line.
func excerpt(text []byte) string {
	return "“" + shorten(oneLine(strings.ToValidUTF8(string(text), "�")), maxExcerpt) + "”"
}

func (s *search) inWork(set *shingle.Set, work *Work) ([]Leak, error) {
	var leaks []Leak
	heard := &hearing{work: work}
	for _, f := range work.Files {
		for _, l := range s.in(f.Path, []byte(f.Path), set) {
			l.Line, l.EndLine = 0, 0
			leaks = append(leaks, l)
		}
		finder := set.Finder()
		if err := work.Copy(f, io.MultiWriter(finder, heard)); err != nil {
			return nil, fmt.Errorf("search the work: %w", err)
		}
		var found []Leak
		for _, h := range finder.Hits() {
			if l, yes := s.leakOf(f.Path, h); yes {
				found = append(found, l)
			}
		}
		if err := work.excerpts(f, found); err != nil {
			return nil, err
		}
		leaks = append(leaks, found...)
	}
	return leaks, nil
}

// hearing tells how far a search has come.
type hearing struct {
	work *Work
	done int64
}

func (h *hearing) Write(p []byte) (int, error) {
	h.done += int64(len(p))
	if h.work.Searched != nil {
		h.work.Searched(h.done, h.work.Bytes)
	}
	return len(p), nil
}

// excerpts shows what of a file leaks.
func (w *Work) excerpts(f WorkFile, found []Leak) error {
	if len(found) == 0 {
		return nil
	}
	var b bytes.Buffer
	if err := w.Copy(f, &b); err != nil {
		return fmt.Errorf("search the work: %w", err)
	}
	for i, l := range found {
		found[i].Text = excerpt(b.Bytes()[l.from:l.to])
	}
	return nil
}
