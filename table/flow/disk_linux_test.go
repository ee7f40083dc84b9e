package flow

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"conclave/engine"
	"conclave/table"
)

// disks are places that a table cannot write to, made by mounting.
var disks = map[string]struct {
	mount func(r *rig) error // before the table is opened
	fill  func(r *rig) error // when the game master was asked
	says  string
	asked int
	clear func(r *rig) error
}{
	"a disk that may only be read": {
		mount: func(r *rig) error {
			return errors.Join(os.Mkdir(r.path("scenes"), 0o755),
				unix.Mount("none", r.path("scenes"), "tmpfs", unix.MS_RDONLY, "size=64k"))
		},
		says:  "campaigns/ash/scenes: cannot be written to: read-only file system",
		clear: func(r *rig) error { return unix.Unmount(r.path("scenes"), unix.MNT_DETACH) }},
	"a full disk": {
		mount: func(r *rig) error {
			return errors.Join(os.MkdirAll(r.path("tmp"), 0o755), unix.Mount("none", r.path("tmp"), "tmpfs", 0, "size=128k"))
		},
		says:  "campaigns/ash/tmp: cannot be written to: no space left on device; a cycle wants 1024 KiB",
		clear: func(r *rig) error { return unix.Mount("none", r.path("tmp"), "tmpfs", unix.MS_REMOUNT, "size=4m") }},
	"a disk that fills up while the game master thinks": {
		mount: func(r *rig) error {
			return errors.Join(os.MkdirAll(r.path("tmp"), 0o755), unix.Mount("none", r.path("tmp"), "tmpfs", 0, "size=2m"))
		},
		fill: func(r *rig) error {
			err := os.WriteFile(r.path("tmp/film.mkv"), make([]byte, 4<<20), 0o644)
			if !errors.Is(err, syscall.ENOSPC) {
				return errors.New("the disk is not full")
			}
			return nil
		},
		says: "no space left on device", asked: 1,
		clear: func(r *rig) error { return os.Remove(r.path("tmp/film.mkv")) }},
}

// TestDisks runs itself in a mount namespace of its own.
func TestDisks(t *testing.T) {
	t.Parallel()
	if os.Getenv("CONCLAVE_TEST_DISKS") == "" {
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestDisks$", "-test.v")
		cmd.Env = append(os.Environ(), "CONCLAVE_TEST_DISKS=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}}
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Count(string(out), "--- PASS: TestDisks/") != len(disks) {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	for name, d := range disks {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			gm := r.listening("gm", ask(tilda, "QUICK_REACTION", "Done."))
			k := r.listening(tilda, "always\n  say I wait.\n")
			if err := d.mount(r); err != nil {
				t.Fatal(err)
			}
			if d.fill != nil {
				reply := gm.reply
				gm.reply = func(ctx context.Context, m string) (string, error) {
					if len(gm.heard) > 1 {
						return reply(ctx, m)
					}
					text, err := reply(ctx, m)
					return text, errors.Join(err, d.fill(r))
				}
			}
			r.open()
			_, err := r.table.Say(t.Context(), start)
			var cut *engine.CutError
			if !errors.As(err, &cut) || !strings.Contains(err.Error(), d.says) {
				t.Fatalf("%v, want %s", err, d.says)
			}
			eq(t, "the GM was asked", len(gm.heard), d.asked)
			if err := d.clear(r); err != nil {
				t.Fatal(err)
			}
			if _, err := r.table.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			r.drain()
			eq(t, "the GM was asked", len(gm.heard), 2)
			eq(t, "tilda was asked", len(k.heard), 1)
			eq(t, "response", outcome(r.lastCommit(), tilda).Response, "I wait.\n")
			eqs(t, "tmp", r.tmp(), table.NarrativeFile)
			r.close()
			for _, dir := range []string{"tmp", "scenes"} {
				_ = unix.Unmount(filepath.Join(r.path(dir)), unix.MNT_DETACH)
			}
		})
	}
}
