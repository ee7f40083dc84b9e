package bundle

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"conclave/bundle/redact"
	"conclave/internal/atomicfile"
	"conclave/record"
	"conclave/workspace"
)

// Options say what a bundle is made of. Record is needed, and Dir or File.
type Options struct {
	Record string // the path of the run's record
	Dir    string // where the bundle goes, under a name of its own
	File   string // or the very file; it must not exist

	// NoRedact leaves everything as it is, and the manifest says so.
	NoRedact bool
	Patterns []redact.Pattern // the person's own
	Environ  []string         // as os.Environ: what to filter, and whose values to remove

	Config    any // what config.json says; nil means nothing
	Build     Build
	Command   []string // the command line
	Workspace string   // of the run; "" leaves out git and files

	WithWorkspace   bool
	maxFile, maxAll int64 // of the workspace; zero means 10 MB and 50 MB

	Now      func() time.Time
	Progress func(done, total int64) // bytes of the record; may be nil
}

// Created is a bundle that was made.
type Created struct {
	Path     string   `json:"path"`
	Size     int64    `json:"size"`
	Manifest Manifest `json:"manifest"`
	// NotKnown is what was asked of git and could not be told, with why.
	NotKnown map[string]string `json:"not_known,omitempty"`
}

// tempPattern names what is not yet a bundle. Left behind by a program that
// was killed, such files are removed after staleAfter.
const (
	tempPrefix  = ".conclave-bundle-"
	tempPattern = tempPrefix + "*.tmp"
	staleAfter  = time.Hour
)

// Create makes a bundle. When it returns nil the bundle is durable; else there
// is nothing.
func Create(ctx context.Context, o Options) (Created, error) {
	made, err := create(ctx, o)
	if err != nil {
		return Created{}, fmt.Errorf("create bundle: %w", err)
	}
	return made, nil
}

func create(ctx context.Context, o Options) (_ Created, err error) {
	o = o.complete()
	f, err := workspace.OpenNamed(o.Record)
	if err != nil {
		return Created{}, err
	}
	defer f.Close()
	var redactor *redact.Redactor
	if !o.NoRedact {
		redactor = redact.New(redact.Options{EnvValues: redact.SecretEnv(o.Environ), Patterns: o.Patterns})
	}
	s, err := newSurvey(f, redactor)
	if err != nil {
		return Created{}, fmt.Errorf("%s: %w", o.Record, err)
	}
	now := o.Now()
	id := newID()
	final := o.File
	if final == "" {
		final = filepath.Join(o.Dir, id+"_"+now.UTC().Format("20060102_150405")+".zip")
	}
	dir := filepath.Dir(final)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Created{}, err
	}
	if _, err := os.Lstat(final); err == nil {
		return Created{}, fmt.Errorf("%s exists: a bundle is never written over", final)
	}
	sweep(dir, now)
	tmp, err := os.CreateTemp(dir, tempPattern)
	if err != nil {
		return Created{}, err
	}
	defer func() { err = errors.Join(err, discardTemp(tmp)) }()

	w := &writer{o: o, ctx: ctx, survey: s, redactor: redactor, dir: dir,
		zip: zip.NewWriter(tmp), now: now, tally: tally{map[string]redact.Counts{}}}
	w.manifest = w.opening(id)
	if err := w.all(); err != nil {
		return Created{}, err
	}
	size, err := publish(tmp, final)
	return Created{Path: final, Size: size, Manifest: w.manifest, NotKnown: w.notKnown}, err
}

func (o Options) complete() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.maxFile == 0 {
		o.maxFile = 10_000_000
	}
	if o.maxAll == 0 {
		o.maxAll = 50 << 20
	}
	return o
}

// newID is a random UUID.
func newID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// writer is a bundle being made.
type writer struct {
	notKnown map[string]string // of the repository
	o        Options
	ctx      context.Context
	survey   *survey
	redactor *redact.Redactor // nil: nothing is removed
	dir      string
	zip      *zip.Writer
	now      time.Time
	tally    tally
	manifest Manifest
}

