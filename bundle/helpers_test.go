package bundle

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/internal/jsontext"
	"conclave/record"
	"conclave/transcript"
)

var testTime = time.Date(2026, 2, 18, 14, 32, 0, 0, time.UTC)

// newRecord makes a record; fill puts something on it.
func newRecord(tb testing.TB, workspace, run string, fill func(*record.Writer, *transcript.Emitter)) string {
	tb.Helper()
	path, err := record.Path(workspace, run)
	if err != nil {
		tb.Fatal(err)
	}
	w, err := record.Create(path, record.Header{Run: run, Program: "conclave test", Created: testTime,
		Attributes: map[string]string{"role": "cat", "prompt_name": "quest.consult.cat", "adapter": transcript.AdapterScripted}})
	if err != nil {
		tb.Fatal(err)
	}
	e, err := transcript.NewEmitter(transcript.Options{PromptName: "quest.consult.cat", Adapter: transcript.AdapterScripted, Store: w})
	if err != nil {
		tb.Fatal(err)
	}
	check := func(err error) {
		if err != nil {
			tb.Fatal(err)
		}
	}
	check(e.Start())
	if fill != nil {
		fill(w, e)
	}
	check(e.Stop())
	_, err = w.Seal("done")
	check(err)
	check(w.Close())
	return path
}

// said emits one entry with a text.
func said(tb testing.TB, e *transcript.Emitter, kind transcript.Type, detail any) {
	tb.Helper()
	b, err := json.Marshal(detail)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := e.Emit(transcript.Item{Type: kind, Detail: b, Raw: b}); err != nil {
		tb.Fatal(err)
	}
}

func event(tb testing.TB, e *transcript.Emitter, name string, context any) {
	tb.Helper()
	if err := e.Event(slog.LevelInfo, name, name, context); err != nil {
		tb.Fatal(err)
	}
}

func simple(tb testing.TB, workspace, run string) string {
	return newRecord(tb, workspace, run, func(_ *record.Writer, e *transcript.Emitter) {
		said(tb, e, transcript.UserMessage, map[string]string{"text": "look around"})
		said(tb, e, transcript.AssistantMessage, map[string]string{"text": "a door\u2028and a window"})
	})
}

func mustCreate(tb testing.TB, o Options) Created {
	tb.Helper()
	if o.Dir == "" && o.File == "" {
		o.Dir = tb.TempDir()
	}
	made, err := Create(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	checkBundle(tb, made.Path)
	return made
}

// checkBundle is asked of every bundle of every test: it verifies, the
// original's reader would open it, and its transcript is what its log says.
func checkBundle(tb testing.TB, path string) {
	tb.Helper()
	rep, err := VerifyFile(path)
	if err != nil || !rep.Sound() {
		tb.Fatalf("%s does not verify: %v %v", path, rep.Problems, err)
	}
	originalRules(tb, path)
	files := unzip(tb, path)
	var want []byte
	for line := range bytes.Lines(files[logFile]) {
		if event, _ := jsontext.String(jsontext.Get(line, "event")); event == "transcript.entry" {
			want = append(want, line...)
		}
	}
	if got, has := files[TranscriptFile]; !bytes.Equal(got, want) || has != (len(want) > 0) {
		tb.Fatalf("%s: transcript.jsonl is not the transcript records of the log: %d bytes, want %d", path, len(got), len(want))
	}
}

// unzip reads a bundle without any help of the package.
func unzip(tb testing.TB, path string) map[string][]byte {
	tb.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer z.Close()
	files := map[string][]byte{}
	for _, f := range z.File {
		if d := f.Modified.Sub(z.File[0].Modified).Abs(); d > 2*time.Second {
			tb.Errorf("%s: %s is of %v, the first of %v", path, f.Name, f.Modified, z.File[0].Modified)
		}
		in, err := f.Open()
		if err != nil {
			tb.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			tb.Fatalf("%s: %v", f.Name, err)
		}
		files[strings.TrimPrefix(f.Name, Root+"/")] = text
	}
	return files
}

func fixtures(tb testing.TB) []string {
	tb.Helper()
	found, err := filepath.Glob(filepath.Join("..", "testdata", "fixtures", "bundles", "*.zip"))
	if err != nil || len(found) != 3 {
		tb.Fatalf("%d bundles of the original (%v), want 3", len(found), err)
	}
	return found
}

// dirNames lists what is in a directory, hidden files included.
func dirNames(tb testing.TB, dir string) []string {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// rezip makes a zip out of files; edit may change each header.
func rezip(tb testing.TB, path string, files map[string][]byte, edit func(*zip.FileHeader)) {
	tb.Helper()
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	z := zip.NewWriter(f)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := &zip.FileHeader{Name: Root + "/" + name, Method: zip.Deflate}
		h.SetMode(0o644)
		if edit != nil {
			edit(h)
		}
		w, err := z.CreateHeader(h)
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := w.Write(files[name]); err != nil {
			tb.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
}

func problems(rep Report) string { return fmt.Sprint(rep.Problems) }

// readRecord is the record in a bundle, put together.
func readRecord(tb testing.TB, path string) []byte {
	tb.Helper()
	r, err := Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	text, err := r.ReadFile(RecordFile, 1<<30)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}
