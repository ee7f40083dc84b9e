//go:build !windows

package ownpath

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFind: what a workspace brings along is passed over, wherever on PATH it
// stands, and what is the person's own behind it is found.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	ws, own, linked := filepath.Join(dir, "ws"), filepath.Join(dir, "own"), filepath.Join(dir, "linked")
	for _, d := range []string{filepath.Join(ws, "bin"), own, linked} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	planted := filepath.Join(ws, "bin", "tool")
	for _, f := range []string{planted, filepath.Join(own, "tool")} {
		if err := os.WriteFile(f, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for to, from := range map[string]string{filepath.Join(linked, "tool"): planted, filepath.Join(dir, "alias"): filepath.Join(ws, "bin")} {
		if err := os.Symlink(from, to); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(ws)
	for _, c := range []struct{ path, want, why string }{
		{own, filepath.Join(own, "tool"), ""},
		{"bin:" + filepath.Join(ws, "bin") + ":" + filepath.Join(dir, "alias") + ":" + linked + ":" + own, filepath.Join(own, "tool"), ""},
		{"bin", "", "relative entry"},
		{"", "", "not installed"},
		{filepath.Join(ws, "bin"), "", "in this workspace"},
		{filepath.Join(dir, "alias"), "", "in this workspace"},
		{linked, "", "in this workspace"},
		{filepath.Join(dir, "none"), "", "not installed"},
	} {
		t.Setenv("PATH", c.path)
		got, dirs, err := Find("tool", ws)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("PATH %s: %q, %v", c.path, got, err)
		}
		if err != nil && (!errors.Is(err, errNotFound) || !strings.Contains(err.Error(), c.why)) {
			t.Errorf("PATH %s: %v, want %q", c.path, err, c.why)
		}
		for _, d := range dirs {
			if Inside(ws, d) || !filepath.IsAbs(d) {
				t.Errorf("PATH %s: %s is called the person's own", c.path, d)
			}
		}
	}
}