// opening is what can be said before the run was read, closing the rest.
func (w *writer) opening(id string) Manifest {
	h := w.survey.header
	return Manifest{
		FormatVersion: formatVersion, BundleID: id, CreatedAt: stamp(w.now),
		Request:   request{RequestID: w.word(h.Run), Status: "success", StartedAt: stamp(h.Created)},
		Capture:   capture{Mode: "full", Trigger: "command", Limits: map[string]bool{"filesystem_truncated": false, "git_diff_truncated": false}},
		Prompt:    prompt{Namespace: "conclave", Key: w.word(h.Attributes["prompt_name"]), Adapter: w.word(h.Attributes["adapter"])},
		Integrity: integrity{Algorithm: "sha256", Checksums: map[string]string{}},
		Build:     w.o.Build,
		Record:    &recordInfo{Run: w.word(h.Run)},
	}
}

func (w *writer) closing(f *failure) {
	m, s := &w.manifest, w.survey
	m.Request.EndedAt = stamp(s.ended())
	m.Record.Frames, m.Record.Head, m.Record.Sealed, m.Record.Reason = s.frames, s.head, s.sealed, w.word(s.seal.Reason)
	if s.session != "" {
		session := w.word(s.session)
		m.Request.SessionID = &session
	}
	if f != nil {
		m.Request.Status = "error"
	}
}

// all writes every file, the manifest last.
func (w *writer) all() error {
	if err := w.run(); err != nil {
		return err
	}
	if err := w.environment(); err != nil {
		return err
	}
	if w.o.WithWorkspace && w.o.Workspace != "" {
		if err := w.workspace(); err != nil {
			return err
		}
	}
	if err := w.add(readmeFile, []byte(readme(w.manifest))); err != nil {
		return err
	}
	if err := w.ctx.Err(); err != nil {
		return err
	}
	w.manifest.Redaction = &redaction{Applied: w.redactor != nil, Kinds: w.tally.kinds(), Places: w.tally.places}
	slices.Sort(w.manifest.Files)
	if err := w.addManifest(); err != nil {
		return err
	}
	return w.zip.Close()
}

// addManifest writes the manifest. What it took from the record was redacted
// field by field: a checksum beside a file called api_key would else look like
// a secret.
func (w *writer) addManifest() error {
	text, err := marshal(w.manifest)
	if err != nil {
		return err
	}
	return w.write(manifestFile, text)
}

func (w *writer) write(name string, text []byte) error {
	out, err := w.zip.CreateHeader(header(name, w.now))
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}

// word redacts a word that the manifest takes from the record.
func (w *writer) word(s string) string { return string(w.cleaned(manifestFile, []byte(s))) }

// add writes one small file, redacted.
func (w *writer) add(name string, text []byte) error {
	if filepath.Ext(name) == ".json" {
		return w.put(name, w.cleanedJSON(name, text))
	}
	return w.put(name, w.cleaned(name, text))
}

// put writes one file as it is.
func (w *writer) put(name string, text []byte) error {
	if err := w.write(name, text); err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	w.listed(name, hex.EncodeToString(sum[:]))
	return nil
}

func (w *writer) listed(name, sum string) {
	w.manifest.Files = append(w.manifest.Files, name)
	w.manifest.Integrity.Checksums[name] = sum
}

func (w *writer) addJSON(name string, v any) error {
	text, err := marshal(v)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return w.add(name, text)
}

// marshal is indented JSON with <, > and & as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return b.Bytes(), err
}

