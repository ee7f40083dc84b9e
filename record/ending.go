package record

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
)

// Ending is how a sealed record ends: what it takes to come from the last frames
// to its head, without the frames before them. Whoever knows the head knows by
// it that these frames are the record's.
type Ending struct {
	Before Hash   // the head before the first of Frames
	Count  uint64 // chained frames before it
	Frames []LastFrame
}

// LastFrame is a frame of an ending.
type LastFrame struct {
	Kind    Kind
	Salt    [saltSize]byte
	Payload []byte
}

// ReadEnding reads a sealed record to its end, and returns its last n frames.
func ReadEnding(src io.ReaderAt, n int) (Ending, error) {
	e := Ending{Before: newChain().head}
	var heads []Hash
	r := NewReader(src)
	for r.Next() {
		f := r.Frame()
		if f.Withheld {
			return Ending{}, errors.New("read the end of a record: payloads are withheld in this copy")
		}
		e.Frames = append(e.Frames, LastFrame{f.Kind, f.salt, append([]byte(nil), f.Payload...)})
		heads = append(heads, r.Cursor().Head)
		if len(e.Frames) > n {
			e.Before, e.Count = heads[0], e.Count+1
			e.Frames, heads = e.Frames[1:], heads[1:]
		}
	}
	if err := r.Err(); err != nil {
		return Ending{}, fmt.Errorf("read the end of a record: %w", err)
	}
	if _, sealed := r.Sealed(); !sealed || len(e.Frames) < n {
		return Ending{}, fmt.Errorf("read the end of a record: it is not sealed behind %d frames", n-1)
	}
	return e, nil
}

// Follow goes through the frames, of which the last one must be the seal that
// belongs behind the others, and returns that. Its head is the record's.
func (e Ending) Follow() (Seal, error) {
	c := chain{e.Count, e.Before}
	var seal Seal
	for i, f := range e.Frames {
		last := i == len(e.Frames)-1
		if (f.Kind == KindSeal) != last || f.Kind < KindHeader || f.Kind > KindSeal || f.Kind == kindMark {
			return Seal{}, fmt.Errorf("frame %d of %d is a %s", i+1, len(e.Frames), f.Kind)
		}
		if len(f.Payload) > maxPayload {
			return Seal{}, errors.New("a payload is longer than a frame may hold")
		}
		if last {
			var err error
			if seal, err = parseSeal(f.Payload, c); err != nil {
				return Seal{}, err
			}
		}
		digest := sha256.Sum256(append(f.Salt[:], f.Payload...))
		c.add(f.Kind, len(f.Payload), digest)
	}
	if len(e.Frames) == 0 {
		return Seal{}, errors.New("there is no frame")
	}
	seal.Head = c.head
	return seal, nil
}
