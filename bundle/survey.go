package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"conclave/audit"
	"conclave/internal/jsontext"
	"conclave/record"
)

// survey is what has to be known of a record before its first line is
// written.
type survey struct {
	src    *io.SectionReader // the record as long as it was then
	header record.Header
	seal   record.Seal
	sealed bool
	frames uint64
	head   record.Hash
	// roomKeys are the keys of fingerprints. They open nothing: whoever has
	// the bundle needs them to check it.
	roomKeys []string
	latest   []byte // how the last log record begins
	session  string
	reply    map[string]bool // by turn: whether its last attempt was answered
	failed   *audit.Failed
}

func newSurvey(f *os.File) (*survey, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	s := &survey{src: io.NewSectionReader(f, 0, info.Size()), reply: map[string]bool{}}
	r := record.NewReader(s.src)
	for r.Next() {
		if fr := r.Frame(); fr.Kind == record.KindLog && !fr.Withheld {
			s.line(fr.Payload)
		}
	}
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	s.header, s.frames, s.head = r.Header(), r.Cursor().Count, r.Cursor().Head
	s.seal, s.sealed = r.Sealed()
	if s.session == "" {
		s.session = s.header.Attributes["session_id"] // of a collected session
	}
	if s.frames == 0 {
		return nil, fmt.Errorf("%s: the record has no whole header: the run never began", f.Name())
	}
	return s, nil
}

// line looks at few log records closely: entries, of which there may be a
// million, are known by their first bytes.
func (s *survey) line(line []byte) {
	s.latest = append(s.latest[:0], line[:min(len(line), 64)]...)
	if bytes.Contains(line[:min(len(line), 200)], []byte(`"event":"transcript.entry"`)) {
		return
	}
	l, _ := parseLine(line)
	switch l.event {
	case audit.EventRoom:
		if key, ok := jsontext.String(jsontext.Get(l.context, "key")); ok {
			s.roomKeys = append(s.roomKeys, key)
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

// logLine is the envelope of a log record.
type logLine struct {
	level, event string
	context      []byte
}

// parseLine reads the envelope of a line; a line that is no JSON object has
// none.
func parseLine(line []byte) (l logLine, ok bool) {
	err := jsontext.Walk(line, func(key, value []byte) error {
		switch string(key) {
		case "level":
			l.level, _ = jsontext.String(value)
		case "event":
			l.event, _ = jsontext.String(value)
		case "context":
			l.context = value
		}
		return nil
	})
	if err != nil {
		return logLine{}, false
	}
	return l, true
}
