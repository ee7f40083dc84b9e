package quest

import (
	"regexp"
	"strings"

	"conclave/frontmatter"
	"conclave/policy"
)

// Transcript is what can be told of a conversation file without the record:
// its header and context. The exchange is left as it is.
type Transcript struct {
	Name    string      `json:"name"` // of the file
	Kind    policy.Kind `json:"kind"` // whose it is, as isolation sees it
	Agent   string      `json:"agent,omitempty"`
	Skin    string      `json:"skin,omitempty"`
	Phase   string      `json:"phase,omitempty"`
	Mode    string      `json:"mode,omitempty"`
	Date    string      `json:"date,omitempty"`
	Purpose string      `json:"purpose,omitempty"`
	Fault   string      `json:"fault,omitempty"` // why it could not be read whole
	Data    []byte      `json:"-"`
}

var nameForm = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}-\d{2}-\d{2}-([a-z]+)(?:\([^()]*\))?(?:_\d{2}(?:_\d{3,4}){0,2})?\.md$`)

// readTranscript reads a conversation file by whoever wrote it. A file whose
// name and header do not name the same agent is nobody's: then it is shown to
// those alone who may see every conversation.
func readTranscript(name string, data []byte) Transcript {
	t := Transcript{Name: name, Kind: policy.ConversationOther, Data: data}
	named := nameForm.FindStringSubmatch(name)
	if named == nil {
		t.Fault = "the file name is not of the form date-time-agent.md"
		return t
	}
	doc, err := frontmatter.Parse(data)
	if err != nil {
		t.Fault = err.Error()
		return t
	}
	for key, to := range map[string]*string{"agent": &t.Agent, "profile-name": &t.Skin, "phase": &t.Phase, "campaign-mode": &t.Mode, "date": &t.Date} {
		*to, _ = doc.Get(key)
	}
	body, _ := doc.Body()
	t.Purpose = purposeIn(body)
	if t.Agent != named[1] {
		t.Fault = "the file name and the header name different agents"
		return t
	}
	t.Kind = policy.ConversationOf(t.Agent)
	if t.Kind == policy.ConversationCouncil && t.withSimon() {
		t.Kind = policy.ConversationSimon
	}
	return t
}

// withSimon recognises a debrief, which is filed as council and goes through
// the verdict. A council that is held after the verdict is a council: its
// purpose says so. What says nothing is taken for the one that tells more.
func (t Transcript) withSimon() bool {
	purpose := strings.ToLower(t.Purpose)
	for _, word := range []string{"debrief", "reflection", "simon"} {
		if strings.Contains(purpose, word) {
			return true
		}
	}
	return t.Phase == "6" && !strings.Contains(purpose, "council")
}

// purposeIn finds the purpose line before the exchange begins.
func purposeIn(body string) string { return contextIn(body, "Consultation purpose:") }

// About says whether a conversation can be one of a quest: it names that title, and is
// not older. Conversations stay where they are when a quest is put away.
func (t Transcript) About(q *Quest) bool {
	return contextIn(string(t.Data), "Quest:") == oneLine(q.Title) && t.Date >= q.Created
}

// contextIn finds what a line says before the exchange begins.
func contextIn(body, prefix string) string {
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, exchangeHeading) {
			break
		}
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// ByCaller is added to the purpose of a conversation that an agent began, and to
// what it logs: it called from outside, in the place of the person.
const ByCaller = ", by an agent over MCP"

// Purposes that the engine writes.
const (
	PurposeDefinition    = "Quest definition"
	PurposeSetup         = "Character setup"
	PurposeAdvisory      = "Phase 3 advisory"
	PurposeCounsel       = "Strategic counsel"
	PurposeReadiness     = "Readiness review"
	PurposeCheckpoint    = "Guardian checkpoint"
	PurposeConfrontation = "Dragon confrontation"
	PurposeDiscussion    = "Discussion of the verdict"
	PurposeCouncil       = "Council session"
	PurposeDebrief       = "Debrief with Simon (filed as council)"
	PurposeReflection    = "Reflection with Simon (filed as council)"
	PurposeStandalone    = "Standalone consultation"
)
