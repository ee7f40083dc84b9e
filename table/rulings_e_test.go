package table

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

var rulingsE = map[string]func(*testing.T){
	"E6": func(t *testing.T) {
		c := newCampaign(t, map[string]string{
			"tmp/tilda-brannock-prompt.md": "a", "tmp/tilda-brannock-response.md": "b", "tmp/gideon-harrowmoor-prompt.md": "c",
			"tmp/narrative-for-journal.md": "n", "tmp/shopping.txt": "eggs", "tmp/old-delta.md": "d", "tmp/gm-context.md": "g",
		})
		r, err := c.InspectTmp(map[string]string{"tilda-brannock-prompt.md": Hash([]byte("a")), "tilda-brannock-response.md": Hash([]byte("other"))})
		ok(t, err)
		eqs(t, "known", r.Known, "narrative-for-journal.md", "tilda-brannock-prompt.md")
		eqs(t, "changed", r.Changed, "tilda-brannock-response.md")
		eqs(t, "stale", r.Stale, "gideon-harrowmoor-prompt.md", "gm-context.md", "old-delta.md")
		eqs(t, "foreign", r.Foreign, "shopping.txt")
		to, err := c.SetAside("gideon-harrowmoor-prompt.md", "2026-01-02T03-04-05")
		ok(t, err)
		eq(t, "place", to, filepath.Join(c.Workspace, ".conclave", "tables", "ash", "stale", "2026-01-02T03-04-05", "gideon-harrowmoor-prompt.md"))
		data, err := os.ReadFile(to)
		ok(t, err)
		eq(t, "kept", string(data), "c")
		ok(t, os.WriteFile(c.host("tmp/gideon-harrowmoor-prompt.md"), []byte("again"), 0o644))
		moved, err := c.CleanTmp("2026-01-02T03-04-05")
		ok(t, err)
		eq(t, "moved", len(moved), 6)
		left, err := c.Tmp.List()
		ok(t, err)
		eqs(t, "tmp", left, "narrative-for-journal.md")
		data, _ = os.ReadFile(to)
		eq(t, "not overwritten", string(data), "c")
		for _, bad := range []string{"../party/tilda-brannock.md", "..", ""} {
			if _, err := c.SetAside(bad, "x"); err == nil {
				t.Errorf("%q was moved", bad)
			}
			if _, err := c.SetAside("narrative-for-journal.md", "../"+bad); err == nil {
				t.Errorf("moved below ../%q", bad)
			}
		}
	},
	"E13": func(t *testing.T) {
		c := newCampaign(t, nil)
		ok(t, c.Tmp.Probe())
		names, _ := c.Tmp.List()
		eq(t, "nothing left", len(names), 0)
		ok(t, os.Remove(c.host("tmp")))
		err := c.Tmp.Probe()
		if err == nil {
			t.Fatal("a directory that is gone is writable")
		}
		has(t, err, "tmp is not writable")
	},
	"E16": func(t *testing.T) {
		c := newCampaign(t, nil)
		info, err := os.Stat(c.host("tmp"))
		ok(t, err)
		eq(t, "created", info.IsDir(), true)
		for name, make := range map[string]func(string) error{
			"file":    func(p string) error { return os.WriteFile(p, nil, 0o644) },
			"symlink": func(p string) error { return os.Symlink(c.host("party"), p) },
		} {
			ok(t, os.Remove(c.host("tmp")))
			if err := make(c.host("tmp")); err != nil {
				t.Fatal(name, err)
			}
			_, err := OpenCampaign(c.Workspace, "ash")
			var unsafe *UnsafeError
			if !errors.As(err, &unsafe) {
				t.Errorf("tmp as a %s: %v", name, err)
			}
		}
	},
}
