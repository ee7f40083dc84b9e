package bundle

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHostileBundles changes a good bundle in one way each: every one is
// reported, none is extracted, and nothing appears beside the target.
func TestHostileBundles(t *testing.T) {
	good := unzip(t, mustCreate(t, Options{Record: simple(t, t.TempDir(), "r")}).Path)
	with := func(name, text string) map[string][]byte {
		files := maps.Clone(good)
		files[name] = []byte(text)
		return files
	}
	without := func(name string) map[string][]byte {
		files := maps.Clone(good)
		delete(files, name)
		return files
	}
	rename := func(to string) func(*zip.FileHeader) {
		return func(h *zip.FileHeader) {
			if h.Name == Root+"/"+readmeFile {
				h.Name = to
			}
		}
	}
	cases := []struct {
		name  string
		files map[string][]byte
		edit  func(*zip.FileHeader)
		want  string
	}{
		{"wrong checksum", with(readmeFile, "another text"), nil, "SHA-256"},
		{"unlisted file", with("extra.txt", "x"), nil, "not in the manifest"},
		{"missing file", without(metricsFile), nil, "not there"},
		{"missing log", without(logFile), nil, "no log that it could come from"},
		{"missing manifest", without(manifestFile), nil, "no debug bundle"},
		{"manifest no JSON", with(manifestFile, "{"), nil, "manifest.json"},
		{"manifest no object", with(manifestFile, "[1]"), nil, "manifest.json"},
		{"later format", with(manifestFile, `{"format_version":"2.0.0"}`), nil, "format version"},
		{"parent", good, rename(Root + "/../../evil"), "leads elsewhere"},
		{"absolute", good, rename("/etc/evil"), "outside"},
		{"outside the root", good, rename("README.txt"), "outside"},
		{"other root", good, rename("debug_bundle2/README.txt"), "outside"},
		{"backslash", good, rename(Root + `/..\..\evil`), "backslash"},
		{"drive", good, rename(Root + "/C:/evil"), "colon"},
		{"control character", good, rename(Root + "/a\nb"), "control"},
		{"NUL", good, rename(Root + "/a\x00b"), "control"},
		{"no UTF-8", good, rename(Root + "/\xff\xfe"), "UTF-8"},
		{"dot at the end", good, rename(Root + "/con. "), "dot or a space"},
		{"twice", good, rename(Root + "/" + logFile), "twice"},
		{"twice but for case", good, rename(Root + "/MANIFEST.json"), "twice"},
		{"link", good, func(h *zip.FileHeader) {
			if strings.HasSuffix(h.Name, readmeFile) {
				h.SetMode(fs.ModeSymlink | 0o777)
			}
		}, "no regular file"},
		{"device", good, func(h *zip.FileHeader) {
			if strings.HasSuffix(h.Name, readmeFile) {
				h.SetMode(fs.ModeDevice | 0o777)
			}
		}, "no regular file"},
		{"bomb", with("bomb", strings.Repeat("\x00", 17<<20)), nil, "would unpack"},
		{"long name", good, rename(Root + "/" + strings.Repeat("a/", 600) + "x"), "1024"},
		{"transcript differs", with(TranscriptFile, string(good[TranscriptFile])+string(good[TranscriptFile])), nil, "more than"},
		{"transcript cut", with(TranscriptFile, string(good[TranscriptFile][:len(good[TranscriptFile])/2])), nil, "is not the one"},
		{"record changed", with(framesFile, string(good[framesFile][:len(good[framesFile])-3])), nil, "unexpected EOF"},
		{"record whole, and changed", with(RecordFile, "CONCREC\x01"), nil, "head"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "b.zip")
			rezip(t, path, c.files, c.edit)
			refused(t, path, c.want)
		})
	}
}

// refused: the report names the fault, and nothing is extracted.
func refused(t *testing.T, path, want string) {
	t.Helper()
	rep, err := VerifyFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Sound() || !strings.Contains(problems(rep), want) {
		t.Errorf("reported %v, want %q", rep.Problems, want)
	}
	around := t.TempDir()
	if r, err := Open(path); err == nil {
		defer r.Close()
		if _, err := r.Extract(filepath.Join(around, "in")); err == nil {
			t.Error("it was extracted")
		}
	}
	if names := dirNames(t, around); len(names) > 0 {
		t.Errorf("written: %v", names)
	}
}

