package archive_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/archive"
	"conclave/archive/sql"
	"conclave/internal/jsontext"
	"conclave/internal/pack"
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

// pieceZip writes a bundle whose log is this deflate stream.
func pieceZip(t *testing.T, file string, text, packed []byte) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	w, err := z.Create("debug_bundle/manifest.json")
	if err == nil {
		_, err = w.Write([]byte(`{"format_version":"1.0.0","bundle_id":"x"}`))
	}
	if err == nil {
		w, err = z.CreateRaw(&zip.FileHeader{Name: "debug_bundle/logs/app.jsonl", Method: zip.Deflate,
			CRC32: crc32.ChecksumIEEE(text), CompressedSize64: uint64(len(packed)), UncompressedSize64: uint64(len(text))})
	}
	if err == nil {
		_, err = w.Write(packed)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A cache refers to its files. However a bundle is packed, in pieces, as one
// stream, or so that its first piece alone looks like one, the answers are the
// same; a file that is another one since is not taken for the one that it was.
func TestCacheRefersToItsFiles(t *testing.T) {
	dir := t.TempDir()
	var first, second []byte
	for i := range 400 {
		line := fmt.Appendf(nil, `{"timestamp":"2026-11-16T09:00:00.%06d+00:00","level":"INFO","logger":"l",`+
			`"event":"e%d","message":"what was said %d","context":{"n":%d}}`+"\n", i, i, i, i)
		if i < 200 {
			first = append(first, line...)
		} else {
			second = append(second, line...)
		}
	}
	text := append(bytes.Clone(first), second...)
	stream := func(flush bool) []byte {
		var b bytes.Buffer
		w, err := flate.NewWriter(&b, 6)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write(first)
		if flush {
			_ = w.Flush() // what comes next refers to what was before
		}
		_, _ = w.Write(second)
		_ = w.Close()
		return b.Bytes()
	}
	var d pack.Deflater
	pieces, err := d.Append(nil, first)
	if err == nil {
		pieces, err = d.Append(pieces, second)
	}
	if err != nil {
		t.Fatal(err)
	}
	const query = "SELECT seq, event, message, context FROM logs ORDER BY timestamp"
	var want string
	for i, packed := range [][]byte{stream(false), stream(true), append(pieces, pack.End...)} {
		file := filepath.Join(dir, fmt.Sprintf("%d.zip", i))
		pieceZip(t, file, text, packed)
		a := openFiles(t, file)
		got := table(t, a, query)
		if want == "" {
			want = got
		}
		same(t, fmt.Sprint("bundle ", i), got, want)
	}
	log := filepath.Join(dir, "app.jsonl")
	writeFile(t, log, text)
	same(t, "the log itself", table(t, openFiles(t, log), query), want)

	a := openFiles(t, log)
	writeFile(t, log, bytes.ToUpper(text))
	if _, err := sql.Query(ctx, a, query, sql.Limits{}); err == nil || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("a file that was changed since: %v", err)
	}
}
