package room

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Whoever opens a room looks after dead ones first, and could take the lock of
// one that is just being made for theirs. That is settled here and nowhere
// else: rooms are opened at once, by one process or several, without a word
// between them, and a room that is open is never swept.
func TestRoomsOpenedWhileOthersSweep(t *testing.T) {
	base := filepath.Join(t.TempDir(), "rooms")
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 30 {
				g, err := makeRoomDir(base, roomUser{}, "player")
				if err != nil {
					t.Error(err)
					return
				}
				sweep(base)
				if _, err := os.Stat(g.place()); err != nil {
					t.Errorf("an open room was swept: %v", err)
				}
				if err := g.remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if left, _ := filepath.Glob(filepath.Join(base, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
