package room

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// spaces are the namespaces of a sealed room, as /proc/self/ns names them.
var spaces = []string{"user", "mnt", "pid", "ipc", "net", "uts", "cgroup"}

func allAttempts() []attempt {
	list := []attempt{
		{"read a file outside", byWitness, must, must, readOutside},
		{"see a file outside", byWitness, must, may, statOutside},
		{"list a directory outside", byWitness, must, must, listOutside},
		{"write a file outside", byWitness, must, must, writeOutside},
		{"change the mode of a file outside", byWitness, must, may, chmodOutside},
		{"change the time of a file outside", byWitness, must, may, utimeOutside},
		{"connect to a TCP port outside", byWitness, must, must, tcpOutside},
		{"exchange UDP datagrams outside", byWitness, must, must, udpOutside},
		{"connect to a socket outside", byWitness, must, must, func(t *terrain) error { return connectUnix(t.Socket) }},
		{"connect to an abstract socket outside", byWitness, must, must, func(t *terrain) error { return connectUnix("@" + t.Abstract) }},
		{"find sockets in /proc/net", byWitness, must, must, findSockets},
		{"signal a process outside", byWitness, must, must, signalDecoy},
		{"read a command line outside", byWitness, must, must, func(t *terrain) error { return readDecoy(t, "cmdline") }},
		{"read an environment outside", byWitness, must, must, func(t *terrain) error { return readDecoy(t, "environ") }},
		{"attach shared memory outside", byWitness, must, must, attachMemory},
		{"open a message queue outside", byWitness, must, must, openQueue},
		{"see the name of the machine", byWitness, must, may, seeHost},

		{"read a file that is not granted", bySelf, must, none, readInside},
		{"list a directory that is not granted", bySelf, must, none, listInside},
		{"signal a process outside the domain", bySelf, must, must, func(*terrain) error { return unix.Kill(os.Getppid(), 0) }},
		{"connect to a socket outside the domain", bySelf, must, none, func(t *terrain) error { return connectUnix("@" + t.InsideAbstract) }},

		{"leave its family", byWitness, must, must, leaveFamily},
		{"trace a process", bySelf, must, must, tracing},
		{"read the memory of a process", bySelf, must, must, readMemory},
		{"type into a terminal", bySelf, must, must, typing},
		{"change the personality", bySelf, must, must, personality},
		{"open a socket of another kind", bySelf, must, must, otherSocket},
		{"add a key", bySelf, must, may, addKey},
		{"leave the namespaces", bySelf, must, may, unsharing},
		{"make a namespace", bySelf, must, may, cloning},
		{"clone with unseen flags", bySelf, must, may, cloning3},
		{"open a tree of mounts", bySelf, must, may, openMounts},
	}
	list = append(append(list, otherProcesses()...), aroundPorts()...)
	for _, s := range spaces {
		list = append(list, attempt{"share the " + s + " namespace", byWitness, must, may, sharing(s)})
	}
	return list
}

func dial(kind int, addr string) (int, error) {
	ap, err := netip.ParseAddrPort(addr)
	if err != nil {
		return -1, err
	}
	fd, err := unix.Socket(unix.AF_INET, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: int(ap.Port()), Addr: ap.Addr().As4()}); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func tcpOutside(t *terrain) error {
	fd, err := dial(unix.SOCK_STREAM, t.TCP)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return expect(fd, t.Token)
}

// expect reads one message.
func expect(fd int, want string) error {
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 2}); err != nil {
		return err
	}
	b := make([]byte, 256)
	n, err := readFD(fd, b)
	if err == nil && string(b[:n]) != want {
		return errOther
	}
	return err
}

// readFD reads as often as a signal comes between.
func readFD(fd int, b []byte) (int, error) {
	for {
		if n, err := unix.Read(fd, b); err != unix.EINTR {
			return n, err
		}
	}
}

// udpOutside needs an answer: sending alone succeeds into the void.
func udpOutside(t *terrain) error {
	fd, err := dial(unix.SOCK_DGRAM, t.UDP)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if _, err := unix.Write(fd, []byte(t.Token)); err != nil {
		return err
	}
	return expect(fd, udpAnswer+t.Token)
}

func connectUnix(name string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Connect(fd, &unix.SockaddrUnix{Name: name})
}

func findSockets(t *terrain) error { return readToken("/proc/net/unix", t.Socket) }

func readDecoy(t *terrain, what string) error {
	return readToken("/proc/"+strconv.Itoa(t.Decoy)+"/"+what, t.Token)
}

// signalDecoy makes sure whom it reached: in another PID namespace the number
// may belong to somebody else.
func signalDecoy(t *terrain) error {
	if err := unix.Kill(t.Decoy, 0); err != nil {
		return err
	}
	if err := readDecoy(t, "cmdline"); err == nil || errors.Is(err, os.ErrPermission) {
		return nil
	}
	return errOther
}

func attachMemory(t *terrain) error {
	id, err := unix.SysvShmGet(t.IPCKey, 0, 0)
	if err != nil {
		return err
	}
	mem, err := unix.SysvShmAttach(id, 0, unix.SHM_RDONLY)
	if err != nil {
		return err
	}
	defer unix.SysvShmDetach(mem)
	if !bytes.HasPrefix(mem, []byte(t.Token)) {
		return errOther
	}
	return nil
}

func openQueue(t *terrain) error {
	_, _, errno := unix.Syscall(unix.SYS_MSGGET, uintptr(t.IPCKey), 0, 0)
	return errnoErr(errno)
}

func seeHost(t *terrain) error {
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	if name != t.Host {
		return errOther
	}
	return nil
}

func sharing(space string) func(*terrain) error {
	return func(t *terrain) error {
		mine, err := os.Readlink("/proc/self/ns/" + space)
		if err != nil {
			return err
		}
		if mine != t.Spaces[space] {
			return fmt.Errorf("it is in %s", mine)
		}
		return nil
	}
}

func readInside(t *terrain) error { return readToken(t.InsideFile, t.Token) }

func listInside(t *terrain) error {
	_, err := os.ReadDir(t.InsideDir)
	return err
}
