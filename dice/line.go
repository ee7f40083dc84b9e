package dice

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"conclave/internal/newer"
)

// Visibility says who may see a roll.
type Visibility string

const (
	Open    Visibility = "open"    // everyone
	sealed  Visibility = "sealed"  // the GM; the others see that dice fell
	Private Visibility = "private" // the GM and who rolled
)

// Events of the log.
const (
	eventEpoch    = "epoch"      // a new seed is committed to
	eventTable    = "table-seed" // the table's own text, or the word that there is none
	EventRoll     = "roll"
	EventVoid     = "void"     // a number spent on a roll that could not be finished
	EventReveal   = "reveal"   // a sealed or private roll is opened to everyone
	eventOverride = "override" // the GM lets another total stand
	eventSetting  = "setting"  // overrides are allowed or forbidden from here on
	eventSeed     = "seed"     // the epoch ends: its seed is shown
	eventLost     = "lost"     // the epoch ends without its seed
	eventBreak    = "break"    // lines were lost, and somebody has sealed the place
)

// logVersion is the newest version of a line, which only a break has; epochs are
// what they have been from the beginning.
const (
	logVersion   = 2
	epochVersion = 1
)

// Line is one line of dice-log.jsonl, as it is stored. Readers of version 1
// keep unknown members alone: the chain goes over the bytes of the line.
//
// The member hash always comes last. It is SHA-256 of the 32 bytes of prev
// followed by the line without its hash member and without the line feed.
type Line struct {
	Event      string     `json:"event"`
	V          int        `json:"v,omitempty"` // version of the format, on epochs and breaks
	Epoch      int        `json:"epoch"`
	Commit     string     `json:"commit,omitempty"`
	Test       bool       `json:"test,omitempty"` // the seed was fixed for a test
	Note       string     `json:"note,omitempty"`
	Client     string     `json:"client,omitempty"`
	Seed       string     `json:"seed,omitempty"`
	NoOverride bool       `json:"no_override,omitempty"`
	N          uint64     `json:"n,omitempty"`
	Of         uint64     `json:"of,omitempty"`
	ID         string     `json:"id,omitempty"`
	Cycle      string     `json:"cycle,omitempty"`
	Who        string     `json:"who,omitempty"`
	Purpose    string     `json:"purpose,omitempty"`
	Visibility Visibility `json:"visibility,omitempty"`
	Input      string     `json:"input,omitempty"`
	Canonical  string     `json:"canonical,omitempty"`
	Results    []Result   `json:"results,omitempty"`
	DC         *int64     `json:"dc,omitempty"`
	HideDC     bool       `json:"hide_dc,omitempty"`
	Check      *Outcome   `json:"check,omitempty"` // the first result against DC
	Total      *int64     `json:"total,omitempty"` // of an override
	Salt       string     `json:"salt,omitempty"`
	Break      *Break     `json:"break,omitempty"`
	Prev       string     `json:"prev"`
	Hash       string     `json:"hash,omitempty"`
}

// Text shows a roll in the house style, one line per expression.
func (l Line) Text() string {
	var b bytes.Buffer
	for i, r := range l.Results {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(r.Text)
		if i == 0 && l.Check != nil {
			b.WriteString(l.Check.text("vs DC"))
		}
	}
	return b.String()
}

var zeroHash = hex.EncodeToString(make([]byte, sha256.Size))

const hashTail = len(`,"hash":""}`) + 2*sha256.Size

// encode sets prev and hash and returns the bytes of the line with its feed.
func (l *Line) encode(prev string) ([]byte, error) {
	l.Prev, l.Hash = prev, ""
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l); err != nil {
		return nil, err
	}
	body := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	sum, err := chain(prev, body)
	if err != nil {
		return nil, err
	}
	l.Hash = sum
	return append(body[:len(body)-1:len(body)-1], `,"hash":"`+sum+"\"}\n"...), nil
}

func chain(prev string, body []byte) (string, error) {
	p, err := hex.DecodeString(prev)
	if err != nil || len(p) != sha256.Size {
		return "", errors.New("prev is not a SHA-256")
	}
	sum := sha256.Sum256(append(p, body...))
	return hex.EncodeToString(sum[:]), nil
}

// decode reads a line without its feed and checks its own hash.
func decode(raw []byte) (Line, error) {
	var l Line
	if err := json.Unmarshal(raw, &l); err != nil {
		return l, errors.New("not a JSON object of this log")
	}
	if err := newer.Check(l.V, logVersion); err != nil {
		return l, err
	}
	cut := len(raw) - hashTail
	if cut < 1 || !bytes.HasPrefix(raw[cut:], []byte(`,"hash":"`)) {
		return l, errors.New("no hash at the end")
	}
	body := append(bytes.Clone(raw[:cut]), '}')
	sum, err := chain(l.Prev, body)
	if err != nil {
		return l, err
	}
	if sum != l.Hash {
		return l, fmt.Errorf("the line was changed: its hash is %s…, it says %s…", short(sum), short(l.Hash))
	}
	return l, nil
}

func short(s string) string { return s[:min(12, len(s))] }

// Viewer is someone who looks at the log.
type Viewer struct {
	GM   bool
	Name string // the seat, for private rolls of its own
}

// redact returns what the viewer may see of a line. Of a hidden roll only its
// number and the links of the chain remain; the salt in the line keeps its hash
// from being guessed. revealed reports whether roll n has been opened.
func (v Viewer) redact(l Line, rolls func(n uint64) (roll Line, revealed bool)) Line {
	if v.GM {
		return l
	}
	of := l
	if l.Event == eventOverride || l.Event == EventReveal {
		of, _ = rolls(l.Of)
	}
	_, revealed := rolls(of.N)
	mine := of.Visibility == Private && of.Who == v.Name && v.Name != ""
	hidden := of.Visibility != "" && of.Visibility != Open && !mine && !revealed
	switch {
	case hidden:
		return Line{Event: l.Event, Epoch: l.Epoch, N: l.N, Of: l.Of, Visibility: of.Visibility, Prev: l.Prev, Hash: l.Hash}
	case l.HideDC && !revealed:
		l.DC, l.Check, l.Salt = nil, nil, ""
	}
	return l
}
