package room

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A view is a read-only overlay of two layers: the project, and over it a layer
// of nothing but whiteouts, which make names absent. A mount over a withheld
// file would fall off when that file is replaced by renaming, as editors do;
// a whiteout is about the name.
//
// Where the kernel gives no overlay – a project that holds mounts of its own, or
// lies on an overlay upon an overlay – the names are covered by mounts, and the
// watch ends the room when one falls off.

// The layers, below the new root, until the overlay is there.
const (
	whiteouts = ".absent"
	lower     = ".project"
)

// openView clones the project's mount, as the room's user sees it: what belongs to
// the owner of the project belongs to the room's user. It is read-only.
func openView(v *viewOrders, who roomUser) (int, error) {
	fd, err := cloneTree(v.From, false, v.depth())
	if err != nil || !who.separate {
		return fd, err
	}
	if err := mapOwner(fd, v.From, who); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// depth says whether mounts within the project come along.
func (v *viewOrders) depth() uint {
	if v.Covered {
		return unix.AT_RECURSIVE
	}
	return 0
}

// mapOwner makes the owner of a tree the room's user, in this mount alone. A
// file system that cannot do it leaves the modes to decide, and a project that
// this user could not enter is refused.
func mapOwner(tree int, from string, who roomUser) error {
	fi, err := os.Stat(from)
	if err != nil {
		return fmt.Errorf("open %s for the room: %w", from, err)
	}
	st := fi.Sys().(*syscall.Stat_t)
	space, err := mapping(int(st.Uid), int(st.Gid), who)
	if err != nil {
		return fmt.Errorf("map the owner of %s: %w", from, err)
	}
	defer space.Close()
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_IDMAP, Userns_fd: uint64(space.Fd())}
	err = unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, &attr)
	if err != nil && fi.Mode().Perm()&0o005 != 0o005 {
		return fmt.Errorf("the file system of %s cannot be mapped (%w), and the room's user may not read it: chmod o+rx it, or run as its owner", from, err)
	}
	return nil
}

// mapping makes a user namespace in which the owner is the room's user. It needs a
// process only until it is open.
func mapping(uid, gid int, who roomUser) (*os.File, error) {
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	defer self.Close()
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	cmd := &exec.Cmd{Path: selfPath(), Args: helperArgs(partNobody, ""), Dir: "/", Env: []string{}, Stdin: in, ExtraFiles: []*os.File{self},
		SysProcAttr: &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: who.uid, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: who.gid, Size: 1}}}}
	if err := cmd.Start(); err != nil {
		out.Close()
		return nil, explainStart(err)
	}
	space, err := os.Open(fmt.Sprintf("/proc/%d/ns/user", cmd.Process.Pid))
	out.Close() // it waits for that
	_ = cmd.Wait()
	return space, err
}

// open takes hold of the project while this process still is the user who may
// reach it.
func (v *viewOrders) open() error {
	if v == nil || v.Tree != 0 {
		return nil
	}
	var err error
	v.Tree, err = openView(v, roomUser{})
	return err
}

// mount puts the view at its place.
func (v *viewOrders) mount() error {
	if v == nil {
		return nil
	}
	if v.Covered {
		return v.cover("the project holds mounts")
	}
	if err := v.layers(); err != nil {
		return err
	}
	overlay, err := newMount("overlay", unix.MOUNT_ATTR_RDONLY, "lowerdir", whiteouts+":"+lower)
	if err != nil {
		return v.coverInstead(err)
	}
	if err := passView(overlay); err != nil {
		return err
	}
	if err := attach(overlay, bind{To: v.To}); err != nil {
		return err
	}
	return errors.Join(unix.Unmount(whiteouts, unix.MNT_DETACH), unix.Unmount(lower, unix.MNT_DETACH),
		os.Remove(whiteouts), os.Remove(lower), v.check())
}

// check looks for every withheld name in the view, as the program could.
func (v *viewOrders) check() error {
	for _, name := range v.absent() {
		if _, err := os.Lstat(filepath.Join(v.To, name)); err == nil {
			return fmt.Errorf("%s is still in the view of the workspace", name)
		}
	}
	return nil
}

// layers mounts the project and the whiteouts where an overlay can name them.
func (v *viewOrders) layers() error {
	if err := attach(v.Tree, bind{To: lower}); err != nil {
		return err
	}
	layer, err := newMount("tmpfs", 0, "mode", "0755")
	if err != nil {
		return err
	}
	if err := attach(layer, bind{To: whiteouts}); err != nil {
		return err
	}
	for _, name := range v.absent() {
		at := path.Join(whiteouts, name)
		err := unix.Mknod(at, unix.S_IFCHR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			if err := os.MkdirAll(path.Dir(at), 0o755); err != nil {
				return fmt.Errorf("make %s absent: %w", name, err)
			}
			err = unix.Mknod(at, unix.S_IFCHR, 0)
		}
		if err != nil {
			return fmt.Errorf("make %s absent: %w", name, err)
		}
	}
	return nil
}

func (v *viewOrders) absent() []string {
	if len(v.Absent) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(v.Absent), "\x00"), "\x00")
}

// coverInstead takes the layers apart again.
func (v *viewOrders) coverInstead(why error) error {
	tree, err := openTree(lower, false)
	if err != nil {
		return errors.Join(why, err)
	}
	v.Tree = tree
	if err := errors.Join(unix.Unmount(whiteouts, unix.MNT_DETACH), unix.Unmount(lower, unix.MNT_DETACH)); err != nil {
		return errors.Join(why, err)
	}
	return v.cover(why.Error())
}

// cover mounts the project itself, and something empty over each withheld name.
func (v *viewOrders) cover(why string) error {
	if err := attach(v.Tree, bind{To: v.To}); err != nil {
		return err
	}
	for _, name := range v.absent() {
		at := filepath.Join(v.To, name)
		fi, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) || err == nil && fi.Mode()&fs.ModeSymlink != 0 {
			continue // what a link leads to is withheld by itself
		}
		if err != nil {
			return fmt.Errorf("cover %s: %w", at, err)
		}
		if err := cover(at, fi.IsDir()); err != nil {
			return err
		}
	}
	say(fdTalk, report{Covered: why})
	return nil
}

// passView hands the overlay out, so that it can be told when it is stale.
func passView(overlay int) error {
	fd, err := unix.Fspick(overlay, "", unix.FSPICK_CLOEXEC|unix.FSPICK_EMPTY_PATH)
	if err != nil {
		return fmt.Errorf("take hold of the view: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.Sendmsg(fdTalk, []byte(`{"view":true}`), unix.UnixRights(fd), nil, 0); err != nil {
		return fmt.Errorf("pass the view out: %w", err)
	}
	return nil
}
