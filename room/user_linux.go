package room

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// The user ids of rooms under root: beyond what systems, containers and
// subordinate ranges hand out.
const (
	firstUID = 0x70000000
	manyUIDs = 1 << 27
)

// newRoomUser decides in whose name programs run: this user's, or under root a
// user id of the room's own. An advisory room restricts nothing, so it does
// not change the user either.
func newRoomUser(l Level) (roomUser, error) {
	if os.Geteuid() != 0 || l == Advisory {
		return roomUser{uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	b, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return roomUser{}, fmt.Errorf("open room: find a user id: %w", err)
	}
	first, many := idRange(string(b))
	if many == 0 { // root of a user namespace with nobody else in it
		return roomUser{uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	var r [4]byte
	_, _ = rand.Read(r[:]) // it does not fail
	id := int(first + binary.NativeEndian.Uint32(r[:])%many)
	return roomUser{uid: id, gid: id, separate: true}, nil
}

// idRange finds user ids for rooms in a map of user ids: those set apart for
// them, else the upper half of the largest range.
func idRange(uidMap string) (first, many uint32) {
	for line := range strings.Lines(uidMap) {
		var inside, outside, n uint32
		if c, err := fmt.Sscan(line, &inside, &outside, &n); c != 3 || err != nil {
			continue
		}
		if inside <= firstUID && n > firstUID-inside && n-(firstUID-inside) >= manyUIDs {
			return firstUID, manyUIDs
		}
		if n/2 > many {
			first, many = inside+n-n/2, n/2
		}
	}
	return first, many
}

// available says early what can be known early.
func available(l Level) error {
	if l == Advisory {
		return nil
	}
	if auditArch == 0 {
		return errors.New("there is no filter of system calls for this processor")
	}
	switch abi := landlockABI(); {
	case abi == 0:
		return errors.New("this kernel has no Landlock, or it is not switched on")
	case abi < minABI:
		return fmt.Errorf("this kernel has Landlock %d; a room needs %d (Linux 6.12)", abi, minABI)
	}
	return nil
}

func hintFor(l Level) string {
	const lower = "or lower the level of this role explicitly, which every artefact will say"
	switch l {
	case Sealed:
		return "allow unprivileged user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, " +
			"kernel.apparmor_restrict_unprivileged_userns), use Linux 6.12 or later with Landlock, run outside a restricted container, " + lower
	case Fenced:
		return "use Linux 6.12 or later with Landlock switched on (lsm=landlock), " + lower
	}
	return ""
}

// handOver gives the room's tree to its user, as adapters have written files
// there as this user. It goes through an os.Root, for a program may already
// have planted links.
func (r *Room) handOver() error {
	if !r.who.separate {
		return nil
	}
	root, err := os.OpenRoot(r.work.dir)
	if err != nil {
		return fmt.Errorf("hand over room: %w", err)
	}
	defer root.Close()
	if err := root.Lchown(".", r.who.uid, r.who.gid); err != nil {
		return fmt.Errorf("hand over room: %w", err)
	}
	if err := r.who.own(root); err != nil {
		return fmt.Errorf("hand over room: %w", err)
	}
	return nil
}

// own gives what is in a directory to the room's user. What is gone by then,
// another program of this room has removed.
func (w roomUser) own(dir *os.Root) error {
	entries, err := readDir(dir, ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := w.ownEntry(dir, e.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (w roomUser) ownEntry(dir *os.Root, name string) error {
	fi, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	if uid, _ := ownerOf(fi); uid != w.uid {
		if err := dir.Lchown(name, w.uid, w.gid); err != nil {
			return err
		}
	}
	if !fi.IsDir() {
		return nil
	}
	sub, err := dir.OpenRoot(name)
	if err != nil {
		return err
	}
	defer sub.Close()
	return w.own(sub)
}
