package audit

import (
	"encoding/json"
	"time"
)

// The events that a seat puts on the record, and that an audit reads. The
// structs are their stored form: within a version fields are only added.
const (
	EventRoom    = "room.opened"  // Room
	EventMessage = "turn.message" // Message
	EventReply   = "turn.reply"   // Reply
	EventFailed  = "turn.failed"  // Failed
	EventReceipt = "turn.receipt" // Receipt
)

// FingerprintChannel names the blobs that hold the keyed digests of a denied
// source: one blob per source that has windows, in the order of Room.Denied, 16
// bytes a window.
const FingerprintChannel = "audit.fingerprints"

// HeardChannel names the blobs that hold what an agent says while it says it,
// piece by piece, where somebody listens: of a block that it does not live to end
// there is nothing else. What is said to its end stands in the entries.
const HeardChannel = "turn.heard"

// Room says what a seat was given and what was kept from it. It stands once in
// a record for each time that the seat was opened.
type Room struct {
	Role      string    `json:"role"`
	InProcess bool      `json:"in_process"`
	Given     []Item    `json:"given"`
	LeftOut   []LeftOut `json:"left_out,omitempty"`
	Denied    []Source  `json:"denied"`
	// Key is what the fingerprints are made with; Canaries are words that
	// stand only where this role must not look.
	Key      []byte   `json:"key"`
	Canaries []string `json:"canaries,omitempty"`
	// Readings is in how many ways the texts were read of which fingerprints were
	// made: 2 is as written and as seen, 0 is as written alone.
	Readings int `json:"readings,omitempty"`
}

// Item is one thing in a room.
type Item struct {
	Kind    string `json:"kind"`
	Path    string `json:"path"`
	Size    int64  `json:"size"`
	SHA256  string `json:"sha256"`
	Mounted bool   `json:"mounted,omitempty"`
	Files   int    `json:"files,omitempty"`
}

// LeftOut is something that was met while the room was filled, and stayed out.
type LeftOut struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Source is something that the role is denied.
type Source struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Size    int    `json:"size"`
	SHA256  string `json:"sha256"`
	Windows int    `json:"windows"`
	// Rate says of a long text that one window in so many was kept.
	Rate   int    `json:"rate,omitempty"`
	Reason string `json:"reason"`
}

// Origins of the parts of a message. FromAgent is an agent that speaks in the
// person's place: it called from outside.
const (
	FromPerson = "person"
	FromEngine = "engine"
	FromAgent  = "agent"
)

// Part is a piece of a message and where it came from.
type Part struct {
	Origin string `json:"origin"`
	Text   string `json:"text"`
}

// Said reports whether somebody said it to the agent: the person, or an agent in
// their place. What the engine puts around that nobody said.
func (p Part) Said() bool { return p.Origin == FromPerson || p.Origin == FromAgent }

// Message is what a turn began with.
type Message struct {
	Turn    string `json:"turn"`
	Attempt int    `json:"attempt"` // from 1
	Parts   []Part `json:"parts"`
}

// Reply is what a turn ended with.
type Reply struct {
	Turn       string          `json:"turn"`
	Attempt    int             `json:"attempt"`
	Text       string          `json:"text"`
	Uses       []ToolUse       `json:"uses,omitempty"`
	Structured json.RawMessage `json:"structured,omitempty"`
	Stopped    string          `json:"stopped,omitempty"`
	Files      []HandedIn      `json:"files,omitempty"`
	Usage      Usage           `json:"usage"`
}

// HandedIn is a file that an agent left in its outbox during a turn. One that
// cannot be taken has a fault in place of its text.
type HandedIn struct {
	Name  string `json:"name"` // below the outbox, slash-separated
	Text  string `json:"text,omitempty"`
	Fault string `json:"fault,omitempty"`
}

// ToolUse is a tool that was called, and how much of the text had been said.
type ToolUse struct {
	Name string `json:"name"`
	Said int    `json:"said"`
}

