package room

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"conclave/agent"
)

// systemDirs are visible in every room, read-only.
var systemDirs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"}

// sourceDirs are parts of system directories that may hold anybody's work.
var sourceDirs = []string{"/usr/src", "/usr/local/src"}

// systemFiles are what programs look for in /etc. The rest of it is not there.
var systemFiles = []string{
	"/etc/alternatives", "/etc/ca-certificates", "/etc/crypto-policies", "/etc/ethertypes", "/etc/gai.conf",
	"/etc/host.conf", "/etc/inputrc", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/locale.alias",
	"/etc/localtime", "/etc/magic", "/etc/mime.types", "/etc/os-release", "/etc/pki/ca-trust", "/etc/pki/tls/certs",
	"/etc/pki/tls/cert.pem", "/etc/pki/tls/openssl.cnf", "/etc/protocols", "/etc/services", "/etc/ssl/certs",
	"/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf", "/etc/terminfo", "/etc/timezone",
}

// ownFiles are written for the room.
var ownFiles = map[string]string{
	"etc/passwd":        "guest:x:1000:1000:guest:/room/home:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
	"etc/group":         "guest:x:1000:\nnogroup:x:65534:\n",
	"etc/hosts":         "127.0.0.1 localhost room\n::1 localhost\n",
	"etc/hostname":      "room\n",
	"etc/resolv.conf":   "",
	"etc/nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files\nnetworks: files\nprotocols: files\nservices: files\n",
}

var ownLinks = map[string]string{
	"var/tmp": "/tmp",
	"dev/fd":  "/proc/self/fd", "dev/stdin": "/proc/self/fd/0", "dev/stdout": "/proc/self/fd/1", "dev/stderr": "/proc/self/fd/2",
	"etc/mtab": "/proc/self/mounts",
}

var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// plot collects what the builder mounts.
type plot struct {
	builderOrders
	outside []string
}

// layout says how a sealed room is built, and opens the mounts that the
// builder could not reach as the room's user.
func (r *Room) layout(t terrain) (builderOrders, []*os.File, error) {
	p := &plot{outside: r.plan.Outside, builderOrders: builderOrders{Level: Sealed, Spaces: true, User: insideUID, Group: insideUID,
		Links: maps.Clone(ownLinks), Files: maps.Clone(ownFiles), Terrain: t, Separate: r.who.separate}}
	if r.gatewayServer != nil {
		p.Port = r.gatewayServer.port
	}
	// The room's temporary directory is also where programs look for one, and
	// is no link, because a program may have been installed below it.
	p.Binds = append(p.Binds, bind{From: r.place.Host, To: guestPlace[1:], Write: true, Own: true},
		bind{From: r.place.OnHost(agent.TempDir), To: "tmp", Write: true, Own: true})
	for _, path := range slices.Concat(systemDirs, systemFiles) {
		if err := p.system(path); err != nil {
			return builderOrders{}, nil, err
		}
	}
	for _, d := range devices {
		p.Binds = append(p.Binds, bind{From: d, To: d[1:], File: true, Write: true})
	}
	for _, prog := range r.plan.Programs {
		if err := p.program(prog); err != nil {
			return builderOrders{}, nil, err
		}
	}
	if v := r.plan.Workspace; v != nil {
		at := filepath.Join(guestPlace[1:], agent.WorkDir, filepath.FromSlash(v.Name))
		p.View = &viewOrders{bind: bind{From: v.Source, To: at}, Covered: r.covered}
		for _, name := range r.absent {
			p.View.Absent = append(append(p.View.Absent, name...), 0)
		}
	}
	p.coverOutside()
	trees, err := p.openAsRoot(r.who)
	return p.builderOrders, trees, err
}

// system adds a part of this system: a link as a link, a directory as a mount,
// a file as a copy. What is not there is not there in the room either.
func (p *plot) system(path string) error {
	fi, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return nil
	case err != nil:
	case fi.Mode()&fs.ModeSymlink != 0:
		p.Links[path[1:]], err = os.Readlink(path)
	case fi.IsDir():
		p.Binds = append(p.Binds, bind{From: path, To: path[1:]})
	case fi.Mode().IsRegular() && fi.Mode().Perm()&0o004 != 0:
		var b []byte
		b, err = os.ReadFile(path)
		p.Files[path[1:]] = string(b)
	}
	if err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	return nil
}

