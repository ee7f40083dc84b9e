package quest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"conclave/policy"
	"conclave/profile"
)

// entryKind is what an entry of the progress log speaks of.
type entryKind string

// The kinds.
const (
	entryPhase    entryKind = "phase"
	entryProgress entryKind = "progress"
	entryGuardian entryKind = "guardian"
	entryDragon   entryKind = "dragon"
	entryOther    entryKind = "other"
)

// Entry is one bullet of the progress log.
type Entry struct {
	Kind  entryKind `json:"kind"`
	Label string    `json:"label,omitempty"` // what stands in bold
	Text  string    `json:"text"`
	Date  string    `json:"date,omitempty"`
	Phase Phase     `json:"phase,omitempty"` // of "Phase N complete" and "Phase N skipped"
	Line  int       `json:"line,omitempty"`
}

var (
	labelled  = regexp.MustCompile(`^(?:\*\*|__)(.+?)(?:\*\*|__)\s*(?:[—–:-]+\s*)?(.*)$`)
	dated     = regexp.MustCompile(`^(.*?)\s*\((\d{4}-\d{2}-\d{2})\)\s*$`)
	phaseDone = regexp.MustCompile(`(?i)^phase\s+([1-6])\s+(?:complete|skipped)`)
)

func (q *Quest) readProgress() {
	s, _ := q.doc.Section(sectionProgress)
	q.Progress = parseLog(s.Body, s.BodyLine)
}

// parseLog reads bullets with the lines that belong to them. A line that is no
// bullet is an entry of its own, so that nothing goes unseen.
func parseLog(body string, firstLine int) []Entry {
	var raw []Entry
	blank := true
	for i, line := range strings.Split(body, "\n") {
		line = strings.TrimRight(line, " \t\r")
		trimmed := strings.TrimSpace(line)
		switch m := bulleted.FindStringSubmatch(line); {
		case trimmed == "":
			blank = true
			continue
		case m != nil:
			raw = append(raw, Entry{Text: m[1], Line: firstLine + i})
		case len(raw) > 0 && (!blank || line != trimmed):
			raw[len(raw)-1].Text += "\n" + trimmed
		default:
			raw = append(raw, Entry{Text: trimmed, Line: firstLine + i})
		}
		blank = false
	}
	for i := range raw {
		raw[i] = parseEntry(raw[i])
	}
	return raw
}

func parseEntry(e Entry) Entry {
	head, more, multi := strings.Cut(e.Text, "\n")
	if m := labelled.FindStringSubmatch(head); m != nil {
		e.Label, head = strings.TrimRight(m[1], ": "), m[2]
	}
	text := head
	if multi {
		text += "\n" + more
	}
	if m := dated.FindStringSubmatch(strings.ReplaceAll(text, "\n", "\x00")); m != nil {
		text, e.Date = strings.ReplaceAll(m[1], "\x00", "\n"), m[2]
	}
	e.Text = strings.TrimSpace(text)
	e.Kind = entryOther
	label := strings.ToLower(e.Label)
	if m := phaseDone.FindStringSubmatch(e.Label); m != nil {
		e.Kind, e.Phase = entryPhase, Phase(m[1][0]-'0')
	} else if strings.HasPrefix(label, "guardian") {
		e.Kind = entryGuardian
	} else if strings.HasPrefix(label, "dragon") {
		e.Kind = entryDragon
	} else if label == "progress" {
		e.Kind = entryProgress
	}
	return e
}

// Bullet renders the entry in the log's canonical form, on one line.
func (e Entry) Bullet() string {
	line := "- "
	if e.Label != "" {
		line += "**" + oneLine(e.Label) + "** — "
	}
	line += oneLine(e.Text)
	if e.Date != "" {
		line += " (" + e.Date + ")"
	}
	return line
}

// Told is the entry for a person, under the names that the cast goes by: the log
// itself keeps what other programs know it by.
func (e Entry) Told(face func(policy.Role) profile.Face) string {
	c := OfferContext{Face: face}
	switch dragon := face(policy.Dragon); {
	case e.Kind == entryGuardian && face(policy.Guardian).Skin != "":
		e.Label = c.of(policy.Guardian, "checkpoint")
	case e.Kind == entryDragon && dragon.Skin != "":
		e.Label = c.of(policy.Dragon, "confrontation")
		for _, v := range []DragonOutcome{DragonSlain, DragonPrevails} {
			if rest, ok := strings.CutPrefix(e.Text, string(v)); ok {
				e.Text = v.told(dragon) + rest
			}
		}
	}
	return e.Bullet()
}

