package receipt

import (
	"time"

	"conclave/audit"
	"conclave/gate"
)

// formatVersion is the format of the bodies that this program writes. Within a
// version fields are only added, and a reader that does not know one refuses:
// it could not say what the file proves.
const formatVersion = 1

// Receipt is the stored form of a file.
type Receipt struct {
	// Signature is an armoured SSHSIG over the rest of the file.
	Signature string `json:"signature,omitempty"`
	Record    Link   `json:"record"`
	Body      Body   `json:"body"`
}

// Body is what a gate did.
type Body struct {
	Format   int       `json:"format"`
	Program  string    `json:"program"` // conclave and its version
	Made     time.Time `json:"made"`
	Case     Case      `json:"case"`
	Checks   []Check   `json:"checks"`
	Judges   []Judge   `json:"judges"`
	Decision Decision  `json:"decision"`
	Stamps   []string  `json:"stamps,omitempty"`
}

// What was put before the judges, and what came of it, has its home in package
// gate.
type (
	Case      = gate.Case
	Criteria  = gate.Criteria
	Criterion = gate.Criterion
	Work      = gate.Work
	File      = gate.File
	LeftOut   = gate.LeftOut
	Decision  = gate.Decision
	Decided   = gate.Decided
)

// Check is what became of a criterion's own command.
type Check struct {
	Number  int    `json:"number"`
	Command string `json:"command"`
	State   string `json:"state"` // as in quest.CheckResult
	Note    string `json:"note,omitempty"`
	Level   string `json:"level"` // of the room in which it ran
}

// Judge is one run of a judge. What it shares with a receipt of a turn has the
// names of audit.Receipt.
type Judge struct {
	Number int    `json:"number"` // from 1
	Run    string `json:"run"`
	Head   string `json:"head"` // of its sealed record
	Frames uint64 `json:"frames"`

	Adapter      string `json:"adapter"`
	Program      string `json:"program,omitempty"`
	Version      string `json:"version,omitempty"`
	Provider     string `json:"provider,omitempty"` // its kind
	Model        string `json:"model,omitempty"`
	Family       string `json:"family"` // vendor and line of the model: see package gate
	Instructions string `json:"instructions_sha256"`

	InProcess  bool              `json:"in_process"`
	Given      []audit.Item      `json:"given"`
	Denied     []Denied          `json:"denied"`
	Enforced   audit.Enforcement `json:"enforced"`
	ModelInput string            `json:"model_input"`
	Sent       []Sent            `json:"sent,omitempty"`
	Tools      []string          `json:"tools,omitempty"` // called, in order

	Usage     audit.Usage `json:"usage"`
	Estimated bool        `json:"usage_estimated,omitempty"`
	Started   time.Time   `json:"started"`
	Ended     time.Time   `json:"ended"`
	Stamps    []string    `json:"stamps,omitempty"`

	Verdict  string    `json:"verdict,omitempty"`
	Summary  string    `json:"summary,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
	Failed   string    `json:"failed,omitempty"` // why there is no verdict
}

// Denied says how many things of a kind were kept from a judge: neither names nor
// digests, which would tell a stranger what they are.
type Denied struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}

// Sent is one request to the model, as the gateway recorded it.
type Sent struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// Finding is what a judge says of one criterion.
type Finding struct {
	Number    int        `json:"number"`
	Status    string     `json:"status"`
	Evidence  string     `json:"evidence"`
	Citations []Citation `json:"citations,omitempty"`
}

// Citation is a place in the work to which evidence points, and whether it is
// there.
type Citation struct {
	Text    string `json:"text"`
	Path    string `json:"path"`
	Line    int    `json:"line"`
	EndLine int    `json:"end_line,omitempty"`
	OK      bool   `json:"ok"`
	Reason  string `json:"reason,omitempty"`
}
