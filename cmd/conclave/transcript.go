package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"conclave/internal/screen"
	"conclave/record"
	"conclave/transcript"
	door "conclave/workspace"
)

func newTranscriptCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "transcript",
		Short: "Check, summarise and prove what was recorded",
	}
	cmd.AddCommand(newTranscriptCheckCommand(env), newTranscriptMapCommand(env), newTranscriptSummaryCommand(env), newTranscriptVerifyCommand(env))
	return cmd
}

func newTranscriptCheckCommand(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Check a transcript against the six invariants",
		Long: `Check reads a log (logs/app.jsonl), a transcript.jsonl or a record and checks
the six invariants of a transcript: the envelope is complete, numbers have no
gaps, types are of the vocabulary, emission never failed the run, adapters bear
their registered names, and sources are consistent. Of a record it also checks
every digest, the chain and the seal.

It prints the first violation with its line (of a record: its frame) and the
reason, and exits with 1.`,
		Example: `  conclave transcript check .conclave/records/20260218T143200.000Z-1f0c9a3b5d7e.record
  conclave transcript check debug_bundle/transcript.jsonl --json
  cat app.jsonl | conclave transcript check -`,
		Args: oneArg("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			return checkTranscript(env, args[0], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the outcome as JSON")
	return cmd
}

type checkOutcome struct {
	File      string                `json:"file"`
	OK        bool                  `json:"ok"`
	Violation *transcript.Violation `json:"violation,omitempty"`
	Reason    string                `json:"reason,omitempty"`
	Record    *record.Report        `json:"record,omitempty"`
	Summary   transcript.Summary    `json:"summary"`
}

func checkTranscript(env *environment, file string, asJSON bool) error {
	log, err := openLog(env, file)
	if err != nil {
		return err
	}
	defer log.Close()
	out := checkOutcome{File: file}
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
	}
	if asJSON {
		if err := env.Stdout.JSON(out); err != nil {
			return err
		}
		if !out.OK {
			return saidNo()
		}
		return nil
	}
	if !out.OK {
		return noError("%s: %w", file, err)
	}
	env.Stdout.Printf("%s: in order: %s\n", file, counted(out.Summary.TotalEntries, "entry", "entries"))
	if out.Record != nil {
		env.Stdout.Printf("chain of %d frames verifies, %s\n", out.Record.Frames, sealWord(out.Record))
	}
	return nil
}

func sealWord(r *record.Report) string {
	switch {
	case r.Sealed:
		return fmt.Sprintf("sealed (%s), head %s", r.Seal.Reason, r.Seal.Head)
	case r.TornBytes > 0:
		return fmt.Sprintf("not sealed, %d bytes at the end are torn or still being written", r.TornBytes)
	}
	return "not sealed: the run goes on or was cut short"
}

func newTranscriptSummaryCommand(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "summary FILE",
		Short:   "Count the entries of a transcript by type and source",
		Example: "  conclave transcript summary run.record\n  conclave transcript summary transcript.jsonl --json",
		Args:    oneArg("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			log, err := openLog(env, args[0])
			if err != nil {
				return err
			}
			defer log.Close()
			t := transcript.Reconstruct(log.lines())
			if err := log.err(); err != nil {
				return noError("%s: %w", args[0], err)
			}
			s := transcript.Summarise(t.Entries)
			if asJSON {
				return env.Stdout.JSON(struct {
					transcript.Summary
					Skipped int `json:"skipped"`
					Others  int `json:"other_records"`
				}{s, t.Skipped, t.Others})
			}
			printSummary(env.Stdout, s)
			if t.Skipped > 0 {
				env.Stdout.Printf("%s incomplete and skipped\n", counted(t.Skipped, "record", "records"))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func printSummary(w *screen.Writer, s transcript.Summary) {
	w.Printf("%s\n", counted(s.TotalEntries, "entry", "entries"))
	for _, t := range transcript.Types() {
		if n := s.EntriesByType[t]; n > 0 {
			w.Printf("  %-18s %d\n", t, n)
		}
	}
	if len(s.Sources) > 1 {
		w.Printf("sources\n")
		for _, source := range slices.Sorted(maps.Keys(s.EntriesBySource)) {
			w.Printf("  %-18s %d\n", source, s.EntriesBySource[source])
		}
	}
	if s.FirstTimestamp != nil {
		w.Printf("from %s to %s\n", s.FirstTimestamp.Format("2006-01-02 15:04:05"), s.LastTimestamp.Format("15:04:05 MST"))
	}
}

// log is a source of log lines: a record, or a file of JSON lines.
type log struct {
	reader  *record.Reader // nil for JSON lines
	file    *os.File
	in      io.Reader
	readErr error
}

func openLog(env *environment, file string) (*log, error) {
	if file == "-" {
		return &log{in: env.Stdin}, nil
	}
	if info, err := os.Stat(inDir(env, file)); err == nil && info.IsDir() {
		return nil, usageError("%s is a directory: name a log, a transcript.jsonl or a record", file)
	}
	f, err := door.OpenNamed(inDir(env, file))
	if err != nil {
		return nil, environmentError("%w", err)
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
