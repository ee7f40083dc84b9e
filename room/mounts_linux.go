package room

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// The canary and the covers, below the new root. Landlock grants none of them.
const (
	canaryFile = "/.canary"
	blankFile  = ".blank"
	emptyDir   = ".empty"
)

// maskedProc are the parts of /proc that speak of the whole system.
var maskedProc = []string{
	"acpi", "asound", "bus", "cmdline", "config.gz", "consoles", "diskstats", "driver", "fs", "interrupts",
	"iomem", "ioports", "irq", "kallsyms", "kcore", "key-users", "keys", "kmsg", "kpagecgroup", "kpagecount",
	"kpageflags", "latency_stats", "locks", "modules", "mtrr", "partitions", "pressure", "sched_debug", "scsi",
	"slabinfo", "softirqs", "swaps", "sysrq-trigger", "timer_list", "timer_stats", "tty", "vmallocinfo", "zoneinfo",
}

// buildRoot makes the file system that the room sees and moves into it. It
// runs as PID 1 of new namespaces, with capabilities in them alone.
func buildRoot(o builderOrders) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("detach from the system's mounts: %w", err)
	}
	trees, err := openTrees(o.Binds)
	if err != nil {
		return err
	}
	if err := o.View.open(); err != nil {
		return err
	}
	if err := becomeRoomUser(o); err != nil {
		return err
	}
	if err := newRoot(); err != nil {
		return err
	}
	if err := layOut(o); err != nil {
		return err
	}
	for i, b := range o.Binds {
		if err := attach(trees[i], b); err != nil {
			return err
		}
	}
	if err := link(o.Links); err != nil {
		return err
	}
	if err := ownMounts(); err != nil {
		return err
	}
	for _, dir := range o.Covers {
		if err := cover(dir, true); err != nil {
			return err
		}
	}
	if err := o.View.mount(); err != nil {
		return err
	}
	return moveIn()
}

// openTrees takes hold of every source while this process still is the user
// who may reach it.
func openTrees(binds []bind) ([]int, error) {
	trees := make([]int, len(binds))
	for i, b := range binds {
		if trees[i] = b.Tree; b.Tree != 0 {
			continue
		}
		fd, err := openTree(b.From, b.Write)
		if err != nil {
			return nil, err
		}
		trees[i] = fd
	}
	return trees, nil
}

// openTree clones the mounts at a path, read-only unless write is set.
func openTree(from string, write bool) (int, error) {
	return cloneTree(from, write, unix.AT_RECURSIVE)
}

func cloneTree(from string, write bool, depth uint) (int, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, from, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_SYMLINK_NOFOLLOW|depth)
	if err != nil {
		return -1, fmt.Errorf("open %s for the room: %w", from, err)
	}
	// Private: what is mounted there later would come along unseen.
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID, Propagation: unix.MS_PRIVATE}
	if !isDevice(from) {
		attr.Attr_set |= unix.MOUNT_ATTR_NODEV
	}
	if !write {
		attr.Attr_set |= unix.MOUNT_ATTR_RDONLY
	}
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|depth, &attr); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("protect %s for the room: %w", from, err)
	}
	return fd, nil
}

func isDevice(p string) bool {
	fi, err := os.Lstat(p)
	return err == nil && fi.Mode()&fs.ModeDevice != 0
}

// becomeRoomUser leaves the identity of the process outside.
func becomeRoomUser(o builderOrders) error {
	if o.Separate {
		if err := syscall.Setgroups(nil); err != nil {
			return fmt.Errorf("leave the groups: %w", err)
		}
	}
	if err := syscall.Setresgid(o.Group, o.Group, o.Group); err != nil {
		return fmt.Errorf("become the room's group: %w", err)
	}
	if err := syscall.Setresuid(o.User, o.User, o.User); err != nil {
		return fmt.Errorf("become the room's user: %w", err)
	}
	return nil
}

// newRoot mounts an empty file system and makes it the working directory. It
// is mounted over /usr, which is there on every system, until moveIn.
func newRoot() error {
	fd, err := newMount("tmpfs", 0, "size", "8m", "mode", "0755")
	if err != nil {
		return err
	}
	if err := unix.MoveMount(fd, "", unix.AT_FDCWD, "/usr", unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("mount the room: %w", err)
	}
	if err := unix.Fchdir(fd); err != nil {
		return fmt.Errorf("step into the room: %w", err)
	}
	return unix.Close(fd)
}

