package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"

	"conclave/internal/jsontext"
	"conclave/internal/newer"
	"conclave/record"
	"conclave/transcript"
)

// Report is what verification found.
type Report struct {
	Path     string    `json:"path,omitempty"`
	BundleID string    `json:"bundle_id,omitempty"`
	Files    int       `json:"files"`
	Bytes    int64     `json:"bytes"` // unpacked
	Entries  int64     `json:"entries"`
	Problems []Problem `json:"problems"`
	// Notes are no faults: files of the format that another writer leaves out.
	Notes []Problem `json:"notes,omitempty"`
	// Record is what the copy of the record came to, nil when there is none.
	Record *record.Report `json:"record,omitempty"`
	// Newer is why a bundle of a newer version cannot be judged here.
	Newer error `json:"-"`
}

// Sound says whether there was no problem.
func (r Report) Sound() bool { return len(r.Problems) == 0 }

func (r *Report) problem(file, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{file, fmt.Sprintf(format, args...)})
}

// required are the files that the format wants of every bundle.
var required = []string{readmeFile, inputFile, outputFile, afterFile, logFile, configFile, contextFile, metricsFile}

// VerifyFile opens and verifies a bundle. What keeps it from being opened is in
// the report; the error is one of reading the file.
func VerifyFile(path string) (Report, error) { return VerifyWithin(path, Limits{}) }

// VerifyWithin is VerifyFile with limits of the caller's own.
func VerifyWithin(path string, l Limits) (Report, error) {
	r, err := openWithin(path, l)
	rep := Report{Path: path, Problems: []Problem{}}
	if unsafe := (*Unsafe)(nil); errors.As(err, &unsafe) {
		rep.Problems = unsafe.Problems
		return rep, nil
	}
	if pe := (*os.PathError)(nil); errors.As(err, &pe) {
		return rep, err
	}
	if err != nil {
		if errors.As(err, new(*newer.Error)) {
			rep.Newer = err
		}
		rep.problem("", "%v", err)
		return rep, nil
	}
	rep = r.verify()
	return rep, r.Close()
}

// verify reads everything and checks it against the manifest: each file is
// listed and has its checksum, the transcript is what the log says, the record
// verifies to the head in the manifest.
func (r *Reader) verify() Report {
	rep := Report{Path: r.path, BundleID: r.manifest.BundleID, Files: len(r.names), Problems: []Problem{}}
	r.checkLists(&rep)
	for _, name := range r.names {
		n, sum, err := r.sum(name)
		rep.Bytes += n
		switch want, ok := r.manifest.Integrity.Checksums[name]; {
		case err != nil:
			rep.problem(name, "it cannot be read: %v", err)
		case ok && want != sum:
			rep.problem(name, "its SHA-256 is %s, the manifest says %s", sum, want)
		}
	}
	r.checkTranscript(&rep)
	if r.manifest.Record != nil {
		r.checkRecord(&rep)
	}
	return rep
}

func (r *Reader) checkLists(rep *Report) {
	m := r.manifest
	if m.Integrity.Algorithm != "sha256" {
		rep.problem(manifestFile, "its checksums are %q: this program knows sha256", m.Integrity.Algorithm)
	}
	if m.created().IsZero() {
		rep.problem(manifestFile, "created_at is no time: %q", m.CreatedAt)
	}
	if m.BundleID == "" {
		rep.problem(manifestFile, "it has no bundle_id")
	}
	listed := map[string]bool{}
	for _, name := range m.Files {
		if listed[name] {
			rep.problem(name, "the manifest lists it twice")
		}
		listed[name] = true
		if _, ok := m.Integrity.Checksums[name]; !ok && name != manifestFile {
			rep.problem(name, "the manifest has no checksum for it")
		}
		if !r.Has(name) {
			rep.problem(name, "the manifest lists it, and it is not there")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Integrity.Checksums)) {
		if !listed[name] {
			rep.problem(name, "the manifest has a checksum for it and does not list it")
		}
	}
	for _, name := range r.names {
		if !listed[name] && name != manifestFile {
			rep.problem(name, "it is not in the manifest")
		}
	}
	for _, name := range required {
		if r.Has(name) {
			continue
		}
		if m.Record != nil {
			rep.problem(name, "it is missing")
		} else {
			rep.Notes = append(rep.Notes, Problem{name, "the format wants it, and this writer left it out"})
		}
	}
}

