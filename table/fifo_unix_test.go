//go:build unix

package table

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func init() {
	rulingsH["H3"] = func(t *testing.T) {
		c := newCampaign(t, nil)
		fifo := c.host("tmp/tilda-brannock-response.md")
		ok(t, syscall.Mkfifo(fifo, 0o644))
		ok(t, os.Mkdir(c.host("tmp/gideon-harrowmoor-response.md"), 0o755))
		var unsafe *UnsafeError
		for _, n := range []string{"tilda-brannock-response.md", "gideon-harrowmoor-response.md"} {
			if _, err := c.Tmp.Read(n, 0); !errors.As(err, &unsafe) {
				t.Errorf("%s: %v", n, err)
			}
		}
		r, err := c.InspectTmp(nil)
		ok(t, err)
		eqs(t, "stale", r.Stale, "gideon-harrowmoor-response.md", "tilda-brannock-response.md")
		moved, err := c.CleanTmp("now")
		ok(t, err)
		eq(t, "moved", len(moved), 2)
		info, err := os.Lstat(filepath.Join(PrivatePath(c.Workspace, "ash"), "stale", "now", "tilda-brannock-response.md"))
		ok(t, err)
		eq(t, "still a FIFO", info.Mode()&os.ModeNamedPipe != 0, true)
	}
}
