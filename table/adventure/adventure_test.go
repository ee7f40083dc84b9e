package adventure

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
)

// copied is a campaign as it was made from an adventure before there was a
// record.
func copied(t *testing.T, name string) fstest.MapFS {
	t.Helper()
	src, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	out := fstest.MapFS{}
	err = fs.WalkDir(src, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(src, path)
		out[path] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func of(t *testing.T, campaign fstest.MapFS) string {
	t.Helper()
	name, err := Of(func(file string) ([]byte, error) { return fs.ReadFile(campaign, file) })
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// TestOf: a campaign is an adventure's by what was recorded when it was made.
func TestOf(t *testing.T) {
	for _, name := range Names() {
		old := copied(t, name)
		if got := of(t, old); got != name {
			t.Errorf("made before there was a record: %q, want %q", got, name)
		}
		made := copied(t, name)
		made[RecordFile] = &fstest.MapFile{Data: []byte(Record(name))}
		for file := range made {
			if file != RecordFile {
				made[file] = &fstest.MapFile{Data: []byte("rewritten\n")}
			}
		}
		if got := of(t, made); got != name {
			t.Errorf("recorded, every text rewritten: %q, want %q", got, name)
		}
		made[RecordFile] = &fstest.MapFile{Data: []byte("---\r\nadventure: " + name + "\r\n---\r\n")}
		if got := of(t, made); got != name {
			t.Errorf("CRLF: %q", got)
		}
		delete(made, RecordFile)
		if got := of(t, made); got != "" {
			t.Errorf("without the record, with other beats: %q", got)
		}
	}
}

func TestOfAnybodysCampaign(t *testing.T) {
	for about, campaign := range map[string]fstest.MapFS{
		"empty":         {},
		"its own":       {"overview.md": {Data: []byte("# fallow-weir\n")}},
		"another file":  {RecordFile: {Data: []byte("# Our adventure\nadventure: fallow-weir\n")}},
		"an unknown":    {RecordFile: {Data: []byte(Record("the-next-one"))}},
		"one beat less": {"beats/01-the-dark-lamp.md": copied(t, Default)["beats/01-the-dark-lamp.md"]},
	} {
		if got := of(t, campaign); got != "" {
			t.Errorf("%s: %q", about, got)
		}
	}
	broken := errors.New("cannot be read")
	if _, err := Of(func(string) ([]byte, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("a record that cannot be read: %v", err)
	}
}
