package hostile

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"conclave/internal/sample"
)

// heedless are the commands that neither believe nor change what an engine has kept
// in a workspace; those that need no workspace besides.
var heedless = append([]string{
	"agents", "agents try", "archive rebuild", "archive restore", "archive status", "audit receipt", "bundle open",
	"bundle verify", "export", "hook collect", "init", "mcp", "pack export", "pack list", "pack preview",
	"pack show", "pack validate", "query", "record install", "room show", "table journal", "transcript check",
	"transcript map", "transcript summary", "trust", "trust login", "usage",
}, opensNothing...)

// What an engine kept in a directory that came with a clone is believed by no
// command: those that would go on with it refuse, those that tell of it say so, and
// none changes it.
func TestWhatCameWithAClone(t *testing.T) {
	k := newStock(t, []int{os.Getuid()})
	s, w := k.at("cloned", os.Getuid()), cloned()
	must(t, s.set(w, false))
	commands := slices.Sorted(maps.Keys(lines))
	for _, i := range sample.Pick(t, len(commands), 4, 12) {
		command := commands[i]
		r, err := s.command(w, command)
		must(t, err)
		changes := s.changes()
		for _, path := range changes {
			// A look at a database locks it: a file that comes and goes.
			if dir := filepath.Join(s.ws, ".conclave"); inside(path, dir) && path != filepath.Join(dir, "locks") {
				t.Errorf("%s (exit %d) changed %s\n%s", command, r.code, path, tail(r.output))
			}
		}
		if !slices.Contains(heedless, command) && !bytes.Contains(r.output, []byte("rm -r --cached .conclave")) {
			t.Errorf("%s (exit %d) says nothing of what came with the clone:\n%s", command, r.code, tail(r.output))
		}
		must(t, s.mend(w, false, changes))
	}
}
