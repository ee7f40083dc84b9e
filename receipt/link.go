package receipt

// Event is the log record by which a gate's record holds the digest of its
// receipt's body. It is the last one before the seal.
const Event = "gate.receipt"

// Bound is the context of that log record.
type Bound struct {
	Run    string `json:"run"`
	SHA256 string `json:"sha256"`
}

// Link is the end of the gate's record: what it takes to come from the body's
// digest to the record's head.
type Link struct {
	Run    string  `json:"run"`
	Frames uint64  `json:"frames"` // chained frames, the seal's included
	Before string  `json:"before"` // the head before the first of Last
	Last   []Frame `json:"last"`   // the log record of Event, and the seal
	Head   string  `json:"head"`   // what follows
}

// Frame is a frame of a record in words: its kind by name, its salt in
// hexadecimal digits, its payload as text.
type Frame struct {
	Kind    string `json:"kind"`
	Salt    string `json:"salt"`
	Payload string `json:"payload"`
}