// program adds a program at its own path. Where that is a link, both are.
func (p *plot) program(path string) error {
	path = filepath.Clean(path)
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("find program: %w", err)
	}
	fi, err := os.Stat(real)
	if err != nil {
		return fmt.Errorf("find program: %w", err)
	}
	if !p.covers(real) {
		p.Binds = append(p.Binds, bind{From: real, To: real[1:], File: !fi.IsDir(), Own: true})
	}
	if real != path && !p.covers(path) && p.Links[path[1:]] == "" {
		p.Links[path[1:]] = real
	}
	return nil
}

func (p *plot) covers(path string) bool {
	return slices.ContainsFunc(p.Binds, func(b bind) bool {
		return !b.Write && !b.File && within("/"+b.To, path) || "/"+b.To == path
	})
}

// coverOutside hides directories that must not be seen although a mounted one
// holds them.
func (p *plot) coverOutside() {
	for _, dir := range slices.Concat(sourceDirs, p.outside) {
		names := []string{filepath.Clean(dir)}
		if real, err := filepath.EvalSymlinks(dir); err == nil && real != names[0] {
			names = append(names, real)
		}
		for _, name := range names {
			fi, err := os.Lstat(name)
			if err == nil && fi.IsDir() && p.covers(name) && !p.needs(name) {
				p.Covers = append(p.Covers, name[1:])
			}
		}
	}
}

// needs reports whether a mount of the room lies below dir: a program within
// the project was asked for by name.
func (p *plot) needs(dir string) bool {
	return slices.ContainsFunc(p.Binds, func(b bind) bool { return within(dir, "/"+b.To) })
}

// openAsRoot opens the mounts that are not the system's while this process is
// root: the room's user, or root in a user namespace, could not pass through other
// people's directories to get there.
func (p *plot) openAsRoot(who roomUser) ([]*os.File, error) {
	if !who.separate {
		return nil, nil
	}
	var trees []*os.File
	open := func(b *bind, tree func() (int, error)) error {
		fd, err := tree()
		if errors.Is(err, unix.EPERM) {
			return nil // root without that power: the builder tries by itself
		}
		if err == nil {
			b.Tree = fdTrees + len(trees)
			trees = append(trees, os.NewFile(uintptr(fd), b.From))
		}
		return err
	}
	var err error
	for i := range p.Binds {
		if b := &p.Binds[i]; b.Own && err == nil {
			err = open(b, func() (int, error) { return openTree(b.From, b.Write) })
		}
	}
	if v := p.View; v != nil && err == nil {
		err = open(&v.bind, func() (int, error) { return openView(v, who) })
	}
	if err != nil {
		for _, t := range trees {
			t.Close()
		}
		return nil, err
	}
	return trees, nil
}

// fenceable refuses to fence a program off where it could read the project as
// part of a system directory: without mounts nothing can be covered.
func (r *Room) fenceable() error {
	for _, dir := range r.plan.Outside {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			continue // nothing there to be seen
		}
		for _, s := range slices.Concat(systemDirs, r.plan.Programs) {
			if within(s, real) {
				return fmt.Errorf("%s lies in %s, which the program may read; move it, or use a sealed room", dir, s)
			}
		}
	}
	return nil
}

// rules are what Landlock leaves to the program.
func (r *Room) rules() rules {
	write := []string{}
	for _, d := range []string{agent.HomeDir, agent.TempDir, agent.WorkDir, agent.OutboxDir} {
		write = append(write, r.place.InGuest(d))
	}
	out := rules{Read: slices.Concat(systemDirs, r.plan.Programs), Write: write, WriteFiles: devices}
	if r.plan.level() == Sealed {
		out.Read = append(out.Read, "/etc", "/proc", "/dev", guestPlace)
		out.Write = append(out.Write, "/dev/shm", "/tmp")
		return out
	}
	out.Read = append(out.Read, "/etc/passwd", "/etc/group", "/etc/hosts", "/etc/nsswitch.conf", "/etc/resolv.conf")
	out.Read = append(out.Read, systemFiles...)
	out.Proc, out.Net = true, true
	if r.gatewayServer != nil {
		out.Port = r.gatewayServer.port
	}
	return out
}
