package transcript

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"time"

	"conclave/internal/jsontext"
)

// Transcript is what Reconstruct found in a log.
type Transcript struct {
	Entries []Entry
	// Skipped counts entry records that are incomplete, and lines that are
	// no log record at all.
	Skipped int
	// Others counts log records of other events.
	Others int
}

// Reconstruct builds the transcript from the lines of a log. It is lenient:
// what is incomplete is skipped and counted.
func Reconstruct(lines iter.Seq[[]byte]) Transcript {
	var t Transcript
	for line := range lines {
		e, err := ParseEntry(line)
		switch {
		case errors.Is(err, ErrOtherEvent):
			t.Others++
		case err != nil:
			t.Skipped++
		default:
			t.Entries = append(t.Entries, e)
		}
	}
	return t
}

// maxLine is the longest line that Lines takes: what never ends would fill the
// memory.
const maxLine = 64 << 20

// Lines yields the lines of r without their newline, up to maxLine bytes long,
// and the last one also when no newline ends it. Lines end at \n only: other
// line separators are legal within JSON. A line is valid until the next one.
// A longer one, or an error of r, ends the sequence and is stored in err.
func Lines(r io.Reader, err *error) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		br := bufio.NewReaderSize(r, 64<<10)
		var long []byte
		for {
			part, e := br.ReadSlice('\n')
			if errors.Is(e, bufio.ErrBufferFull) {
				if long = append(long, part...); len(long) > maxLine {
					*err = fmt.Errorf("a line of more than %d bytes", maxLine)
					return
				}
				continue
			}
			line := part
			if len(long) > 0 {
				long = append(long, part...)
				line = long
			}
			if len(line) > 0 && !yield(bytes.TrimSuffix(line, []byte("\n"))) {
				return
			}
			if e != nil {
				if !errors.Is(e, io.EOF) {
					*err = e
				}
				return
			}
			long = long[:0]
		}
	}
}

// ErrOtherEvent is returned for a log record that is no entry.
var ErrOtherEvent = errors.New("a log record of another event")

// ParseEntry reads the log line of an entry. The entry keeps nothing of line.
// The error is ErrOtherEvent for other log records, and says what is missing
// when the envelope is incomplete.
func ParseEntry(line []byte) (Entry, error) {
	event, context, err := envelope(line)
	if err != nil {
		return Entry{}, err
	}
	if event != EventEntry {
		return Entry{}, ErrOtherEvent
	}
	return parseContext(context)
}

// envelope splits a log line.
func envelope(line []byte) (event string, context []byte, err error) {
	err = jsontext.Walk(line, func(key, value []byte) error {
		switch string(key) {
		case "event":
			event, _ = jsontext.String(value)
		case "context":
			context = value
		}
		return nil
	})
	if err == nil && event == "" {
		err = errors.New("no event")
	}
	return event, context, err
}

func parseContext(context []byte) (Entry, error) {
	var e Entry
	var kind, stamp, raw64 string
	var hasRaw bool
	texts := map[string]*string{
		"prompt_name": &e.PromptName, "adapter": &e.Adapter, "entry_type": &kind,
		"source": &e.Source, "timestamp": &stamp, "session_id": &e.SessionID, "raw_base64": &raw64,
	}
	err := jsontext.Walk(context, func(key, value []byte) error {
		name := string(key)
		if text := texts[name]; text != nil {
			*text, _ = jsontext.String(value)
			return nil
		}
		switch name {
		case "sequence_number":
			e.Sequence, _ = strconv.ParseInt(string(value), 10, 64)
		case "detail":
			if value[0] == '{' {
				e.Detail = json.RawMessage(bytes.Clone(value))
			}
		case "raw":
			var text string
			if text, hasRaw = jsontext.String(value); hasRaw {
				e.Raw = []byte(text)
			}
		}
		return nil
	})
	if err != nil {
		return Entry{}, fmt.Errorf("context: %w", err)
	}
	e.Type = Type(kind)
	if err := e.complete(stamp); err != nil {
		return Entry{}, err
	}
	if hasRaw && raw64 != "" {
		if e.Raw, err = base64.StdEncoding.DecodeString(raw64); err != nil {
			return Entry{}, fmt.Errorf("raw_base64: %w", err)
		}
	}
	return e, nil
}

// complete checks that no required key is missing and takes the time.
func (e *Entry) complete(stamp string) error {
	for _, k := range []struct {
		name string
		ok   bool
	}{
		{"prompt_name", e.PromptName != ""}, {"adapter", e.Adapter != ""},
		{"entry_type", e.Type != ""}, {"sequence_number", e.Sequence > 0},
		{"source", e.Source != ""}, {"timestamp", stamp != ""},
	} {
		if !k.ok {
			return fmt.Errorf("%s is missing", k.name)
		}
	}
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return fmt.Errorf("timestamp %q is no ISO-8601 time", stamp)
	}
	e.Timestamp = at.UTC()
	return nil
}
