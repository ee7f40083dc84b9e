// Package adventure holds the adventures that come with the program: campaign
// directories, written for it, that a table can be started from. The texts are
// the game master's; what players may read of them is package policy's
// business as for any campaign.
package adventure

import (
	"embed"
	"fmt"
	"io/fs"
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
