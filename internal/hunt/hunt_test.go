package hunt

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/record"
)

const secret = "nobody-opens-anything-with-these-0123456789-letters-that-are-quite-long"

// A secret is found in every form, and in every place that a file has for one.
func TestFinds(t *testing.T) {
	back := []byte(secret)
	slices.Reverse(back)
	h := New(secret)
	for name, form := range map[string]string{
		"plain": secret, "hex": hex.EncodeToString([]byte(secret)), "back": string(back),
		"base64": base64.StdEncoding.EncodeToString([]byte("xy" + secret + "z")),
		"base32": base32.StdEncoding.EncodeToString([]byte(secret)), "piece": secret[20:],
		"escaped": `{"a":"` + strings.ReplaceAll(secret, "o", `\u006f`) + `"}`,
		"wide":    strings.Join(strings.Split(secret, ""), "\x00") + "\x00",
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "a"), []byte("before "+form+" after"))
		write(t, filepath.Join(dir, "b"), packed(t, "x", "before "+form))
		write(t, filepath.Join(dir, "c"), zipped(t, "before "+form))
		write(t, filepath.Join(dir, "d"), []byte("nothing here"))
		recorded(t, dir, form)
		found, looked, err := h.Files(dir)
		if err != nil || looked < 5 {
			t.Fatalf("%s: %d files, %v", name, looked, err)
		}
		all := strings.Join(found, "\n")
		for _, file := range []string{"a", "b: x", "c: unpacked", "run" + record.Extension + ": frame"} {
			if !strings.Contains(all, filepath.Join(dir, file)) {
				t.Errorf("%s in %s was not found:\n%s", name, file, all)
			}
		}
		if strings.Contains(all, filepath.Join(dir, "d")) {
			t.Errorf("%s: found where it is not", name)
		}
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "of "+secret), nil)
	if found, _, err := h.Files(dir); err != nil || len(found) != 1 {
		t.Errorf("in a name: %q, %v", found, err)
	}
	if _, _, err := h.Files(t.TempDir()); err == nil {
		t.Error("a hunt without a file found that all is well")
	}
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func packed(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func recorded(t *testing.T, dir, text string) {
	t.Helper()
	w, err := record.Create(filepath.Join(dir, "run"+record.Extension), record.Header{Run: "run", Created: time.Now()})
	if err == nil {
		err = w.AppendBlob("stdout", []byte(text))
	}
	if err == nil {
		_, err = w.Seal("done")
	}
	if err != nil {
		t.Fatal(err)
	}
}
