// Package adventure holds the adventures that come with the program: campaign
// directories, written for it, that a table can be started from. The texts are
// the game master's; what players may read of them is package policy's
// business as for any campaign.
//
// It says of a campaign whether it is one of them, because the game master
// without a model tells these stories and no others. A campaign that was made
// from an adventure says so itself, in RecordFile; what it is called, and what
// became of its texts since, does not matter.
package adventure

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
)

//go:embed fallow-weir
var files embed.FS

// Names lists the adventures.
func Names() []string { return []string{"fallow-weir"} }

// Default is the one that is played when none is named.
const Default = "fallow-weir"

// Open returns the files of an adventure.
func Open(name string) (fs.FS, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("no adventure is called %q (there is %v)", name, Names())
	}
	return fs.Sub(files, name)
}

// RecordFile is the file of a campaign that names the adventure it was made
// from. Like every file that is none of a campaign's own, only the game master
// reads it.
const RecordFile = "adventure.md"

// Record is what stands in the file of a campaign that is made now.
func Record(name string) string {
	return "---\nadventure: " + name + "\n---\n\nThis campaign was made from an adventure that comes with Conclave. " +
		"Where no other game\nmaster is named, the embedded one tells that story. Take this file away, and the story is\n" +
		"yours: then a person is the game master, or an agent that you name.\n"
}

var recorded = regexp.MustCompile(`\A---\r?\nadventure: *([a-z0-9-]+) *\r?\n---\r?\n`)

// Of finds the adventure that a campaign was made from; "" for none. read
// reads a file of the campaign, and says fs.ErrNotExist of one that is not
// there. A campaign made before there was a record is known by its beats, byte
// for byte.
func Of(read func(name string) ([]byte, error)) (string, error) {
	data, err := read(RecordFile)
	if err == nil {
		m := recorded.FindSubmatch(data)
		if m == nil || !slices.Contains(Names(), string(m[1])) {
			return "", nil // somebody else's file of that name, or a newer adventure
		}
		return string(m[1]), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for _, name := range Names() {
		if sameBeats(name, read) {
			return name, nil
		}
	}
	return "", nil
}

func sameBeats(name string, read func(string) ([]byte, error)) bool {
	src, err := Open(name)
	if err != nil {
		return false
	}
	beats, err := fs.Glob(src, "beats/*.md")
	if err != nil || len(beats) == 0 {
		return false
	}
	for _, b := range beats {
		want, err := fs.ReadFile(src, b)
		if err != nil {
			return false
		}
		if got, err := read(b); err != nil || !bytes.Equal(got, want) {
			return false
		}
	}
	return true
}
