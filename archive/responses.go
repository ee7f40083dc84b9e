package archive

import (
	"bytes"
	"io"
	"math"

	"conclave/archive/source"
	"conclave/record"
	"conclave/session"
	"conclave/transcript"
)

// Response is what one response of a model consumed, as one file tells it.
type Response struct {
	Key            string // the same in every file: see transcript.ResponseKey
	Model, Session string
	At             int64 // microseconds since 1970
	transcript.Usage
}

// Told is what a file tells of itself beside its responses.
type Told struct {
	Project, Role string
	End           int64 // how far it was read
}

// Responses calls note for each response that a rollout or a record tells of, in
// the way in which they are taken up, but without the lines that say nothing of
// them. Figures of rollouts are differences of totals, so a file is read from its
// beginning.
func Responses(kind, path string, f io.ReaderAt, note func(Response)) (Told, error) {
	if kind == source.Record {
		return recordResponses(path, f, note)
	}
	feed := newSessionFeed(session.Of(path, session.OfName(kind)), indexer{off: true})
	if err := feed.identify(io.NewSectionReader(f, 0, math.MaxInt64)); err != nil {
		return Told{}, err
	}
	told := Told{Project: feed.org.project, Role: feed.org.seat}
	var items []item
	var err error
	for line := range transcript.Lines(io.NewSectionReader(f, 0, math.MaxInt64), &err) {
		told.End += int64(len(line)) + 1
		if free := feed.file.Kind.Free; free != nil && free(line) {
			continue
		}
		items = feed.add(items[:0], line, 0)
		noteResponses(items, note)
	}
	return told, err
}

func recordResponses(path string, f io.ReaderAt, note func(Response)) (Told, error) {
	told := Told{Project: projectOf(path)}
	feed := logFeed{index: indexer{off: true}}
	r := record.NewReader(f)
	var items []item
	for r.Next() {
		fr := r.Frame()
		if fr.Kind != record.KindLog || fr.Withheld || !bytes.Contains(fr.Payload, []byte(`usage"`)) {
			continue
		}
		items = feed.add(items[:0], fr.Payload, 0)
		if len(items) > 0 && items[0].typ != "" && told.Role == "" {
			told.Role = items[0].origin.seat
		}
		noteResponses(items, note)
	}
	told.End = r.Cursor().Offset
	return told, r.Err()
}

func noteResponses(items []item, note func(Response)) {
	for i := range items {
		if f := items[i].usage; f != nil {
			note(Response{Key: f.key, Model: f.model, Session: items[i].origin.session, At: items[i].at, Usage: f.Usage})
		}
	}
}
