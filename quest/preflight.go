package quest

import (
	"cmp"
	"fmt"
	"strings"

	"conclave/internal/shingle"
	"conclave/policy"
)

// How long an evaluator's free texts may be, in characters.
const (
	maxExpectation = 2000 // the text of --expect
	maxStage       = 80   // a stage's name
)

// leak is a passage of a withheld source in something an evaluator would get.
type leak struct {
	Where   string `json:"where"` // a work file, "success criteria", "expectation" …
	Line    int    `json:"line"`  // 0: it is the file's name that holds them
	EndLine int    `json:"endLine"`
	Source  string `json:"source"` // what it comes from
	Windows int    `json:"windows"`
}

func (l leak) String() string {
	if l.Line == 0 {
		return fmt.Sprintf("%s: its name holds words from %s, which this role may not know", l.Where, l.Source)
	}
	return fmt.Sprintf("%s:%d: words from %s, which this role may not know", l.Where, l.Line, l.Source)
}

// LeakError stops an evaluator before it starts. The person may go on with
// open eyes; then every artefact says so.
type LeakError struct{ Leaks []leak }

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

// Preflight looks for passages of the denied pieces in everything else that
// the room will hold: criteria, expectation, stage, profile, and every file of
// the work; and in what the role is told, the project's own instructions for
// it. The person is a channel too. A *LeakError names file and line. The key
// is fresh for each run.
func Preflight(key []byte, g Grants, work *Work, told ...NamedText) error {
	var leaks []leak
	for _, t := range told {
		set, err := g.forbidden(key, policy.Unknown, nil)
		if err != nil {
			return err
		}
		leaks = append(leaks, leaksIn(t.Name, set.Find(t.Data))...)
	}
	for _, target := range g.Given {
		set, err := g.forbidden(key, target.Kind, nil)
		if err != nil {
			return err
		}
		leaks = append(leaks, leaksIn(label(target), set.Find(target.Bytes))...)
	}
	if work != nil {
		set, err := g.forbidden(key, policy.FinalWork, work)
		if err != nil {
			return err
		}
		for _, p := range g.Given {
			set.Subtract(p.Bytes)
		}
		found, err := leaksInWork(set, work)
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

// forbidden is the set of denied windows to look for in a target. The criteria
// and the title are agreed in conversations and come out of councils, so those
// two are no evidence against them, nor is the one against the other; check
// results come from the work, and a verdict that stands from the evaluator.
func (g Grants) forbidden(key []byte, target policy.Kind, work *Work) (*shingle.Set, error) {
	set, err := shingle.NewSet(key)
	if err != nil {
		return nil, err
	}
	switch target {
	case policy.Mode, policy.CheckResults, policy.VerdictOwn:
		return set, nil
	}
	for _, p := range g.Denied {
		spoken := strings.HasPrefix(string(p.Kind), "conversation-") || p.Kind == policy.CouncilReport
		if spoken && (target == policy.SuccessCriteria || target == policy.QuestTitle) {
			continue
		}
		if target == policy.SuccessCriteria && p.Kind == policy.QuestTitle {
			continue
		}
		if p.Kind == policy.StageWork {
			continue // final work grows out of earlier work
		}
		if target == policy.OwnProfile && p.Kind == policy.OtherProfile {
			continue // the profiles of one pack share their headings and their theme
		}
		if work != nil && p.Kind == policy.PartyContext && work.has(strings.TrimPrefix(p.Name, "context/")) {
			continue // named as work, file by file
		}
		set.Add(p.Name, p.Trace)
	}
	return set, nil
}

func label(p Piece) string {
	return cmp.Or(map[policy.Kind]string{
		policy.SuccessCriteria: "success criteria", policy.Expectation: "expectation", policy.StageName: "stage name",
		policy.QuestTitle: "the quest's title", policy.OwnProfile: "profile",
	}[p.Kind], p.Name)
}

func leaksIn(where string, hits []shingle.Hit) []leak {
	var out []leak
	for _, h := range hits {
		out = append(out, leak{Where: where, Line: h.Line, EndLine: h.EndLine, Source: h.Source, Windows: h.Windows})
	}
	return out
}

func leaksInWork(set *shingle.Set, work *Work) ([]leak, error) {
	var leaks []leak
	for _, f := range work.Files {
		for _, l := range leaksIn(f.Path, set.Find([]byte(f.Path))) {
			l.Line, l.EndLine = 0, 0
			leaks = append(leaks, l)
		}
		finder := set.Finder()
		if err := work.Copy(f, finder); err != nil {
			return nil, fmt.Errorf("search the work: %w", err)
		}
		leaks = append(leaks, leaksIn(f.Path, finder.Hits())...)
	}
	return leaks, nil
}
