package app

import (
	"archive/zip"
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"
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
