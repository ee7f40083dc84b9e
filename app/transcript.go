package app

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"conclave/collect"
	"conclave/quest/flow"
	"conclave/record"
	"conclave/transcript"
	door "conclave/workspace"
)

// Check is whether a transcript is in order.
type Check struct {
	File      string                `json:"file"`
	OK        bool                  `json:"ok"`
	Violation *transcript.Violation `json:"violation,omitempty"`
	Reason    string                `json:"reason,omitempty"`
	Record    *record.Report        `json:"record,omitempty"`
	Summary   transcript.Summary    `json:"summary"`

	Err error `json:"-"` // what Reason says
}

// CheckTranscript checks a log, a transcript.jsonl or a record against the six
// invariants; of a record also every digest, the chain and the seal. "-" is what comes in.
func (a *App) CheckTranscript(file string) (Check, error) {
	out := Check{File: file}
	if filepath.Ext(file) == ".md" {
		return out, usageError("%s is neither a log nor a record; a conversation file is proved by: "+
			"conclave transcript verify %[1]s", file)
	}
	log, err := a.openLog(file)
	if err != nil {
		return out, err
	}
	defer log.Close()
	if out.Record, err = log.sound(); err == nil {
		out.Summary, err = transcript.Check(log.lines())
	}
	if err == nil {
		err = log.err()
	}
	out.OK = err == nil
	if err != nil {
		out.Reason = err.Error()
		errors.As(err, &out.Violation)
		out.Err = noError("%s: %w", file, err)
	}
	return out, noUnless(out.OK)
}

// Summary counts the entries of a transcript.
type Summary struct {
	transcript.Summary
	Skipped int `json:"skipped"`
	Others  int `json:"other_records"`
}

// Types are the entry types that there are, in their order.
func (Summary) Types() []transcript.Type { return transcript.Types() }

// SummariseTranscript counts entries by type and source.
func (a *App) SummariseTranscript(file string) (Summary, error) {
	log, err := a.openLog(file)
	if err != nil {
		return Summary{}, err
	}
	defer log.Close()
	t := transcript.Reconstruct(log.lines())
	if err := log.err(); err != nil {
		return Summary{}, noError("%s: %w", file, err)
	}
	return Summary{transcript.Summarise(t.Entries), t.Skipped, t.Others}, nil
}

// log is a source of log lines: a record, or a file of JSON lines.
type log struct {
	reader  *record.Reader // nil for JSON lines
	file    *os.File
	in      io.Reader
	readErr error
}

func (a *App) openLog(file string) (*log, error) {
	if file == "-" {
		return &log{in: a.Stdin}, nil
	}
	if info, err := os.Stat(a.AbsPath(file)); err == nil && info.IsDir() {
		return nil, usageError("%s is a directory: name a log, a transcript.jsonl or a record", file)
	}
	f, err := door.OpenNamed(a.AbsPath(file))
	if err != nil {
		return nil, namedError("%w", err)
	}
	var start [8]byte
	n, _ := f.ReadAt(start[:], 0)
	if record.IsRecord(start[:n]) {
		return &log{file: f, reader: record.NewReader(f)}, nil
	}
	return &log{file: f, in: f}, nil
}

func (l *log) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// lines yields the log lines. For a record the frames that hold none stand as
// empty events, so that a violation's line is the number of its frame.
func (l *log) lines() iter.Seq[[]byte] {
	if l.reader == nil {
		return skipBlank(transcript.Lines(l.in, &l.readErr))
	}
	return func(yield func([]byte) bool) {
		for l.reader.Next() {
			line := []byte(`{"event":"record.frame"}`)
			if f := l.reader.Frame(); f.Kind == record.KindLog && !f.Withheld {
				line = f.Payload
			}
			if !yield(line) {
				return
			}
		}
	}
}

func skipBlank(lines iter.Seq[[]byte]) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for line := range lines {
			if len(bytes.TrimSpace(line)) > 0 && !yield(line) {
				return
			}
		}
	}
}

func (l *log) err() error {
	if l.reader != nil {
		return l.reader.Err()
	}
	return l.readErr
}

// sound checks the digests, the chain and the seal of a record; what is no
// record has none.
func (l *log) sound() (*record.Report, error) {
	if l.reader == nil {
		return nil, nil
	}
	report, err := record.VerifyReader(l.file)
	if err == nil {
		err = report.Sound()
	}
	return &report, err
}

// Mapping is how session files are mapped.
type Mapping struct {
	Adapter    string // one of session.Names, or "" to find out
	OmitRaw    bool   // leave out the source's own line
	SourceTime bool   // stamp entries with the time of their line
}

// MapTranscript writes session files, or "-" for what comes in, as canonical log
// records, a line each. The answer is no when something is not accounted for.
func (a *App) MapTranscript(ctx context.Context, path string, out io.Writer, m Mapping) (Balance, error) {
	adapter, err := adapterName(m.Adapter)
	if err != nil {
		return Balance{}, err
	}
	o := collect.MapOptions{
		Adapter: adapter, OmitRaw: m.OmitRaw, SourceTime: m.SourceTime,
		Progress: func(b Balance) { a.show(Collecting{b}) },
	}
	lines := &lineWriter{w: bufio.NewWriterSize(interruptible{ctx, out}, 256<<10)}
	var b Balance
	if path == "-" {
		b, err = collect.MapReader(ctx, a.Stdin, lines, o)
	} else {
		b, err = a.mapFiles(ctx, a.AbsPath(path), lines, o)
	}
	if err = errors.Join(err, lines.w.Flush()); err != nil {
		return b, namedError("%w", err)
	}
	return b, noUnless(b.OK())
}

// interruptible writes piece by piece until ctx ends: a line can take longer to
// print than a person waits.
type interruptible struct {
	ctx context.Context
	w   io.Writer
}

func (i interruptible) Write(p []byte) (n int, err error) {
	for piece := range slices.Chunk(p, 64<<10) {
		if err := i.ctx.Err(); err != nil {
			return n, err
		}
		m, err := i.w.Write(piece)
		if n += m; err != nil {
			return n, err
		}
	}
	return n, nil
}

// lineWriter writes log records.
type lineWriter struct{ w *bufio.Writer }

func (l *lineWriter) AppendLog(line []byte) error {
	if _, err := l.w.Write(line); err != nil {
		return err
	}
	return l.w.WriteByte('\n')
}

// Proof is whether a conversation file is what the record says.
type Proof = flow.Proof

// VerifyConversations makes conversation files anew from the record and compares
// the bytes. The answer is no when one differs.
func (a *App) VerifyConversations(files []string) ([]Proof, error) {
	var names []string
	for _, f := range files {
		names = append(names, filepath.Base(f))
	}
	root, err := a.rootToRead()
	if err != nil {
		return nil, err
	}
	proofs, err := flow.Verify(root, names...)
	if errors.Is(err, flow.ErrNoConversation) {
		return nil, usageError("%w; `conclave quest show --json` lists them", err)
	}
	if err != nil {
		return nil, noError("%w", err)
	}
	differs := slices.ContainsFunc(proofs, func(p Proof) bool { return !p.OK && !p.Foreign })
	return append([]Proof{}, proofs...), noUnless(!differs)
}
