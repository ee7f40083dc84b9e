package room

import (
	"fmt"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

// witness has the room's user's identity and none of the room's restrictions. It
// shows that each thing can be done, and keeps the things alive that other
// processes own until the parent hangs up.
func witness(s steps) error {
	var o witnessOrders
	if err := takeOrders(fdOrders, &o); err != nil {
		return err
	}
	undo, err := shareMemory(o.Terrain)
	if err != nil {
		return err
	}
	defer undo()
	pid, hangUp, err := startDecoy(o.Terrain.Token)
	if err != nil {
		return err
	}
	defer hangUp()
	o.Terrain.Decoy = pid
	say(fdTalk, report{Decoy: pid})
	say(fdTalk, report{Before: try(s.attempts, o.Try, &o.Terrain)})
	_, _ = readFD(fdTalk, make([]byte, 1))
	return nil
}

// startDecoy starts a process whose command line and environment hold the
// token, and returns how to end it. It waits for a sign of life: a process that
// has just been started has neither for a moment, and on a busy machine one of
// a hundred was looked at in it.
func startDecoy(token string) (int, func(), error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, nil, fmt.Errorf("start the decoy: %w", err)
	}
	defer r.Close()
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: append(helperArgs(partDecoy, ""), token), Env: []string{"SECRET=" + token}, Stdin: r}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.Close()
		return 0, nil, fmt.Errorf("start the decoy: %w", err)
	}
	hangUp := func() { w.Close(); _ = cmd.Wait() }
	if _, err := out.Read(make([]byte, 1)); err != nil {
		hangUp()
		return 0, nil, fmt.Errorf("start the decoy: %w", err)
	}
	return cmd.Process.Pid, hangUp, nil
}

// decoy gives a sign of life and waits for its end.
func decoy() {
	_, _ = os.Stdout.Write([]byte{'.'})
	_, _ = os.Stdin.Read(make([]byte, 1))
	unix.Exit(0)
}

// shareMemory puts the token into SysV shared memory and makes a message
// queue, and returns how to remove both.
func shareMemory(t terrain) (func(), error) {
	id, err := unix.SysvShmGet(t.IPCKey, 4096, unix.IPC_CREAT|unix.IPC_EXCL|0o600)
	if err != nil {
		return nil, fmt.Errorf("share memory: %w", err)
	}
	undo := func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) }
	mem, err := unix.SysvShmAttach(id, 0, 0)
	if err != nil {
		undo()
		return nil, fmt.Errorf("share memory: %w", err)
	}
	copy(mem, t.Token)
	_ = unix.SysvShmDetach(mem)
	q, _, errno := unix.Syscall(unix.SYS_MSGGET, uintptr(t.IPCKey), unix.IPC_CREAT|unix.IPC_EXCL|0o600, 0)
	if errno != 0 {
		undo()
		return nil, fmt.Errorf("make a message queue: %w", errno)
	}
	return func() {
		undo()
		_, _, _ = unix.Syscall(unix.SYS_MSGCTL, q, unix.IPC_RMID, 0)
	}, nil
}
