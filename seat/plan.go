package seat

import (
	"context"
	"net"

	"conclave/agent"
	"conclave/audit"
	"conclave/gateway"
	"conclave/internal/price"
	"conclave/internal/shingle"
	"conclave/room"
	"conclave/toolbox"
	"conclave/transcript"
)

// Plan says who sits where, with what. Workspace, Run, Role, PromptName and
// Agent are needed.
type Plan struct {
	Workspace  string // its records are in .conclave/records
	Run        string // the run's id; a record of this run is continued
	Role       string
	PromptName string
	// Attributes go into the record's header.
	Attributes map[string]string
	Program    string // name and version of this program, for the header

	Agent agent.Agent
	// InProcess says that the agent runs in this process and starts none.
	InProcess bool
	System    string
	Model     string
	// Upstream is where the gateway finds the model; nil means that the agent
	// asks none, or finds it by itself, with Login or (DirectModel) in some way
	// that nobody sees.
	Upstream    *gateway.Upstream
	DirectModel bool
	// Login is lent to the program, which speaks to its vendor by itself, in a
	// room that is sealed but for a forwarder. Dial reaches the vendor's hosts;
	// nil dials their public addresses.
	Login   *agent.Login
	Dial    func(ctx context.Context, host string) (net.Conn, error)
	Models  []string       // that may be asked for; empty means Model alone
	Budget  gateway.Budget // of this seat alone; of one with a login, only the tokens
	Account Account        // shared with other seats; nil for none
	Prices  price.List     // the person's own
	Limits  agent.Limits

	Builtin []string // the agent's own tools
	Tools   []toolbox.Tool

	// Room holds grants, view, level and programs. Role and gateway are
	// filled in.
	Room room.Plan
	// Denied are the texts that this role must not know: they are
	// fingerprinted, so that an audit can find them where they must not be.
	Denied []Denied
	// Printer is what the prints of denied texts were made with; nil when
	// there are none.
	Printer *shingle.Printer
	// Stamps go on every receipt.
	Stamps []string

	// Tell takes what the person must know now; nil for nobody.
	Tell func(string)

	// Stream takes the log stream, nil for none: without the transcript when it
	// is to be quiet, or without raw.
	Stream                   *transcript.Stream
	StreamQuiet, StreamNoRaw bool
}

// Denied is something that a role must not know.
type Denied struct {
	Kind   string
	Name   string
	Reason string
	Text   []byte
	// Print stands for the text where it was made before: campaigns are long.
	Print *shingle.Print
}

// Turn is one thing to say to the agent.
type Turn struct {
	// ID is the turn's own within the run: the same id is never answered
	// twice.
	ID     string
	Parts  []audit.Part
	Images []agent.Image
	Schema []byte // asks for a structured answer
	// Watch sees every event of the turn as it happens, unless it is nil.
	Watch func(agent.Event)
}
