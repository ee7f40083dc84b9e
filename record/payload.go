package record

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Header opens a record and is never withheld: what it says is public to
// everyone who is given a copy.
type Header struct {
	// Format is set by Create. A reader accepts what it knows; within a
	// version, fields are only added.
	Format     int               `json:"format"`
	Run        string            `json:"run"`
	Created    time.Time         `json:"created"`
	Program    string            `json:"program,omitempty"`
	Attributes map[string]string `json:"attributes,omitempty"`
}

const formatVersion = 1

// Seal is the end of a run. Head covers the whole record, the seal frame with
// its reason included; it is what receipts and manifests keep.
type Seal struct {
	Frames uint64    `json:"frames"` // chained frames, the seal's included
	Head   Hash      `json:"head"`
	Reason string    `json:"reason"`
	Sealed time.Time `json:"sealed"`
}

// storedSeal is the payload of a seal frame: it cannot hold the head that it
// takes part in, so it states the one before it.
type storedSeal struct {
	Count  uint64    `json:"count"`
	Head   Hash      `json:"head"`
	Reason string    `json:"reason"`
	Sealed time.Time `json:"sealed"`
}

// markSize is count u64, offset u64, head.
const markSize = 8 + 8 + digestSize

func markPayload(c chain, offset int64) [markSize]byte {
	var b [markSize]byte
	binary.LittleEndian.PutUint64(b[:], c.count)
	binary.LittleEndian.PutUint64(b[8:], uint64(offset))
	copy(b[16:], c.head[:])
	return b
}

func checkLog(line []byte) error {
	if len(line) == 0 {
		return errors.New("log line is empty")
	}
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		return fmt.Errorf("log line holds a newline at byte %d", i)
	}
	return checkSize(len(line))
}

func checkBlob(channel string, data []byte) error {
	if channel == "" || len(channel) > 255 {
		return fmt.Errorf("blob channel %.40q is %d bytes long: want 1 to 255", channel, len(channel))
	}
	return checkSize(1 + len(channel) + len(data))
}

func checkSize(n int) error {
	if n > maxPayload {
		return fmt.Errorf("payload of %d bytes is over the %d that a frame may hold", n, maxPayload)
	}
	return nil
}

func parseHeaderPayload(p []byte) (Header, error) {
	var h Header
	if err := json.Unmarshal(p, &h); err != nil {
		return h, fmt.Errorf("header is not the JSON it should be: %w", err)
	}
	if h.Format != formatVersion {
		return h, fmt.Errorf("header says format %d, the file says %d", h.Format, formatVersion)
	}
	return h, nil
}

// parseSeal reads a seal that stands after c.
func parseSeal(p []byte, c chain) (Seal, error) {
	var s storedSeal
	if err := json.Unmarshal(p, &s); err != nil {
		return Seal{}, fmt.Errorf("seal is not the JSON it should be: %w", err)
	}
	if s.Count != c.count || s.Head != c.head {
		return Seal{}, fmt.Errorf("seal is over %d frames with another head than the %d before it", s.Count, c.count)
	}
	return Seal{Frames: c.count + 1, Reason: s.Reason, Sealed: s.Sealed}, nil
}
