package room

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"conclave/internal/proc"
)

// insideUID is the user of a sealed room as its program sees itself. It is not
// 0, and 0 does not exist in the room: nothing there is anybody's root.
const insideUID = 1000

// build makes the inside of the namespaces, if there are any, starts stage two
// in them without any capability, and becomes init.
func build(s steps) error {
	runtime.LockOSThread()
	var o builderOrders
	if err := takeOrders(fdOrders, &o); err != nil {
		return err
	}
	if err := settle(s, o); err != nil {
		return err
	}
	// Here the program must not be able to connect.
	canary, err := listenAt(unix.AF_UNIX, &unix.SockaddrUnix{Name: "@" + o.Terrain.InsideAbstract})
	if err != nil {
		return fmt.Errorf("set up a canary: %w", err)
	}
	if err := forbidPrivileges(o.Spaces); err != nil {
		return err
	}
	var mark string
	if len(os.Args) > 2 {
		mark = os.Args[2]
	}
	stageTwo, err := syscall.ForkExec("/proc/self/exe", helperArgs(partStageTwo, mark), &syscall.ProcAttr{
		Dir:   "/",
		Files: []uintptr{0, 1, 2, fdSelf, fdStageTwoOrders, fdStageTwoTalk},
		Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return fmt.Errorf("start the porter: %w", err)
	}
	return becomeInit(stageTwo, canary)
}

// settle makes the place in which init stays. A fenced room has the system's
// file tree, and namespaces where they can be had. Without them, init is made
// the parent of all that lose theirs.
func settle(s steps, o builderOrders) error {
	if !o.Spaces {
		return s.adopt()
	}
	enter := s.mount
	if o.Level != Sealed {
		enter = becomeRoomUser
	}
	if err := enter(o); err != nil {
		return err
	}
	if err := unix.Sethostname([]byte("room")); err != nil {
		return fmt.Errorf("name the room: %w", err)
	}
	return openGatewayPort(o.Port)
}

// adoptOrphans makes this process the parent of all below it that lose theirs.
func adoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become everybody's parent: %w", err)
	}
	// When the process outside dies, this one has something to do first.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("outlive the process outside: %w", err)
	}
	return nil
}

// becomeInit replaces the builder by a process that never had a capability,
// with nothing open but its line to the outside and the canary's socket.
func becomeInit(stageTwo, canary int) error {
	null, err := unix.Open("/dev/null", unix.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("open /dev/null: %w", err)
	}
	for fd := range 3 {
		if err := unix.Dup3(null, fd, 0); err != nil {
			return fmt.Errorf("close the program's streams: %w", err)
		}
	}
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("close descriptors: %w", err)
	}
	for _, fd := range []int{fdTalk, canary} {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil {
			return fmt.Errorf("keep descriptor: %w", err)
		}
	}
	args := append(helperArgs(partInit, ""), strconv.Itoa(stageTwo))
	return fmt.Errorf("become the keeper: %w", unix.Exec("/proc/self/exe", args, nil))
}

// runInit is PID 1 of the room, or the parent of everybody in it. It reaps, and
// ends with the program or with the process outside. Under PID 1 the kernel
// then kills whatever is left; otherwise init does.
func runInit() error {
	signal.Ignore(unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGPIPE)
	stageTwo, err := strconv.Atoi(os.Args[2])
	if err != nil {
		return err
	}
	// Neither memory nor descriptors of init are the program's business.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		say(fdTalk, report{Err: err.Error()})
		return err
	}
	say(fdTalk, report{Ready: true})
	go func() {
		// The parent never says anything on this line: it ends with it.
		_, _ = readFD(fdTalk, make([]byte, 1))
		endFamily()
		unix.Exit(1)
	}()
	for {
		var st unix.WaitStatus
		pid, err := unix.Wait4(-1, &st, 0, nil)
		switch {
		case err == unix.EINTR, pid > 0 && pid != stageTwo, st.Stopped(), st.Continued():
			continue
		case err != nil:
			return err
		}
		endFamily()
		if st.Signaled() {
			unix.Exit(128 + int(st.Signal()))
		}
		unix.Exit(st.ExitStatus())
	}
}

// endFamily kills everybody under an init that is not PID 1. Whoever has left
// group, session and environment behind is still a child of somebody, and falls
// to init with the death of that one: when init has no child, there
// is nobody.
func endFamily() {
	if os.Getpid() == 1 {
		return
	}
	for {
		for _, pid := range proc.Children(os.Getpid()) {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		switch pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); {
		case err == unix.ECHILD:
			return
		case pid == 0:
			time.Sleep(time.Millisecond)
		}
	}
}

// openGatewayPort brings the room's loopback up, and passes a socket that listens on
// it to the outside.
func openGatewayPort(port int) error {
	if err := loopbackUp(); err != nil {
		return fmt.Errorf("bring the loopback up: %w", err)
	}
	if port == 0 {
		return nil
	}
	fd, err := listenAt(unix.AF_INET, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	if err != nil {
		return fmt.Errorf("open the door: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.Sendmsg(fdTalk, []byte(`{}`), unix.UnixRights(fd), nil, 0); err != nil {
		return fmt.Errorf("pass the door out: %w", err)
	}
	return nil
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, ifr); err != nil {
		return err
	}
	ifr.SetUint16(ifr.Uint16() | unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr)
}

// listenAt returns a socket that listens.
func listenAt(family int, address unix.Sockaddr) (int, error) {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if err = unix.Bind(fd, address); err == nil {
		err = unix.Listen(fd, 128)
	}
	return fd, err
}

// forbidPrivileges takes what a child could use. Outside namespaces of its own
// this process has nothing to lose.
func forbidPrivileges(spaces bool) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid new privileges: %w", err)
	}
	if !spaces {
		return nil
	}
	return dropCapabilities()
}

// dropCapabilities empties what a child of this thread could inherit: the
// ambient, bounding and inheritable sets. Its permitted set is lost by exec, because there
// is no root in this user namespace.
func dropCapabilities() error {
	for c := uintptr(0); c <= 63; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err == unix.EINVAL {
			break
		} else if err != nil {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop ambient capabilities: %w", err)
	}
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&hdr, &data[0]); err != nil {
		return fmt.Errorf("drop inheritable capabilities: %w", err)
	}
	data[0].Inheritable, data[1].Inheritable = 0, 0
	if err := unix.Capset(&hdr, &data[0]); err != nil {
		return fmt.Errorf("drop inheritable capabilities: %w", err)
	}
	return nil
}

// listenerFrom turns a descriptor that came out of the room into a listener.
func listenerFrom(fd int) (net.Listener, error) {
	f := os.NewFile(uintptr(fd), "door")
	defer f.Close()
	return net.FileListener(f)
}
