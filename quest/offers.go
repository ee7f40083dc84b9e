package quest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"conclave/policy"
	"conclave/profile"
)

// Action is what an offer leads to. The flow knows how.
type Action string

// The actions.
const (
	ActConsult    Action = "consult"    // the offer's advisor
	ActAnother    Action = "another"    // an advisor of the person's choice
	ActWork       Action = "work"       // go on working
	ActReview     Action = "review"     // read the quest again
	ActEvaluate   Action = "evaluate"   // evaluation or counsel
	ActConfront   Action = "confront"   // face the Dragon
	ActGandalf    Action = "gandalf"    // consult Gandalf
	ActCheckpoint Action = "checkpoint" // ask the Guardian
	ActGaps       Action = "gaps"       // address gaps or conditions
	ActDiscuss    Action = "discuss"    // talk about a verdict that stands
	ActCouncil    Action = "council"    // hear all six
	ActReadiness  Action = "readiness"  // ask Gandalf whether to face the Dragon
	ActDebrief    Action = "debrief"
	ActCelebrate  Action = "celebrate"
	ActReturn     Action = "return"   // return to the quest
	ActStart      Action = "start"    // start a quest
	ActContinue   Action = "continue" // with the quest that is under way
	ActDone       Action = "done"
)

// Offer is one next step in plain words.
type Offer struct {
	Action Action      `json:"action"`
	Label  string      `json:"label"`
	Who    policy.Role `json:"who,omitempty"`    // of a consultation
	Reason string      `json:"reason,omitempty"` // why this one
}

func (o Offer) String() string {
	if o.Reason == "" {
		return o.Label
	}
	return o.Label + " – " + o.Reason
}

// Boundary is a place in the story where the person chooses.
type Boundary string

// The boundaries.
const (
	AfterFraming      Boundary = "framing" // and after setup
	AfterConsultation Boundary = "consultation"
	AfterApproved     Boundary = "guardian approves"
	AfterBlocked      Boundary = "guardian blocks"
	AfterConditional  Boundary = "conditional approval"
	AfterReadiness    Boundary = "readiness review"
	AfterCounsel      Boundary = "counsel"
	AfterSlain        Boundary = "dragon slain"
	AfterPrevails     Boundary = "dragon prevails"
	AfterNoVerdict    Boundary = "no verdict"
	AfterCouncil      Boundary = "council"
	AfterDebrief      Boundary = "debrief"
	// ForEvaluation is the choice behind "Ask for an evaluation or counsel".
	ForEvaluation   Boundary = "evaluation or counsel"
	AfterStandalone Boundary = "standalone consultation"
	WithoutQuest    Boundary = "no quest"
	UnderWay        Boundary = "a quest under way" // and another is to begin
)

// AfterGuardian and AfterDragon are the boundaries of verdicts.
func AfterGuardian(o GuardianOutcome) Boundary {
	switch o {
	case Approved:
		return AfterApproved
	case Blocked:
		return AfterBlocked
	case ConditionalApproval:
		return AfterConditional
	}
	return AfterNoVerdict
}

// AfterDragon is the boundary of a Dragon's verdict.
func AfterDragon(o DragonOutcome) Boundary {
	switch o {
	case DragonSlain:
		return AfterSlain
	case DragonPrevails:
		return AfterPrevails
	}
	return AfterNoVerdict
}

// BoundaryOf is where a person who comes back to the quest stands.
func BoundaryOf(q *Quest) Boundary {
	switch q.Phase {
	case PhaseExecution:
		if n := len(q.Progress); n > 0 && q.Progress[n-1].Kind != entryPhase {
			return AfterConsultation
		}
	case PhaseCheckpoint:
		return AfterGuardian(q.LastGuardian())
	case PhaseConfrontation:
		return AfterDragon(q.LastDragon())
	case PhaseDebrief:
		if n := len(q.Progress); n > 0 && q.Progress[n-1].Kind == entryPhase && q.Progress[n-1].Phase == PhaseDebrief {
			return AfterDebrief
		}
		return AfterSlain
	}
	return AfterFraming
}