// newMount makes a mount of a new file system, attached nowhere yet.
func newMount(fstype string, attr int, options ...string) (int, error) {
	fd, err := unix.Fsopen(fstype, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("make a %s: %w", fstype, err)
	}
	defer unix.Close(fd)
	for i := 0; i < len(options); i += 2 {
		if err := unix.FsconfigSetString(fd, options[i], options[i+1]); err != nil {
			return -1, fmt.Errorf("make a %s (%s): %w", fstype, options[i], err)
		}
	}
	if err := unix.FsconfigCreate(fd); err != nil {
		return -1, fmt.Errorf("make a %s: %w", fstype, err)
	}
	m, err := unix.Fsmount(fd, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|attr)
	if err != nil {
		return -1, fmt.Errorf("make a %s: %w", fstype, err)
	}
	return m, nil
}

// layOut makes the directories and small files of the new root.
func layOut(o builderOrders) error {
	for _, d := range []string{"proc", "dev", "dev/shm", "run", "var", emptyDir} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return fmt.Errorf("lay the room out: %w", err)
		}
	}
	files := map[string]string{canaryFile[1:]: o.Terrain.Token, blankFile: ""}
	maps.Copy(files, o.Files)
	for p, content := range files {
		if err := os.MkdirAll(path.Dir(p), 0o755); err != nil {
			return fmt.Errorf("lay the room out: %w", err)
		}
		if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
			return fmt.Errorf("lay the room out: %w", err)
		}
	}
	return nil
}

// link makes the symbolic links, some of which lie within mounts. One that is
// still there from an earlier program of this room will do.
func link(links map[string]string) error {
	for p, to := range links {
		if err := os.MkdirAll(path.Dir(p), 0o755); err != nil {
			return fmt.Errorf("link %s: %w", p, err)
		}
		if have, err := os.Readlink(p); err == nil && have == to {
			continue
		}
		if err := os.Symlink(to, p); err != nil {
			return fmt.Errorf("link %s: %w", p, err)
		}
	}
	return nil
}

// attach mounts a tree at its place, making the place if need be.
func attach(tree int, b bind) error {
	if err := os.MkdirAll(path.Dir(b.To), 0o755); err != nil {
		return fmt.Errorf("make room for %s: %w", b.To, err)
	}
	var err error
	if b.File {
		err = os.WriteFile(b.To, nil, 0o644)
	} else {
		err = os.MkdirAll(b.To, 0o755)
	}
	// A place within another tree that is mounted read-only exists already,
	// or the mount below says that it does not.
	if err != nil && !errors.Is(err, unix.EROFS) && !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("make room for %s: %w", b.To, err)
	}
	if err := unix.MoveMount(tree, "", unix.AT_FDCWD, b.To, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("mount %s: %w", b.To, err)
	}
	return unix.Close(tree)
}

// ownMounts mounts what belongs to the namespaces: /proc and shared memory.
func ownMounts() error {
	shm, err := newMount("tmpfs", unix.MOUNT_ATTR_NOEXEC, "size", "256m", "mode", "0700")
	if err != nil {
		return err
	}
	if err := attach(shm, bind{To: "dev/shm"}); err != nil {
		return err
	}
	proc, err := newMount("proc", unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return err
	}
	if err := attach(proc, bind{To: "proc"}); err != nil {
		return err
	}
	for _, name := range maskedProc {
		p := filepath.Join("proc", name)
		fi, err := os.Lstat(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("cover %s: %w", p, err)
		}
		if err := cover(p, fi.IsDir()); err != nil {
			return err
		}
	}
	return nil
}

// cover hides a file or a directory under an empty one.
func cover(p string, dir bool) error {
	with := blankFile
	if dir {
		with = emptyDir
	}
	fd, err := openTree(with, false)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	err = unix.MoveMount(fd, "", unix.AT_FDCWD, p, unix.MOVE_MOUNT_F_EMPTY_PATH)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // gone since it was seen: nothing to cover
		return fmt.Errorf("cover %s: %w", p, err)
	}
	return nil
}

// moveIn makes the working directory the root, read-only, and lets go of all
// other mounts.
func moveIn() error {
	old, err := unix.Open("/", unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("leave the system's root: %w", err)
	}
	defer unix.Close(old)
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("change the root: %w", err)
	}
	if err := unix.Fchdir(old); err != nil {
		return fmt.Errorf("leave the system's root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the system's root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return fmt.Errorf("step into the room: %w", err)
	}
	ro := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", 0, &ro); err != nil {
		return fmt.Errorf("protect the room's root: %w", err)
	}
	return nil
}
