package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"conclave/collect"
	"conclave/internal/sample"
	"conclave/record"
	"conclave/transcript"
)

// back makes a bundle of a record and returns the record that comes out of it.
func back(tb testing.TB, o Options) (Created, []byte) {
	tb.Helper()
	dir, err := os.MkdirTemp(tb.TempDir(), "")
	if err != nil {
		tb.Fatal(err)
	}
	o.File = filepath.Join(dir, "b.zip")
	made, err := Create(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	r, err := Open(made.Path)
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	root, err := r.Extract(filepath.Join(dir, "out"))
	if err != nil {
		tb.Fatal(err)
	}
	extracted, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(RecordFile)))
	if err != nil {
		tb.Fatal(err)
	}
	read, err := r.ReadFile(RecordFile, 1<<30)
	if err != nil || !bytes.Equal(read, extracted) || r.Size(RecordFile) != int64(len(read)) {
		tb.Fatalf("read %d bytes, extracted %d, size %d: %v", len(read), len(extracted), r.Size(RecordFile), err)
	}
	return made, extracted
}

func mustRead(tb testing.TB, path string) []byte {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// TestTheRecordComesBack: of every session that was captured a record, of the
// record a bundle, and of that the record again, byte for byte.
func TestTheRecordComesBack(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"claude/*/home/.claude/projects/*/*.jsonl", "codex/*/server.jsonl", "codex/*/codex_home/sessions/*/*/*/*.jsonl"} {
		found, err := filepath.Glob(filepath.Join("..", "testdata", "fixtures", filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(found), err)
		}
		files = append(files, found...)
	}
	for _, i := range sample.Pick(t, len(files), 4, 8) {
		file := files[i]
		path := filepath.Join(t.TempDir(), "r.record")
		w, err := record.Create(path, record.Header{Run: "r", Attributes: map[string]string{"prompt_name": "p", "adapter": "a"}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := collect.Map(t.Context(), []string{file}, w, collect.MapOptions{}); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		made, got := back(t, Options{Record: path, NoRedact: true})
		if want := mustRead(t, path); !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes come back of %d", file, len(got), len(want))
		}
		bundled := unzip(t, made.Path)
		if n := len(bundled[framesFile]); n > 2*len(got)/3 {
			t.Errorf("%s: the frames are %d bytes of %d", file, n, len(got))
		}
		if calls, paired := originalPairs(t, bundled[TranscriptFile]); paired != calls {
			t.Errorf("%s: the original pairs %d of %d calls with their results", file, paired, calls)
		}
	}
}

// TestOddRecordsComeBack: lines that are no JSON, twice the same, with blanks
// and carriage returns, binary ones, blobs that look like lines, marks, torn
// tails: what does not stand in the log stands in the frames.
func TestOddRecordsComeBack(t *testing.T) {
	t.Parallel()
	entry := string(transcript.AppendEntry(nil, &transcript.Entry{PromptName: "p", Adapter: "a", Type: transcript.UserMessage,
		Sequence: 1, Source: transcript.Main, Detail: []byte(`{"text":"twice"}`)}))
	odd := []string{entry, entry, " " + entry + " ", entry + "\r", "no JSON \xff\x00", "[1]", "   ", "\r", `{"event":7}`, `{"event":"x","event":"transcript.entry"}`,
		`{"context":{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}}`, `{"a":"` + strings.Repeat("long ", 1000) + `"}`, "\u2028", `{"event":"transcript.entry","context":{}}`}
	rapid.Check(t, func(rt *rapid.T) {
		path := filepath.Join(t.TempDir(), "r.record")
		w, err := record.Create(path, record.Header{Run: "r"})
		check := func(err error) {
			if err != nil {
				rt.Fatal(err)
			}
		}
		check(err)
		for range rapid.IntRange(0, 12).Draw(rt, "frames") {
			switch text := rapid.SampledFrom(odd).Draw(rt, "line"); rapid.IntRange(0, 7).Draw(rt, "what") {
			case 0:
				check(w.AppendBlob("stdout", []byte(text+"\n")))
			case 1:
				check(w.Commit())
			default:
				check(w.AppendLog([]byte(text)))
			}
		}
		end := rapid.IntRange(0, 2).Draw(rt, "end")
		if end == 1 {
			_, err := w.Seal("done")
			check(err)
		}
		check(w.Close())
		want := mustRead(t, path)
		if end == 2 {
			check(os.WriteFile(path, append(bytes.Clone(want), 1, 2, 3), 0o600)) // torn
		}
		redacted := rapid.Bool().Draw(rt, "redacted")
		if _, got := back(t, Options{Record: path, NoRedact: !redacted}); !bytes.Equal(got, want) {
			rt.Fatalf("%d bytes come back of %d", len(got), len(want))
		}
	})
}

// TestGiantsComeBack: lines and blobs that are larger than a batch, between
// others that are not.
func TestGiantsComeBack(t *testing.T) {
	t.Parallel()
	path := newRecord(t, t.TempDir(), "r", func(w *record.Writer, e *transcript.Emitter) {
		for i := range sample.Count(3, 3, 5) {
			said(t, e, transcript.UserMessage, map[string]string{"text": "small"})
			said(t, e, transcript.ToolResult, map[string]string{"text": strings.Repeat("large ", i*batchBytes/12)})
			if err := w.AppendBlob("stdout", bytes.Repeat([]byte{byte(i)}, i*batchBytes/2)); err != nil {
				t.Fatal(err)
			}
		}
	})
	made, got := back(t, Options{Record: path})
	if want := mustRead(t, path); !bytes.Equal(got, want) {
		t.Errorf("%d bytes come back of %d", len(got), len(want))
	}
	checkBundle(t, made.Path)
}

// TestADamagedRecordIsRefused: wherever a byte was changed.
func TestADamagedRecordIsRefused(t *testing.T) {
	t.Parallel()
	path := simple(t, t.TempDir(), "r")
	data := mustRead(t, path)
	for at := 8; at < len(data); at += 97 {
		changed := bytes.Clone(data)
		changed[at] ^= 1
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if made, err := Create(t.Context(), Options{Record: path, Dir: dir}); err == nil {
			t.Fatalf("byte %d changed, and %s was made", at, made.Path)
		}
		if left := dirNames(t, dir); len(left) > 0 {
			t.Fatalf("left behind: %v", left)
		}
	}
}

// TestFramesThatDoNotFit: a bundle whose frames, log or size were changed is
// found out, also when all checksums are made anew.
func TestFramesThatDoNotFit(t *testing.T) {
	t.Parallel()
	made := mustCreate(t, Options{Record: simple(t, t.TempDir(), "r")})
	for what, change := range map[string]func(map[string][]byte){
		"a line more": func(f map[string][]byte) { f[logFile] = append(f[logFile], "{}\n"...) },
		"a line less": func(f map[string][]byte) {
			f[logFile] = f[logFile][:bytes.LastIndexByte(f[logFile][:len(f[logFile])-1], '\n')+1]
		},
		"another word": func(f map[string][]byte) {
			f[logFile] = bytes.Replace(f[logFile], []byte("emission started"), []byte("emission stopped"), 1)
		},
		"a frame less": func(f map[string][]byte) { f[framesFile] = f[framesFile][:len(f[framesFile])-200] },
		"no frames":    func(f map[string][]byte) { f[framesFile] = nil },
		"a longer size": func(f map[string][]byte) {
			f[manifestFile] = bytes.Replace(f[manifestFile], []byte(`"size": `), []byte(`"size": 1`), 1)
		},
		"a shorter size": func(f map[string][]byte) {
			f[manifestFile] = bytes.Replace(f[manifestFile], []byte(`"size": `), []byte(`"size": 1, "x": `), 1)
		},
	} {
		files := unzip(t, made.Path)
		change(files)
		path := filepath.Join(t.TempDir(), "b.zip")
		sums(t, files)
		rezip(t, path, files, nil)
		rep, err := VerifyFile(path)
		found := false
		for _, p := range rep.Problems {
			found = found || p.File == RecordFile || p.File == "" // it cannot be opened
		}
		if err != nil || !found {
			t.Errorf("%s: %v %v", what, rep.Problems, err)
		}
		if r, err := Open(path); err == nil {
			if _, err := r.Extract(filepath.Join(t.TempDir(), "x")); err == nil {
				t.Errorf("%s: it was extracted", what)
			}
			_ = r.Close()
		}
	}
}

// sums puts into the manifest the checksums that files have now.
func sums(t *testing.T, files map[string][]byte) {
	t.Helper()
	var m map[string]any
	decode(t, files[manifestFile], &m)
	all := map[string]string{}
	for name, text := range files {
		if sum := sha256.Sum256(text); name != manifestFile {
			all[name] = hex.EncodeToString(sum[:])
		}
	}
	m["integrity"] = map[string]any{"algorithm": "sha256", "checksums": all}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	files[manifestFile] = text
}