// Suggestion is an advisor with the reason for naming it.
type Suggestion struct {
	Who    policy.Role `json:"who"`
	Reason string      `json:"reason"`
}

// OfferContext is what the words of an offer depend on.
type OfferContext struct {
	Suggested Suggestion                         // the advisor to name; empty: none
	Face      func(who policy.Role) profile.Face // how an advisor appears; nil: undressed
	InQuest   bool                               // a council was held with a quest under way
}

func (c OfferContext) face(who policy.Role) profile.Face {
	if c.Face != nil {
		return c.Face(who)
	}
	a, _ := profile.Lookup(string(who))
	return profile.NewFace(a, nil)
}

// name is the name in an offer: The Rogue (Cat), or Cat.
func (c OfferContext) name(who policy.Role) string { return c.face(who).MenuName() }

// the is the name with its article, where it has one: the Dragon.
func (c OfferContext) the(who policy.Role) string {
	if f := c.face(who); f.Skin == "" {
		return f.Called()
	}
	return c.name(who)
}

// of is what belongs to somebody: Guardian's checkpoint, Kanga's checkpoint
// (Guardian).
func (c OfferContext) of(who policy.Role, what string) string {
	f := c.face(who)
	text := f.Name() + "'s " + what
	if f.Skin != "" {
		text += " (" + f.Archetype.Title + ")"
	}
	return text
}

// Offers lists the next steps at a boundary. It is never empty: ending without
// a next step is a fault of its own.
func Offers(at Boundary, c OfferContext) []Offer {
	gandalf := Offer{Action: ActGandalf, Label: "Consult " + c.name(policy.Gandalf), Who: policy.Gandalf}
	face := Offer{Action: ActConfront, Label: "Face " + c.the(policy.Dragon), Who: policy.Dragon}
	another := Offer{Action: ActAnother, Label: "Hear another advisor"}
	checkpoint := Offer{Action: ActCheckpoint, Label: c.of(policy.Guardian, "checkpoint"), Who: policy.Guardian}
	work := Offer{Action: ActWork, Label: "Continue working"}
	start := Offer{Action: ActStart, Label: "Start a quest"}
	switch at {
	case AfterFraming:
		return c.withSuggestion("Consult", Offer{Action: ActWork, Label: "Begin working"}, Offer{Action: ActReview, Label: "Review the quest"}, another)
	case AfterConsultation, AfterCounsel:
		return c.withSuggestion("Hear", another, work, Offer{Action: ActEvaluate, Label: "Ask for an evaluation or counsel"})
	case AfterApproved:
		return []Offer{work, face, gandalf}
	case AfterBlocked:
		return []Offer{{Action: ActGaps, Label: "Address the gaps"}, gandalf, {Action: ActDiscuss, Label: "Discuss the verdict", Who: policy.Guardian}}
	case AfterConditional:
		return []Offer{work, {Action: ActGaps, Label: "Address the conditions first"}, gandalf}
	case AfterReadiness, ForEvaluation:
		first := checkpoint
		first.Label = c.of(policy.Guardian, "checkpoint first")
		offers := []Offer{face, {Action: ActGaps, Label: "Address the gaps first"}, first}
		if at == ForEvaluation {
			gandalf.Label = "Counsel from " + c.name(policy.Gandalf)
			offers = append(offers, gandalf)
		}
		return offers
	case AfterSlain:
		return []Offer{{Action: ActDebrief, Label: "Begin the debrief"}, {Action: ActCelebrate, Label: "Celebrate first"}}
	case AfterPrevails:
		return []Offer{{Action: ActReturn, Label: "Return to the quest"}, gandalf, checkpoint,
			{Action: ActDebrief, Label: "Look back with " + c.name(policy.Simon), Who: policy.Simon}}
	case AfterCouncil:
		if c.InQuest {
			return []Offer{{Action: ActReturn, Label: "Return to the quest"}, {Action: ActDone, Label: "Done for now"}}
		}
		return []Offer{{Action: ActStart, Label: "Start a quest from these findings"}, {Action: ActDone, Label: "Done for now"}}
	case AfterStandalone:
		return c.withSuggestion("Hear", another, start, Offer{Action: ActDone, Label: "Done for now"})
	case UnderWay:
		return []Offer{{Action: ActContinue, Label: "Continue the quest under way"},
			{Action: ActStart, Label: "Begin a new one", Reason: "the old one is kept in the archive"}, {Action: ActDone, Label: "Not now"}}
	case WithoutQuest:
		return []Offer{start, {Action: ActCouncil, Label: "Hold a council first"}, {Action: ActDone, Label: "Not now"}}
	case AfterDebrief:
		return []Offer{{Action: ActStart, Label: "Start a new quest"}, {Action: ActDone, Label: "Done for now"}}
	}
	return []Offer{{Action: ActReturn, Label: "Return to the quest"}, gandalf, {Action: ActDone, Label: "Done for now"}}
}

