package receipt

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"conclave/internal/jsontext"
	"conclave/record"
)

// Event is the log record by which a gate's record holds the digest of its
// receipt's body. It is the last one before the seal.
const Event = "gate.receipt"

// Bound is the context of that log record.
type Bound struct {
	Run    string `json:"run"`
	SHA256 string `json:"sha256"`
}

// Link is the end of the gate's record: what it takes to come from the body's
// digest to the record's head. Everything in it follows from Before and Last.
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

// lastFrames is how many frames a link has.
const lastFrames = 2

// Bind is what a gate puts on its record, as the context of Event, when nothing
// of the body will change any more and before the record is sealed.
func (b *Body) Bind(run string) (Bound, error) {
	digest, err := b.Digest()
	return Bound{Run: run, SHA256: digest}, err
}

// Of makes the receipt of a gate: its body, and its sealed record, whose last log
// record must be what Bind said of this body.
func Of(body Body, sealed io.ReaderAt) (*Receipt, error) {
	e, err := record.ReadEnding(sealed, lastFrames)
	if err != nil {
		return nil, fmt.Errorf("make a receipt: %w", err)
	}
	r := &Receipt{Body: body, Record: Link{Before: e.Before.String()}}
	for _, f := range e.Frames {
		r.Record.Last = append(r.Record.Last,
			Frame{f.Kind.String(), hex.EncodeToString(f.Salt[:]), string(f.Payload)})
	}
	at, err := r.Record.follow()
	if err != nil {
		return nil, fmt.Errorf("make a receipt: %w", err)
	}
	r.Record.Run, r.Record.Frames, r.Record.Head = at.Run, at.frames, at.head
	if err := r.linked(); err != nil {
		return nil, fmt.Errorf("make a receipt: %w", err)
	}
	return r, nil
}

// followed is where the frames of a link lead to.
type followed struct {
	Bound
	frames uint64
	head   string
}

// linked says whether body and record belong together, and whether the record
// says of itself what follows from its frames.
func (r *Receipt) linked() error {
	at, err := r.Record.follow()
	if err != nil {
		return err
	}
	digest, err := r.Body.Digest()
	switch {
	case err != nil:
		return err
	case digest != at.SHA256:
		return fmt.Errorf("the body's digest is %s, and the record holds %s", digest, at.SHA256)
	case r.Record.Run != at.Run:
		return fmt.Errorf("the run is said to be %q, and the record says %q", r.Record.Run, at.Run)
	case r.Record.Frames != at.frames:
		return fmt.Errorf("the record is said to have %d frames, and its seal counts %d", r.Record.Frames, at.frames)
	case r.Record.Head != at.head:
		return fmt.Errorf("the record's head is said to be %s, and %s follows from its frames", r.Record.Head, at.head)
	}
	return nil
}

// follow computes the head by the chain of package record.
func (l Link) follow() (followed, error) {
	var e record.Ending
	if len(l.Last) != lastFrames {
		return followed{}, fmt.Errorf("the record ends in %d frames, and %d are wanted", len(l.Last), lastFrames)
	}
	if err := e.Before.UnmarshalText([]byte(l.Before)); err != nil || e.Before.String() != l.Before {
		return followed{}, fmt.Errorf("the head before the last frames is no digest")
	}
	for i, f := range l.Last {
		kind := []record.Kind{record.KindLog, record.KindSeal}[i]
		frame := record.LastFrame{Kind: kind, Payload: []byte(f.Payload)}
		salt, err := hex.DecodeString(f.Salt)
		if err != nil || len(salt) != len(frame.Salt) || hex.EncodeToString(salt) != f.Salt || f.Kind != kind.String() {
			return followed{}, fmt.Errorf("frame %d of the record's end is no %s with a salt", i+1, kind)
		}
		copy(frame.Salt[:], salt)
		e.Frames = append(e.Frames, frame)
	}
	e.Count = sealedBehind(e.Frames[1].Payload)
	seal, err := e.Follow()
	if err != nil {
		return followed{}, fmt.Errorf("the record's end: %w", err)
	}
	bound, err := boundIn(e.Frames[0].Payload)
	return followed{bound, seal.Frames, seal.Head.String()}, err
}

// sealedBehind is how many frames there were before the last ones, as the seal
// counts them; it is part of what leads to the head.
func sealedBehind(seal []byte) uint64 {
	var s struct{ Count uint64 }
	if json.Unmarshal(seal, &s) != nil || s.Count == 0 {
		return 0
	}
	return s.Count - 1
}

// boundIn reads the log record of Event.
func boundIn(line []byte) (b Bound, err error) {
	if event, _ := jsontext.String(jsontext.Get(line, "event")); event != Event {
		return b, fmt.Errorf("the record's last log record is %q, not %s", event, Event)
	}
	if err := json.Unmarshal(jsontext.Get(line, "context"), &b); err != nil {
		return b, fmt.Errorf("the record's last log record cannot be read: %w", err)
	}
	return b, nil
}
