package bundle

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	"conclave/audit"
	"conclave/bundle/redact"
	"conclave/internal/jsontext"
	"conclave/record"
)

// survey is what has to be known of a record as a whole. It looks at every frame
// as it is read, before anyone else does.
type survey struct {
	r      *record.Reader
	size   int64 // of the record as long as it was at first
	header record.Header
	seal   record.Seal
	sealed bool
	frames uint64
	head   record.Hash
	// redactor spares the keys of fingerprints that were met so far. They open
	// nothing: whoever has the bundle needs them to check it. nil: nothing is
	// removed.
	redactor *redact.Redactor
	latest   []byte // how the last log record begins
	session  string
	spoken   string          // the session of the first entry that names one
	reply    map[string]bool // by turn: whether its last attempt was answered
	failed   *audit.Failed
	scan     lineScanner
}

// newSurvey begins with the header: without one there is no run.
func newSurvey(f *os.File, redactor *redact.Redactor) (*survey, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	s := &survey{size: info.Size(), redactor: redactor, reply: map[string]bool{}}
	s.r = record.NewReader(io.NewSectionReader(f, 0, s.size)).Marks()
	if !s.next() && s.r.Err() == nil {
		return nil, errors.New("the record has no whole header: the run never began")
	}
	s.header = s.r.Header()
	return s, s.r.Err()
}

// next reads a frame and looks at it. After the last one what is said of all of
// them is known.
func (s *survey) next() bool {
	if !s.r.Next() {
		s.frames, s.head = s.r.Cursor().Count, s.r.Cursor().Head
		s.seal, s.sealed = s.r.Sealed()
		// Of a collected session the record says it, or its entries do.
		s.session = cmp.Or(s.session, s.header.Attributes["session_id"], s.spoken)
		return false
	}
	if f := s.r.Frame(); f.Kind == record.KindLog && !f.Withheld {
		s.line(f.Payload)
	}
	return true
}

// entryHead is where the session of an entry stands: before its detail.
const entryHead = 1024

// line looks at few log records closely: entries, of which there may be a
// million, are known by their first bytes.
func (s *survey) line(line []byte) {
	s.latest = append(s.latest[:0], line[:min(len(line), 64)]...)
	if bytes.Contains(line[:min(len(line), 200)], []byte(`"event":"transcript.entry"`)) {
		if s.spoken == "" {
			s.spoken = string(jsontext.Find(line[:min(len(line), entryHead)], `"session_id":"`))
		}
		return
	}
	l, _ := s.scan.line(line)
	switch l.event {
	case audit.EventRoom:
		if key, ok := jsontext.String(jsontext.Get(l.context, "key")); ok && s.redactor != nil {
			s.redactor = s.redactor.Sparing(key)
		}
	case audit.EventReply:
		turn, _ := jsontext.String(jsontext.Get(l.context, "turn"))
		s.reply[turn] = true
	case audit.EventFailed:
		var f audit.Failed
		if json.Unmarshal(l.context, &f) == nil {
			s.reply[f.Turn], s.failed = false, &f
		}
	case audit.EventReceipt:
		if session, ok := jsontext.String(jsontext.Get(l.context, "session")); ok && session != "" {
			s.session = session
		}
	}
}

// failure is the failed attempt that was never answered, nil when the run went
// well.
func (s *survey) failure() *audit.Failed {
	if s.failed != nil && !s.reply[s.failed.Turn] {
		return s.failed
	}
	return nil
}

func (s *survey) started() time.Time { return s.header.Created }

func (s *survey) ended() time.Time {
	if s.sealed {
		return s.seal.Sealed
	}
	if _, rest, ok := bytes.Cut(s.latest, []byte(`"timestamp":"`)); ok {
		text, _, _ := bytes.Cut(rest, []byte(`"`))
		if t, err := time.Parse(time.RFC3339, string(text)); err == nil {
			return t
		}
	}
	return s.header.Created
}