// Offers are the next steps where a person stands who comes back to the quest; a nil
// face: under the names of the archetypes.
func (q *Quest) Offers(face func(policy.Role) profile.Face) (Boundary, []Offer) {
	at, c := BoundaryOf(q), OfferContext{InQuest: true, Face: face}
	if at == AfterFraming || at == AfterConsultation {
		c.Suggested = q.FirstAdvisor()
	}
	return at, Offers(at, c)
}

func (c OfferContext) withSuggestion(verb string, rest ...Offer) []Offer {
	if c.Suggested.Who == "" {
		return rest
	}
	first := Offer{Action: ActConsult, Label: verb + " " + c.name(c.Suggested.Who), Who: c.Suggested.Who, Reason: c.Suggested.Reason}
	return append([]Offer{first}, rest...)
}

// Choice is a person's answer: one of the offers, or words of their own.
type Choice struct {
	Offer *Offer
	Free  string
}

// ErrChoose is an answer that settles nothing; its message says what would.
var ErrChoose = errors.New("say a number, part of a line, or your own words")

var numberForm = regexp.MustCompile(`(?i)^(?:option\s+|#)?(\d{1,4})[.)]?$`)

// Choose reads an answer: a number, part of a label, or free words. A number
// that is not offered and a part that fits several offers settle nothing.
func Choose(offers []Offer, answer string) (Choice, error) {
	answer = strings.TrimSpace(answer)
	if answer == "" {
		return Choice{}, ErrChoose
	}
	if m := numberForm.FindStringSubmatch(answer); m != nil {
		n, _ := strconv.Atoi(m[1])
		if n < 1 || n > len(offers) {
			return Choice{}, fmt.Errorf("%s: there is no line %d, they are 1 to %d: %w", answer, n, len(offers), ErrChoose)
		}
		return Choice{Offer: &offers[n-1]}, nil
	}
	words := strings.ToLower(oneLine(strings.Trim(answer, ".!?\"' ")))
	var fits []int
	for i, o := range offers {
		label := strings.ToLower(o.Label)
		if label == words || strings.Contains(words, label) && !denies(words) {
			return Choice{Offer: &offers[i]}, nil
		}
		if words != "" && containsWords(label, words) {
			fits = append(fits, i)
		}
	}
	switch len(fits) {
	case 0:
		return Choice{Free: answer}, nil
	case 1:
		return Choice{Offer: &offers[fits[0]]}, nil
	}
	var labels []string
	for _, i := range fits {
		labels = append(labels, fmt.Sprintf("%d %s", i+1, offers[i].Label))
	}
	return Choice{}, fmt.Errorf("%q could be %s: %w", clip(answer, 40), strings.Join(labels, " or "), ErrChoose)
}

// denies says whether somebody speaks against something: a label inside such
// words is not chosen.
func denies(answer string) bool {
	words, _ := saidWords(answer)
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"not", "never", "no", "without", "but", "instead", "before", "after", "until"}, w)
	})
}

// containsWords finds the part at the beginning of a word, so that "gand" is
// Gandalf and "he" is not "the".
func containsWords(label, part string) bool {
	for i := 0; ; {
		j := strings.Index(label[i:], part)
		if j < 0 {
			return false
		}
		if at := i + j; at == 0 || !isWordByte(label[at-1]) {
			return true
		}
		i += j + 1
	}
}

func isWordByte(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 0x80 }
