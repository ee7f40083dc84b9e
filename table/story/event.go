package story

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"conclave/dice"
	"conclave/table"
	"conclave/table/combat"
)

// Kinds of events.
const (
	EventSession = "session" // a session began
	EventCommit  = "commit"  // a cycle was committed
	EventEnd     = "end"     // a session ended
	EventSeat    = "seat"    // a person stepped away or came back, a status changed
	EventSave    = "save"
	EventRestore = "restore"
	EventRename  = "rename"
	EventFork    = "fork"
)

// Event is one file of the table's log, in the order of Seq. It is the stored
// form: fields may be added, none may change its meaning.
type Event struct {
	V       int           `json:"v"`
	Seq     int           `json:"seq"`
	Kind    string        `json:"kind"`
	Time    time.Time     `json:"time"`
	Session int           `json:"session,omitempty"`
	Cycle   int           `json:"cycle,omitempty"`
	Run     string        `json:"run,omitempty"` // the interaction
	Input   *Input        `json:"input,omitempty"`
	Blocks  []table.Block `json:"blocks,omitempty"`
	Context string        `json:"context,omitempty"` // the GM's notes
	// ContextRead: the GM was resumed with them, and they are deleted. Nobody is
	// given them again.
	ContextRead bool                    `json:"context_read,omitempty"`
	Scene       *Scene                  `json:"scene,omitempty"`
	Statuses    map[string]table.Status `json:"statuses,omitempty"`
	Combat      *combat.State           `json:"combat,omitempty"` // a fight as it stands now, empty when it is over
	Asked       []Asked                 `json:"asked,omitempty"`
	Rolls       []uint64                `json:"rolls,omitempty"`
	// Journals are the characters whose entries this event set off; all that
	// was kept for them is spent.
	Journals []string        `json:"journals,omitempty"`
	Flushed  bool            `json:"flushed,omitempty"`
	Away     map[string]bool `json:"away,omitempty"` // stepped away (true), came back (false)
	Name     string          `json:"name,omitempty"` // of a save point, of a rename
	Warnings []string        `json:"warnings,omitempty"`
	Withheld string          `json:"withheld,omitempty"` // text after a signal, for the audit
	To       int             `json:"to,omitempty"`       // the event that a restore goes back to
	Ended    bool            `json:"ended,omitempty"`    // the GM has said that the session is over
	// Dice is where the dice log stood: lines of it that are missing are missed.
	Dice *dice.Mark `json:"dice,omitempty"`
}

// renamed are the old and the new name of a rename.
func (e Event) renamed() (from, to string) {
	from, to, _ = strings.Cut(e.Name, " ")
	return from, to
}

// Asked is one request to a player and what it came to.
type Asked struct {
	Character string            `json:"character"`
	Sub       int               `json:"sub"`
	Type      table.RequestType `json:"type,omitempty"`
	Outcome   string            `json:"outcome"` // answer, veto, error
	Private   bool              `json:"private,omitempty"`
	Response  string            `json:"response"`
	Discarded string            `json:"discarded,omitempty"` // of a veto: what had no effect, or all of it
	PromptSHA string            `json:"prompt_sha256,omitempty"`
}

// Input is what an interaction begins with.
type Input struct {
	Kind string `json:"kind"` // session-start, said, continue, signal
	// Who said it: a character, or "table" for a person without one, or "gm".
	Who   string   `json:"who,omitempty"`
	Text  string   `json:"text,omitempty"`
	Notes string   `json:"notes,omitempty"` // for the journal of who said it; told to nobody
	Names []string `json:"names,omitempty"` // of a person's signal
}

// Said is what somebody says of their own accord. What stands behind a line
// [NOTES] is for their journal alone.
func Said(who, text string) Input {
	turn := table.SplitTurn(text)
	return Input{Kind: InputSaid, Who: who, Text: turn.Response, Notes: turn.Notes}
}

// Kinds of Input.
const (
	InputStart    = "session-start"
	InputSaid     = "said"
	InputContinue = "continue"
	InputSignal   = "signal" // a person is the GM and has written the prompts
)

// Outcomes of a request.
const (
	OutcomeAnswer = "answer"
	OutcomeVeto   = "veto"
	OutcomeError  = "error"
)

// Version is the newest version of an event that this program knows, and the one
// that it writes.
const Version = 1

func logName(e Event) string { return fmt.Sprintf("%08d-%s.json", e.Seq, e.Kind) }

// File is the event's file: its path below .conclave/tables/{campaign}, and what
// stands in it.
func (e Event) File() (name string, data []byte) {
	data, err := json.MarshalIndent(e, "", " ")
	if err != nil {
		panic(err) // it is plain data
	}
	return "log/" + logName(e), append(data, '\n')
}