func (r *Reader) sum(name string) (int64, string, error) {
	in, err := r.Open(name)
	if err != nil {
		return 0, "", err
	}
	h := sha256.New()
	n, err := io.Copy(h, in)
	return n, hex.EncodeToString(h.Sum(nil)), errors.Join(err, in.Close())
}

// Lines yields the lines of a file of JSON lines, without their newlines; a
// line is valid until the next. What went wrong is put into err.
func (r *Reader) Lines(name string, err *error) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		in, e := r.Open(name)
		if e != nil {
			*err = e
			return
		}
		defer in.Close()
		for line := range transcript.Lines(in, err) {
			if len(bytes.TrimSpace(line)) > 0 && !yield(line) {
				return
			}
		}
	}
}

// checkTranscript compares transcript.jsonl with the log.
func (r *Reader) checkTranscript(rep *Report) {
	if !r.Has(logFile) {
		if r.Has(TranscriptFile) {
			rep.problem(TranscriptFile, "there is no log that it could come from")
		}
		return
	}
	var logErr, err error
	entries, stop := iter.Pull(r.Lines(TranscriptFile, &err))
	defer stop()
	has := r.Has(TranscriptFile)
	lines := int64(0)
	for line := range r.Lines(logFile, &logErr) {
		if lines++; lines > r.limits.Lines {
			rep.problem(logFile, "it has more than the %d lines that are read", r.limits.Lines)
			return
		}
		event, _ := jsontext.String(jsontext.Get(line, "event"))
		if event != transcript.EventEntry {
			continue
		}
		rep.Entries++
		if !has {
			continue
		}
		if got, ok := entries(); !ok || !bytes.Equal(got, line) {
			rep.problem(TranscriptFile, "entry %d is not the one in %s", rep.Entries, logFile)
			return
		}
	}
	switch {
	case logErr != nil:
		rep.problem(logFile, "it cannot be read: %v", logErr)
	case !has && rep.Entries > 0:
		rep.problem(TranscriptFile, "it is missing, and %s has %d entries", logFile, rep.Entries)
	case has:
		if _, more := entries(); more {
			rep.problem(TranscriptFile, "it has more than the %d entries of %s", rep.Entries, logFile)
		} else if err != nil {
			rep.problem(TranscriptFile, "it cannot be read: %v", err)
		}
	}
}

// checkRecord verifies the copy of the record against the manifest. A record
// is read at random, so it is unpacked into a file that has no name for long.
func (r *Reader) checkRecord(rep *Report) {
	want := r.manifest.Record
	if !r.Has(RecordFile) {
		if want.Omitted == "" {
			rep.problem(RecordFile, "it is missing")
		}
		return
	}
	got, err := r.verifyRecord(want.Head)
	if err != nil {
		rep.problem(RecordFile, "%v", err)
		return
	}
	rep.Record = &got
	switch {
	case got.Damage != nil:
		rep.problem(RecordFile, "%v", got.Damage)
	case got.Head != want.Head || got.Frames != want.Frames:
		rep.problem(RecordFile, "its head is %s over %d frames, the manifest says %s over %d", got.Head, got.Frames, want.Head, want.Frames)
	case got.Withheld != uint64(want.Withheld):
		rep.problem(RecordFile, "%d of its payloads are withheld, the manifest says %d", got.Withheld, want.Withheld)
	}
}

func (r *Reader) verifyRecord(head record.Hash) (rep record.Report, err error) {
	in, err := r.Open(RecordFile)
	if err != nil {
		return rep, err
	}
	defer in.Close()
	f, err := os.CreateTemp("", "conclave-record-*")
	if err != nil {
		return rep, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	if _, err := io.Copy(f, in); err != nil {
		return rep, err
	}
	rep, err = record.VerifyReaderAgainst(f, head)
	if errors.Is(err, record.ErrOtherHead) {
		err = nil // the comparison says it better
	}
	return rep, err
}
