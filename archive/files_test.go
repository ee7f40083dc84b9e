package archive_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/archive"
	"conclave/internal/jsontext"
	"conclave/internal/sample"
)

// TestCache: a cache is used while its bundle is the same, and no longer.
func TestCache(t *testing.T) {
	sample.Long(t)
	dir, cache := t.TempDir(), t.TempDir()
	file := filepath.Join(dir, "b.zip")
	ask := func(want string) {
		t.Helper()
		a, err := archive.OpenFiles(ctx, cache, []string{file}, archive.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		if got := table(t, a, "SELECT bundle_id FROM manifest"); got != want+"\n" {
			t.Errorf("the answer is %s, want %s", got, want)
		}
	}
	made := func() int { return len(glob(t, cache+"/*"+archive.CacheExt)) }
	makeZip(t, file, map[string]string{"manifest.json": `{"format_version":"1.0.0","bundle_id":"one"}`})
	ask("one")
	ask("one")
	if made() != 1 {
		t.Errorf("%d caches for one bundle", made())
	}
	writeFile(t, glob(t, cache+"/*"+archive.CacheExt)[0], []byte("damaged"))
	ask("one")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	makeZip(t, file, map[string]string{"manifest.json": `{"format_version":"1.0.0","bundle_id":"two!"}`})
	ask("two!")
	for i := range 21 {
		f := filepath.Join(dir, fmt.Sprintf("%d.zip", i))
		makeZip(t, f, map[string]string{"manifest.json": `{"format_version":"1.0.0","bundle_id":"x"}`})
		a, err := archive.OpenFiles(ctx, cache, []string{f}, archive.Options{})
		if err != nil {
			t.Fatal(err)
		}
		a.Close()
	}
	if n := made(); n > 20 {
		t.Errorf("%d caches are kept", n)
	}
	if left := glob(t, cache+"/*.new"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestHostileBundles: none is read, none does harm, each says why.
func TestHostileBundles(t *testing.T) {
	sample.Long(t)
	dir := t.TempDir()
	manifest := `{"format_version":"1.0.0","bundle_id":"x"}`
	bomb := strings.Repeat("\x00", 20<<20)
	cases := map[string]map[string]string{
		"no manifest": {"logs/app.jsonl": ""},
		"escape":      {"manifest.json": manifest, "../../evil": "x"},
		"bomb":        {"manifest.json": manifest, "logs/app.jsonl": bomb},
	}
	for name, files := range cases {
		file := filepath.Join(dir, name+".zip")
		makeZip(t, file, files)
		if a, err := archive.OpenFiles(ctx, t.TempDir(), []string{file}, archive.Options{}); err == nil {
			a.Close()
			t.Errorf("%s: it was opened", name)
		}
	}
	writeFile(t, filepath.Join(dir, "cut.zip"), []byte("PK\x03\x04 and no more"))
	writeFile(t, filepath.Join(dir, "text.txt"), []byte("hello"))
	for _, name := range []string{"cut.zip", "text.txt", "missing.zip", "."} {
		if a, err := archive.OpenFiles(ctx, t.TempDir(), []string{filepath.Join(dir, name)}, archive.Options{}); err == nil {
			a.Close()
			t.Errorf("%s: it was opened", name)
		}
	}
}

// TestLogLines: what comes out are the records that went in.
func TestLogLines(t *testing.T) {
	a := openFiles(t, fixtures+"/bundles/wink-codex-commands.zip")
	n := 0
	for line, err := range a.LogLines(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if !jsontext.Valid(line) || jsontext.Get(line, "event") == nil {
			t.Errorf("line %d is no log record: %.100s", n, line)
		}
		n++
	}
	if want := table(t, a, "SELECT count(*) FROM logs"); want != itoa(n)+"\n" || n == 0 {
		t.Errorf("%d lines, %s records", n, want)
	}
}
