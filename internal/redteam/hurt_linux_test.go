package redteam

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// done prints the word of an attempt that had its effect.
func done(err error) error {
	if err == nil {
		fmt.Println(effectWord)
	}
	return err
}

func call(nr uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	if _, _, errno := unix.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
		return errno
	}
	return nil
}

// fastOpen connects to a port by another way than connect, and prints what is
// said there.
func fastOpen(how string, port int) error {
	protocol := 0
	if how == "mptcp" {
		protocol = 262
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	to := &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
	switch how {
	case "sendto":
		err = unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, to)
	case "sendmsg":
		err = unix.Sendmsg(fd, []byte("x"), nil, to, unix.MSG_FASTOPEN)
	case "sendmmsg":
		err = sendmmsg(fd, port)
	case "connect":
		if err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_FASTOPEN_CONNECT, 1); err == nil {
			err = unix.Connect(fd, to)
		}
		if err == nil {
			_, err = unix.Write(fd, []byte("x"))
		}
	default:
		err = unix.Connect(fd, to)
	}
	if err != nil {
		return err
	}
	b := make([]byte, 512)
	n, err := unix.Read(fd, b)
	fmt.Printf("%s\n", b[:max(n, 0)])
	return err
}

func sendmmsg(fd, port int) error {
	name := unix.RawSockaddrInet4{Family: unix.AF_INET, Port: uint16(port>>8 | port&0xff<<8), Addr: [4]byte{127, 0, 0, 1}}
	text := []byte("x")
	type message struct {
		hdr unix.Msghdr
		n   uint32
	}
	iov := unix.Iovec{Base: &text[0], Len: 1}
	m := message{hdr: unix.Msghdr{Name: (*byte)(unsafe.Pointer(&name)), Namelen: unix.SizeofSockaddrInet4, Iov: &iov, Iovlen: 1}}
	err := call(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&m)), 1, unix.MSG_FASTOPEN)
	runtime.KeepAlive(&m)
	return err
}

func listenUnbound() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return done(unix.Listen(fd, 1))
}

// limitOther sets limits that the decoy does not feel.
func limitOther(pid int, what string) error {
	const much = 1 << 40
	limit := &unix.Rlimit{Cur: much, Max: much}
	switch what {
	case "core":
		return done(unix.Prlimit(pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil))
	case "cpu":
		return done(unix.Prlimit(pid, unix.RLIMIT_CPU, limit, nil))
	case "fsize":
		return done(unix.Prlimit(pid, unix.RLIMIT_FSIZE, limit, nil))
	}
	return done(unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, limit))
}

func scheduleOther(pid int, what string) error {
	zero := new([64]byte)
	at := uintptr(unsafe.Pointer(zero))
	defer runtime.KeepAlive(zero)
	switch what {
	case "affinity":
		var all unix.CPUSet
		if err := unix.SchedGetaffinity(0, &all); err != nil {
			return err
		}
		return done(unix.SchedSetaffinity(pid, &all))
	case "scheduler":
		return done(call(unix.SYS_SCHED_SETSCHEDULER, uintptr(pid), unix.SCHED_NORMAL, at))
	case "param":
		return done(call(unix.SYS_SCHED_SETPARAM, uintptr(pid), at))
	case "attr":
		return done(unix.SchedSetAttr(pid, &unix.SchedAttr{Nice: 5}, 0))
	case "priority":
		return done(unix.Setpriority(unix.PRIO_PROCESS, pid, 10))
	}
	return done(call(unix.SYS_IOPRIO_SET, 1, uintptr(pid), 2<<13|5))
}

// take takes more than a room is given.
func take(what string) error {
	switch what {
	case "disk", "file":
		f, err := os.CreateTemp(".", "")
		if err != nil {
			return err
		}
		defer os.Remove(f.Name())
		defer f.Close()
		if what == "disk" {
			return done(unix.Fallocate(int(f.Fd()), 0, 0, 64<<20))
		}
		return done(f.Truncate(2 << 30))
	case "memory":
		b, err := unix.Mmap(-1, 0, 5<<30, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
		if err == nil {
			defer func() { _ = unix.Munmap(b) }()
		}
		return done(err)
	case "threads":
		return done(threads(1100))
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	limit.Cur = limit.Max
	_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	for range 9000 {
		if _, err := unix.Dup(0); err != nil {
			return err
		}
	}
	return done(nil)
}

// threads is for n threads at once. The runtime ends the program when it does
// not get one.
func threads(n int) error {
	var up, down sync.WaitGroup
	up.Add(n)
	down.Add(1)
	for range n {
		go func() {
			runtime.LockOSThread()
			up.Done()
			down.Wait()
		}()
	}
	up.Wait()
	down.Done()
	return nil
}