// run writes what the record tells.
func (w *writer) run() (err error) {
	var parts []part
	defer func() {
		for _, s := range parts {
			err = errors.Join(err, s.discard())
		}
	}()
	packed := func(name string) *pieces { return opened(&parts, &err, w.dir, name, newPieces) }
	open := func(name string) *spool { return opened(&parts, &err, w.dir, name, newSpool) }
	p := &pour{tally: &w.tally, logs: packed(logFile), transcript: packed(TranscriptFile), receipts: open(receiptsFile),
		input: open(inputFile), output: open(outputFile), after: open(afterFile),
		metrics: metrics{EntriesByType: map[string]int64{}, EntriesBySource: map[string]int64{}}}
	frames := open(framesFile)
	if err != nil {
		return err
	}
	if p.stripper, err = record.NewStripper(frames); err != nil {
		return err
	}
	if w.o.Progress != nil {
		p.progress = func(done int64) { w.o.Progress(done, w.survey.size) }
	}
	if err := w.before(p); err != nil {
		return err
	}
	if err := batches(w.ctx, w.survey, p.tell); err != nil {
		return fmt.Errorf("%s: %w", w.o.Record, err)
	}
	if w.manifest.Record.Withheld, w.manifest.Record.Size, err = p.stripper.Close(); err != nil {
		return err
	}
	failure := w.failure(p)
	w.closing(failure)
	if err := w.finish(p, failure); err != nil {
		return err
	}
	for _, s := range parts {
		if w.leftOut(s.name(), p) {
			continue
		}
		sum, err := s.copyTo(w.zip, w.now)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name(), err)
		}
		w.listed(s.name(), sum)
	}
	return nil
}

// opened begins a part and notes it among those to be discarded. After an error
// there is none.
func opened[T part](parts *[]part, err *error, dir, name string, begin func(dir, name string) (T, error)) (none T) {
	s, e := begin(dir, name)
	if e != nil {
		*err = errors.Join(*err, e)
		return none
	}
	*parts = append(*parts, s)
	return s
}

// leftOut says whether a file has no place in this bundle.
func (w *writer) leftOut(name string, p *pour) bool {
	switch name {
	case TranscriptFile:
		return p.metrics.Entries == 0
	case framesFile:
		// Header and seal cannot be withheld.
		text, err := json.Marshal([]any{w.survey.header, w.survey.seal.Reason})
		if w.redactor != nil && (err != nil || w.redactor.Has(text)) {
			w.manifest.Record.Omitted = "its header or its seal holds a secret"
			return true
		}
	}
	return false
}

// discardTemp closes and removes what is left of the temporary file, if
// publish has not.
func discardTemp(f *os.File) error {
	_ = f.Close() // publish closed it, or it is of no use
	if err := os.Remove(f.Name()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// publish makes the finished file durable and gives it its name, which must be
// free.
func publish(tmp *os.File, final string) (int64, error) {
	if err := tmp.Sync(); err != nil {
		return 0, err
	}
	size, err := tmp.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	if err := tmp.Close(); err != nil {
		return 0, err
	}
	if err := os.Chmod(tmp.Name(), 0o400); err != nil {
		return 0, err
	}
	if err := giveName(tmp.Name(), final); err != nil {
		return 0, err
	}
	return size, atomicfile.SyncDir(filepath.Dir(final))
}

// giveName renames without replacing: a link fails where a file is.
func giveName(from, to string) error {
	err := os.Link(from, to)
	switch {
	case err == nil:
		return os.Remove(from)
	case errors.Is(err, os.ErrExist):
		return fmt.Errorf("%s exists: a bundle is never written over", to)
	}
	// A file system without links.
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s exists: a bundle is never written over", to)
	}
	return os.Rename(from, to)
}

// sweep removes what a program that was killed has left. It is a courtesy:
// what cannot be removed is left.
func sweep(dir string, now time.Time) {
	left, err := filepath.Glob(filepath.Join(dir, tempPattern))
	if err != nil {
		return
	}
	for _, path := range left {
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && now.Sub(info.ModTime()) > staleAfter {
			_ = os.Remove(path)
		}
	}
}