// TestDamagedZips cuts a bundle at many places and flips its bytes: never a
// panic, and never a bundle that is called sound although its contents differ.
func TestDamagedZips(t *testing.T) {
	made := mustCreate(t, Options{Record: simple(t, t.TempDir(), "r")})
	data, err := os.ReadFile(made.Path)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(data); n += 1 + len(data)/97 {
		if _, err := newReader(bytes.NewReader(data[:n]), int64(n), Limits{}); err == nil {
			t.Errorf("a zip cut at %d of %d bytes opens", n, len(data))
		}
	}
	want := unzip(t, made.Path)
	want[RecordFile] = readRecord(t, made.Path)
	for n := 0; n < len(data); n += 1 + len(data)/211 {
		bad := bytes.Clone(data)
		bad[n] ^= 0x55
		r, err := newReader(bytes.NewReader(bad), int64(len(bad)), Limits{})
		if err != nil || !r.verify().Sound() {
			continue
		}
		for _, name := range r.Files() {
			if text, err := r.ReadFile(name, 1<<30); err != nil || !bytes.Equal(text, want[name]) {
				t.Errorf("byte %d was changed, %s differs (%v), and it is called sound", n, name, err)
			}
		}
	}
}

// TestLyingSizes writes other sizes into the directory of the zip.
func TestLyingSizes(t *testing.T) {
	made := mustCreate(t, Options{Record: simple(t, t.TempDir(), "r")})
	data, err := os.ReadFile(made.Path)
	if err != nil {
		t.Fatal(err)
	}
	entry := bytes.LastIndex(data, []byte(Root+"/"+readmeFile)) - 46
	if entry < 0 || string(data[entry:entry+4]) != "PK\x01\x02" {
		t.Fatal("the directory entry was not found")
	}
	for name, change := range map[string]func(b []byte){
		"smaller":  func(b []byte) { binary.LittleEndian.PutUint32(b[24:], 10) },
		"larger":   func(b []byte) { binary.LittleEndian.PutUint32(b[24:], 1<<20) },
		"absurd":   func(b []byte) { binary.LittleEndian.PutUint32(b[24:], 0xfffffff0) },
		"beyond":   func(b []byte) { binary.LittleEndian.PutUint32(b[20:], 0xfffffff0) },
		"overlaps": func(b []byte) { binary.LittleEndian.PutUint32(b[42:], 0) },
		"checksum": func(b []byte) { b[16] ^= 1 },
	} {
		t.Run(name, func(t *testing.T) {
			bad := bytes.Clone(data)
			change(bad[entry:])
			path := filepath.Join(t.TempDir(), "b.zip")
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			refused(t, path, "")
		})
	}
}

func TestLimits(t *testing.T) {
	made := mustCreate(t, Options{Record: simple(t, t.TempDir(), "r")})
	data, err := os.ReadFile(made.Path)
	if err != nil {
		t.Fatal(err)
	}
	for want, l := range map[string]Limits{"files": {Files: 3}, "unpacked": {Bytes: 100}, "more than the": {manifest: 10}} {
		if _, err := newReader(bytes.NewReader(data), int64(len(data)), l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", l, err, want)
		}
	}
	for lines, want := range map[int64]string{1: "more than the 1 lines", 2: "more than the 2 lines", 1000: ""} {
		rep, err := VerifyWithin(made.Path, Limits{Lines: lines})
		if err != nil || rep.Sound() != (want == "") || !strings.Contains(problems(rep), want) {
			t.Errorf("%d lines: %v %v", lines, rep.Problems, err)
		}
	}
}

// FuzzReader: whatever the bytes are, reading ends with an answer, and what is
// called sound can be extracted below its directory and nowhere else.
func FuzzReader(f *testing.F) {
	for _, path := range fixtures(f) {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 20_000 {
			f.Add(data)
		}
	}
	small := filepath.Join(f.TempDir(), "s.zip")
	rezip(f, small, map[string][]byte{manifestFile: []byte(`{"format_version":"1.0.0","bundle_id":"x","created_at":"2026-01-01T00:00:00+00:00","integrity":{"algorithm":"sha256"}}`)}, nil)
	data, err := os.ReadFile(small)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	rezip(f, small, map[string][]byte{"../x": []byte("y"), "a": nil}, nil)
	if data, err = os.ReadFile(small); err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := newReader(bytes.NewReader(data), int64(len(data)), Limits{Bytes: 1 << 26})
		if err != nil || !r.verify().Sound() {
			return
		}
		around := t.TempDir()
		if _, err := r.Extract(filepath.Join(around, "in")); err != nil {
			t.Fatalf("sound, and not extracted: %v", err)
		}
		if names := dirNames(t, around); len(names) != 1 || names[0] != "in" {
			t.Fatalf("written beside: %v", names)
		}
	})
}
