package flow

import (
	"encoding/json"

	"conclave/quest"
	"conclave/seat"
)

// eventConversation puts on a seat's record which of its turns stand in which
// conversation file, and everything else that the file says.
const eventConversation = "quest.conversation"

// conversationEvent is the stored form of that event. Within a version fields
// are only added.
type conversationEvent struct {
	File     string `json:"file"` // the name that was free when it was planned
	Agent    string `json:"agent"`
	Skin     string `json:"skin,omitempty"`
	FilePart string `json:"file_part,omitempty"`
	Phase    int    `json:"phase"`
	Mode     string `json:"mode"`
	Start    string `json:"start"` // RFC 3339, with the zone it was drawn in
	Quest    string `json:"quest"`
	Purpose  string `json:"purpose"`
	Speaker  string `json:"speaker"` // the tag of whoever sat here
	// Turns are those whose words stand in the file, in order.
	Turns []string `json:"turns"`
	// Said is the exchange in order, where it is more than those turns. Opened is
	// what the person typed on the way to it, in menus; it comes first.
	Said   []saidPart `json:"said,omitempty"`
	Opened []string   `json:"opened,omitempty"`
	// Unfinished says that words stand in the file, too, that were said in a turn
	// which did not come to its end.
	Unfinished bool `json:"unfinished,omitempty"`

	Outcome string `json:"outcome,omitempty"`
	// Runs are the records of a council whose words make up the file, in
	// order, this one last. Lead names that record in those of the others.
	Runs []string `json:"runs,omitempty"`
	Lead string   `json:"lead,omitempty"`
	// Caller is the agent that asked in the person's place.
	Caller string `json:"caller,omitempty"`
}

// saidPart is one part of an exchange: a turn, words that the person typed and
// that were not for the agent, or what the agent wrote and the engine showed.
type saidPart struct {
	Turn   string `json:"turn,omitempty"`
	Person string `json:"person,omitempty"`
	Agent  string `json:"agent,omitempty"`
}

// recorded is a record of a quest's: its turns, and the conversation that they
// stand in.
type recorded struct {
	*seat.History
	filed *conversationEvent
	paid  seat.Tally
}

// readRecord reads a record. One that is being written is read as far as it
// goes.
func readRecord(path string) (*recorded, error) {
	rec := &recorded{}
	var err error
	rec.History, err = seat.ReadHistory(path, func(event string, context []byte) error {
		if event != eventConversation {
			return rec.paid.Event(event, context)
		}
		rec.filed = &conversationEvent{}
		return json.Unmarshal(context, rec.filed)
	})
	return rec, err
}

// seal notes on the record of a run what its conversation is, and ends it.
func (h *House) seal(run, reason string, f conversationEvent) error {
	return h.seats.Seal(run, reason, func(s *seat.Seat) error {
		f.Outcome = quest.Stamped(f.Outcome, s.Weaker())
		return s.Event(eventConversation, "conversation", f)
	})
}