// Failed is the end of an attempt without a reply.
type Failed struct {
	Turn    string     `json:"turn"`
	Attempt int        `json:"attempt"`
	Error   string     `json:"error"`
	Files   []HandedIn `json:"files,omitempty"` // all the same
	// Cut: it was stopped, or the model's server did not answer. What was paid for
	// until then is not paid again.
	Cut bool `json:"cut,omitempty"`
}

// Usage is what a turn consumed.
type Usage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"`

	CacheWrite1h int64 `json:"cache_write_1h,omitempty"` // of CacheWrite
	Searches     int64 `json:"web_searches,omitempty"`

	CostUSD float64 `json:"cost_usd"`
}

// What a receipt says about the model's input.
const (
	InputObserved    = "observed"     // the gateway recorded every byte
	InputNotObserved = "not observed" // the program reached its model by itself
	InputNone        = "no model"     // nobody was asked
)

// CredentialInRoom is what a receipt says of a login that was lent.
const CredentialInRoom = "in the room"

// Forwarder is what passed between a room and the hosts of a vendor, up to the
// end of a turn. Bytes are those of connections that had ended by then.
type Forwarder struct {
	Hosts       []string `json:"hosts"`
	Connections int      `json:"connections"`
	Refused     int      `json:"refused"`
	Sent        int64    `json:"sent"`
	Received    int64    `json:"received"`
}

// Receipt is the proof of one turn: who answered, what was in the room, what
// was enforced and how that was shown, and whether the model's input is on the
// record.
type Receipt struct {
	Turn     string `json:"turn"`
	Attempts int    `json:"attempts"` // how often it was asked in all
	Role     string `json:"role"`
	Adapter  string `json:"adapter"`
	Program  string `json:"program,omitempty"`
	Version  string `json:"version,omitempty"`
	Session  string `json:"session,omitempty"`
	PID      int    `json:"pid,omitempty"`
	Model    string `json:"model,omitempty"`
	Login    string `json:"login,omitempty"`
	// Credential says where the credential was by which the program spoke to
	// its vendor, CredentialInRoom or nothing: a gateway's key never is there.
	Credential string     `json:"credential,omitempty"`
	Forwarder  *Forwarder `json:"forwarder,omitempty"`

	InProcess  bool        `json:"in_process"`
	Given      []Item      `json:"given"`
	Enforced   Enforcement `json:"enforced"`
	ModelInput string      `json:"model_input"`
	Calls      int         `json:"model_calls"`
	Refused    int         `json:"refused_calls"`
	Replayed   int         `json:"replayed_calls,omitempty"` // answered from the record of a cut attempt
	Tools      []string    `json:"tools,omitempty"`          // called, in order

	Usage Usage `json:"usage"`
	// Estimated: some of it was never told, because an answer was cut.
	Estimated bool      `json:"usage_estimated,omitempty"`
	Started   time.Time `json:"started"`
	Ended     time.Time `json:"ended"`
	// Stamps are what every artefact of this turn must say: a lowered level,
	// context that the person accepted.
	Stamps []string `json:"stamps,omitempty"`
}

// Enforcement says what the room was shown to hold back.
type Enforcement struct {
	Level     string    `json:"level"`
	Required  string    `json:"required"`
	Fallback  string    `json:"fallback,omitempty"` // why the system could not give that
	Mechanism string    `json:"mechanism,omitempty"`
	Without   string    `json:"without,omitempty"`
	Kernel    string    `json:"kernel,omitempty"`
	UID       int       `json:"uid"`
	ShownAt   time.Time `json:"shown_at"`
	// Forwards are hosts to which the room led in a stream that nobody here
	// could read; the level then says so.
	Forwards []string `json:"forwards,omitempty"`
	Probes   []Probe  `json:"probes,omitempty"`
	Gaps     []string `json:"gaps,omitempty"`
}

// Probe is one thing that was possible outside and impossible inside.
type Probe struct {
	Name       string `json:"name"`
	Control    string `json:"control"`
	Restricted string `json:"restricted"`
	Where      string `json:"where"`
}
