package main_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"conclave/internal/sample"
)

// newerFile is a kind of file that carries a version: how a newer one would
// look, and the commands that meet it.
type newerFile struct {
	kind, file string
	raise      func([]byte) []byte
	dir        string
	commands   []string
}

const v0Record = ".conclave/records/20261115T204523.180Z-400cc1a42c17.record"

var newerFiles = []newerFile{
	{"record", "harbour/" + v0Record, func(b []byte) []byte { b[7]++; return b }, "harbour", []string{
		"transcript check " + v0Record, "transcript summary " + v0Record, "transcript verify",
		"record show 20261115T204523.180Z-400cc1a42c17", "export 20261115T204523.180Z-400cc1a42c17",
		"bundle create 20261115T204523.180Z-400cc1a42c17 --out new.zip",
	}},
	{"engine database", "weir/.conclave/engine/table-own.db", instead("cycle/v1", "cycle/v9"), "weir", []string{
		"table resume own --as gm",
	}},
	{"state of profiles", "harbour/.conclave/profiles/state.json", instead(`"version": 1`, `"version": 2`),
		"harbour", []string{"profile list", "pack undo", "pack install neutral", "profile remove bear"}},
	{"journal of an installation", "parting/.conclave/profiles/journal.json", instead(`"version": 1`, `"version": 2`),
		"parting", []string{"profile list", "pack undo", "pack install fantasy"}},
	{"dice log", "weir/campaigns/weir/dice-log.jsonl", instead(`"v":1`, `"v":3`), "weir", []string{
		"table dice verify weir", "table roll --table weir 1d6", "table restore weir dusk", "table fork weir w9",
		"table play weir --auto --max-turns 2", "table save weir noon", "table say weir --as bram-oatley Hm.",
	}},
	{"table's log", "weir/.conclave/tables/weir/log/00000005-commit.json", instead(`"v": 1`, `"v": 2`), "weir", []string{
		"table status weir", "table export weir", "table play weir --auto --max-turns 1", "table restore weir dusk",
		"table save weir dawn", "table fork weir weir-three",
	}},
	{"bundle", "ledger/plain.zip", newerBundle, "ledger", []string{
		"bundle verify plain.zip", "bundle open plain.zip", "bundle open plain.zip --extract out", "export plain.zip",
		"query plain.zip 'SELECT 1'",
	}},
	{"archive", "data/conclave/archive.db", newerSQLite, "ledger", []string{
		"archive status", "archive refresh", "archive rebuild", "search sky", "search --no-refresh sky",
		"query --archive 'SELECT 1'",
	}},
	{"trust", "data/conclave/trust.json",
		instead(`"version": 2`, `"version": 3, "unheard-of": true`), "harbour", []string{
			"trust --json", "trust --yes", "trust --revoke", "council", "confront guide/",
		}},
}

func instead(old, now string) func([]byte) []byte {
	return func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(old), []byte(now)) }
}

// newerSQLite raises PRAGMA user_version, which stands in the file's header.
func newerSQLite(b []byte) []byte {
	binary.BigEndian.PutUint32(b[60:], binary.BigEndian.Uint32(b[60:])+1)
	return b
}

func newerBundle(b []byte) []byte {
	var out bytes.Buffer
	from, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	to := zip.NewWriter(&out)
	for i := 0; err == nil && i < len(from.File); i++ {
		var r io.ReadCloser
		if r, err = from.File[i].Open(); err != nil {
			break
		}
		var data []byte
		data, err = io.ReadAll(r)
		w, _ := to.Create(from.File[i].Name)
		_, _ = w.Write(instead(`"format_version": "1.`, `"format_version": "2.`)(data))
	}
	if err != nil || to.Close() != nil {
		return b
	}
	return out.Bytes()
}

// TestV0Newer raises the version of every kind of file that carries one: each
// command that meets it names the file, says that a newer conclave wrote it and
// what to do, exits with 3 and leaves every file as it was. The table of
// testdata/v0/README.md says "refused" of these kinds and of no other.
func TestV0Newer(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the answers name paths as other systems have them")
	}
	tried := map[string]bool{}
	for _, n := range newerFiles {
		tried[n.kind] = true
	}
	for _, i := range sample.Pick(t, len(newerFiles), 3, len(newerFiles)/2) {
		n := newerFiles[i]
		t.Run(n.kind, func(t *testing.T) { t.Parallel(); n.refused(t) })
	}
	for _, k := range v0Kinds(t) {
		if k.refused != tried[k.name] {
			t.Errorf("%s: the table says refused=%v, tried here: %v", k.name, k.refused, tried[k.name])
		}
	}
}

func (n newerFile) refused(t *testing.T) {
	s := newV0Session(t)
	file := filepath.Join(s.root, filepath.FromSlash(n.file))
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	now := n.raise(bytes.Clone(data))
	if bytes.Equal(now, data) {
		t.Fatalf("%s was not changed", n.file)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, now, 0o600); err != nil {
		t.Fatal(err)
	}
	s.dir = filepath.Join(s.root, n.dir)
	for _, command := range n.commands {
		before := everyFile(t, s.root)
		s.said.Reset()
		s.do("conclave " + command)
		said := s.said.String()
		name := strings.TrimSuffix(filepath.Base(n.file), ".record")
		if !strings.Contains(said, name) || !strings.Contains(said, "written by a newer conclave: use that one") ||
			!strings.HasSuffix(said, "[exit 3]\n") {
			t.Errorf("not refused as it should be:\n%s", said)
		}
		after := everyFile(t, s.root)
		if !maps.Equal(before, after) {
			for f := range after {
				if before[f] != after[f] {
					t.Errorf("%s changed %s", command, f)
				}
			}
			for f := range before {
				if _, ok := after[f]; !ok {
					t.Errorf("%s removed %s", command, f)
				}
			}
		}
	}
}

// everyFile is what every file holds, but for locks, which whoever holds them
// last removes, and the engine's database with the files beside it, which notes
// who opened it.
func everyFile(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		ours := !strings.HasSuffix(file, "lock") && filepath.Base(filepath.Dir(file)) != "engine"
		if err != nil || d.IsDir() || !ours || strings.HasSuffix(file, "-shm") || strings.HasSuffix(file, "-wal") {
			return err
		}
		data, err := os.ReadFile(file)
		all[strings.TrimPrefix(file, root)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