// Day is a date as the log writes it.
func Day(t time.Time) string { return t.Format(time.DateOnly) }

// PhaseCompleted is the entry for a phase that is done.
func PhaseCompleted(p Phase, what, day string) Entry {
	return Entry{Kind: entryPhase, Label: fmt.Sprintf("Phase %d complete", int(p)), Text: what, Date: day, Phase: p}
}

// PhaseSkipped is the entry for a phase that was left out.
func PhaseSkipped(p Phase, why, day string) Entry {
	return Entry{Kind: entryPhase, Label: fmt.Sprintf("Phase %d skipped", int(p)), Text: why, Date: day, Phase: p}
}

// Progressed is the entry for something the person finished.
func Progressed(what, day string) Entry {
	return Entry{Kind: entryProgress, Label: "Progress", Text: what, Date: day}
}

// CheckpointHeld is the entry for a Guardian's verdict.
func CheckpointHeld(outcome GuardianOutcome, reason, day string) Entry {
	return Entry{Kind: entryGuardian, Label: "Guardian checkpoint", Text: verdictText(string(outcome), reason), Date: day}
}

// ConfrontationHeld is the entry for a Dragon's verdict.
func ConfrontationHeld(outcome DragonOutcome, reason, day string) Entry {
	return Entry{Kind: entryDragon, Label: "Dragon confrontation", Text: verdictText(string(outcome), reason), Date: day}
}

func verdictText(outcome, reason string) string {
	reason = strings.ReplaceAll(shorten(oneLine(reason), 160), `"`, "'")
	if reason == "" {
		return outcome
	}
	return outcome + `: "` + reason + `"`
}

// reducedLog is the progress log as Gandalf may see it: a verdict is only the
// fact that one was held, and an entry that mentions an evaluator – by role or
// by one of the names it goes under – keeps its date alone.
func reducedLog(log []Entry, names ...string) string {
	var b strings.Builder
	for _, e := range log {
		switch {
		case e.Kind == entryGuardian:
			e = Entry{Text: "checkpoint held", Date: e.Date}
		case e.Kind == entryDragon:
			e = Entry{Text: "confrontation held", Date: e.Date}
		case e.Kind == entryOther || mentionsEvaluator(e.Label+" "+e.Text, names):
			e = Entry{Text: "entry withheld", Date: e.Date}
		}
		b.WriteString(e.Bullet() + "\n")
	}
	return b.String()
}

var evaluatorWords = regexp.MustCompile(`(?i)guardian|dragon|checkpoint|confrontation|verdict|approv|blocked|slain|prevail`)

func mentionsEvaluator(text string, names []string) bool {
	return evaluatorWords.MatchString(text) || slices.ContainsFunc(names, func(name string) bool {
		return name != "" && strings.Contains(strings.ToLower(text), strings.ToLower(name))
	})
}

// likelyPhase is what the log's last telling entry speaks for: an offer for a
// person to accept, never a value to go on with.
func (q *Quest) likelyPhase() Phase {
	s, _ := q.doc.Section(sectionProgress)
	for _, e := range slices.Backward(parseLog(s.Body, s.BodyLine)) {
		switch {
		case e.Kind == entryProgress:
			return PhaseExecution
		case e.Kind == entryGuardian:
			return PhaseCheckpoint
		case e.Kind == entryDragon && strings.HasPrefix(e.Text, string(DragonSlain)):
			return PhaseDebrief
		case e.Kind == entryDragon:
			return PhaseConfrontation
		case e.Kind == entryPhase && e.Phase == PhaseDefinition, e.Kind == entryPhase && e.Phase == PhaseSetup:
			return PhaseExecution
		case e.Kind == entryPhase && e.Phase < PhaseDebrief:
			return e.Phase + 1
		}
	}
	return 0
}

// LastGuardian is the outcome of the last checkpoint in the log, if any.
func (q *Quest) LastGuardian() GuardianOutcome {
	return outcomeIn(q.last(entryGuardian), ConditionalApproval, Approved, Blocked)
}

// LastDragon is the outcome of the last confrontation in the log, if any.
func (q *Quest) LastDragon() DragonOutcome {
	return outcomeIn(q.last(entryDragon), DragonSlain, DragonPrevails)
}

// last is the text of the last entry of a kind.
func (q *Quest) last(kind entryKind) string {
	for _, e := range slices.Backward(q.Progress) {
		if e.Kind == kind {
			return e.Text
		}
	}
	return ""
}

// Facts are what the quest's own files say about its transitions.
func (q *Quest) Facts() Facts {
	return Facts{Mode: q.Mode, Guardian: q.LastGuardian(), Dragon: q.LastDragon()}
}
