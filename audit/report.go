package audit

import "fmt"

// Report is the judgement of one record.
type Report struct {
	Run     string `json:"run"`
	Role    string `json:"role"`
	Prompt  string `json:"prompt_name"`
	Adapter string `json:"adapter"`

	Sound  bool   `json:"sound"` // digests and chain verify
	Sealed bool   `json:"sealed"`
	Head   string `json:"head"`

	Turns    []Turn    `json:"turns"`
	Findings []Finding `json:"findings"`
	// Gaps are what this record does not let anyone see.
	Gaps []string `json:"gaps"`
	// Unseen is what no record shows.
	Unseen []string `json:"unseen"`
}

// Clean says that nothing was found.
func (r *Report) Clean() bool { return len(r.Findings) == 0 }

// Turn is what the record shows of one turn.
type Turn struct {
	ID     string `json:"id"`
	Role   string `json:"role"`
	Given  []Item `json:"given"`
	Denied int    `json:"denied"` // sources that are kept from the role
	// Sought is how many of them can be looked for: long enough, and not shared with what was given.
	Sought   int `json:"sought"`
	Searched int `json:"searched"` // texts that were looked through for them
	// Declared are the paths that the agent named in its tool calls.
	Declared []string `json:"declared"`
	// Tools are the calls of the room's own tools, in order, of every attempt.
	Tools    []Tool   `json:"tools,omitempty"`
	Level    string   `json:"level"`
	Required string   `json:"required"`
	Probes   int      `json:"probes"` // pairs that hold
	Model    string   `json:"model_input"`
	Calls    int      `json:"model_calls"`
	Receipt  bool     `json:"receipt"`
	Answered bool     `json:"answered"`
	Stamps   []string `json:"stamps,omitempty"`
}

// Tool is a call of one of the room's tools.
type Tool struct {
	Name   string `json:"tool"`
	SHA256 string `json:"input_sha256"`
	Bytes  int    `json:"input_bytes"`
	Failed bool   `json:"failed,omitempty"` // refused, or without effect
}

// Finding is something that must not be.
type Finding struct {
	Rule string `json:"rule"`
	Turn string `json:"turn,omitempty"`
	// Frame is the place in the record.
	Frame uint64 `json:"frame,omitempty"`
	What  string `json:"what"`
}

func (f Finding) String() string {
	s := f.Rule + ": " + f.What
	if f.Turn != "" {
		s = "turn " + f.Turn + ": " + s
	}
	if f.Frame > 0 {
		s += fmt.Sprintf(" (frame %d)", f.Frame)
	}
	return s
}

// The rules that a record can break.
const (
	RuleChain    = "chain"    // a digest or the chain does not verify
	RuleSeal     = "seal"     // the run has no end
	RuleGiven    = "given"    // something in the room is not the role's to know
	RuleFound    = "found"    // a denied source reached the agent
	RuleCanary   = "canary"   // so did a canary
	RuleEnforced = "enforced" // the room was not shown to be locked
	RuleReceipt  = "receipt"  // a turn has no receipt
	RuleOrder    = "order"    // entries are missing
)

var unseen = []string{
	"a denied text in other words, or fewer than eight words of it",
	"text that is packed, encrypted or in a picture",
	"files that an agent's own child processes read: there the probe pairs are the guarantee",
}
