package app

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/bundle"
)

const fixtureBundle = "../testdata/fixtures/bundles/wink-claude-error.zip"

// changedBundle is a bundle that was packed again, each file as change makes it.
func changedBundle(t *testing.T, change func(name string, text []byte) []byte) *bytes.Buffer {
	t.Helper()
	in, err := zip.OpenReader(fixtureBundle)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var packed bytes.Buffer
	out := zip.NewWriter(&packed)
	for _, f := range in.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		w, err := out.Create(f.Name)
		if err == nil {
			_, err = w.Write(change(f.Name, text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return &packed
}

// temporary gives uploads a directory of this test's, and says what is left there.
func temporary(t *testing.T) (left func() []string) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	return func() []string {
		names, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
}

// A bundle whose words somebody changed is not shown, and nothing of it stays.
func TestUploadIsChecked(t *testing.T) {
	left := temporary(t)
	a, _ := liveHome(t, 1)
	l := openLibrary(t, a)
	same := func(_ string, text []byte) []byte { return text }
	if _, err := l.Upload(t.Context(), "good.zip", changedBundle(t, same)); err != nil {
		t.Fatalf("packed again: %v", err)
	}
	were := len(left())
	for _, file := range []string{"logs/app.jsonl", "request/input.json"} {
		changed := changedBundle(t, func(name string, text []byte) []byte {
			if strings.HasSuffix(name, file) {
				return append(bytes.ReplaceAll(text, []byte("a"), []byte("b")), 32)
			}
			return text
		})
		_, err := l.Upload(t.Context(), "changed.zip", changed)
		if err == nil || KindOf(err) != No || !strings.Contains(err.Error(), "changed.zip") ||
			!strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "SHA-256") {
			t.Errorf("%s was changed: %v", file, err)
		}
	}
	if now := left(); len(now) != were {
		t.Errorf("left: %v", now)
	}
	if err := l.Close(); err != nil || len(left()) != 0 {
		t.Errorf("after the end: %v %v", left(), err)
	}
}

// grown is a bundle with so many lines in its log, and a manifest to match.
func grown(t *testing.T, lines int) *bytes.Buffer {
	t.Helper()
	more := bytes.Repeat([]byte("{\"event\":\"x\"}\n"), lines)
	sums := map[string]string{}
	log := func(name string, text []byte) []byte {
		if strings.HasSuffix(name, "logs/app.jsonl") {
			sum := sha256.Sum256(append(slices.Clone(text), more...))
			was := sha256.Sum256(text)
			sums[hex.EncodeToString(was[:])] = hex.EncodeToString(sum[:])
			return append(text, more...)
		}
		return text
	}
	changedBundle(t, log)
	return changedBundle(t, func(name string, text []byte) []byte {
		if strings.HasSuffix(name, "manifest.json") {
			for was, sum := range sums {
				text = bytes.ReplaceAll(text, []byte(was), []byte(sum))
			}
		}
		return log(name, text)
	})
}

// What is handed over is bounded in what it unpacks to, in lines, in what is made of
// it, in number and in what all of them take; and of what is refused nothing stays.
func TestUploadBounds(t *testing.T) {
	left := temporary(t)
	a, _ := liveHome(t, 1)
	for _, c := range []struct {
		name   string
		bounds uploadBounds
		lines  int
		want   string
	}{
		{"as it is", uploadBounds{}, 1000, ""},
		{"lines of the usual bound", uploadBounds{}, 200_000, "more than the 200000 lines"},
		{"bytes", uploadBounds{each: bundle.Limits{Bytes: 1 << 20}}, 50_000, "unpacked"},
		{"what is made", uploadBounds{made: 1 << 19}, 20_000, "would take more than"},
		{"on disk", uploadBounds{bytes: MaxUpload - 1}, 0, "would take"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := openLibrary(t, a)
			l.space = newUploadSpace(c.bounds)
			_, err := l.Upload(t.Context(), "b.zip", grown(t, c.lines))
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
			} else if err == nil || KindOf(err) != No || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if err != nil && (len(left()) != 0 || l.space.places != 0 || l.space.bytes != 0) {
				t.Errorf("left: %v, %d places, %d bytes", left(), l.space.places, l.space.bytes)
			}
			if err := l.Close(); err != nil || len(left()) != 0 {
				t.Errorf("after the end: %v %v", left(), err)
			}
		})
	}
}

// An upload has its place before it comes, and one too many is not read at all.
func TestUploadsAtOnce(t *testing.T) {
	left := temporary(t)
	a, _ := liveHome(t, 1)
	l := openLibrary(t, a)
	l.space = newUploadSpace(uploadBounds{open: 2})
	good := grown(t, 0).Bytes()
	if _, err := l.Upload(t.Context(), "one.zip", bytes.NewReader(good)); err != nil {
		t.Fatal(err)
	}
	if used := l.space.bytes; used < int64(len(good)) || used > 100<<20 {
		t.Errorf("one bundle takes %d bytes", used)
	}
	slow, end := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		_, err := l.Upload(t.Context(), "slow.zip", slow)
		ended <- err
	}()
	if _, err := end.Write(good[:10]); err != nil { // it has its place
		t.Fatal(err)
	}
	unread := bytes.NewReader(good)
	if _, err := l.Upload(t.Context(), "more.zip", unread); err == nil || unread.Len() != len(good) {
		t.Errorf("one too many: %v, %d bytes of it were read", err, len(good)-unread.Len())
	}
	if err := end.CloseWithError(io.ErrUnexpectedEOF); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("half a bundle was taken")
	}
	if _, err := l.Upload(t.Context(), "two.zip", unread); err != nil {
		t.Errorf("after it left: %v", err)
	}
	if n := len(left()); n != 2 {
		t.Errorf("left: %v", left())
	}
	if err := l.Close(); err != nil || len(left()) != 0 {
		t.Errorf("after the end: %v %v", left(), err)
	}
}
