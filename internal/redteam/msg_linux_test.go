package redteam

import (
	"bytes"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The message queue calls have no wrapper in x/sys.

type message struct {
	kind int64
	text [128]byte
}

func newMsgQueue(text string) (int, error) {
	id, _, errno := unix.Syscall(unix.SYS_MSGGET, 0, unix.IPC_CREAT|0o600, 0)
	if errno != 0 {
		return 0, errno
	}
	m := message{kind: 1}
	copy(m.text[:], text)
	if _, _, errno := unix.Syscall6(unix.SYS_MSGSND, id, uintptr(unsafe.Pointer(&m)), uintptr(len(m.text)), 0, 0, 0); errno != 0 {
		return 0, errno
	}
	return int(id), nil
}

// readMsg prints a copy of the first message and puts it back.
func readMsg(id int) error {
	var m message
	if _, _, errno := unix.Syscall6(unix.SYS_MSGRCV, uintptr(id), uintptr(unsafe.Pointer(&m)), uintptr(len(m.text)), 0, unix.IPC_NOWAIT, 0); errno != 0 {
		return errno
	}
	fmt.Printf("%s\n", bytes.TrimRight(m.text[:], "\x00"))
	_, _, errno := unix.Syscall6(unix.SYS_MSGSND, uintptr(id), uintptr(unsafe.Pointer(&m)), uintptr(len(m.text)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func removeIPC(shm, msg int) {
	_, _ = unix.SysvShmCtl(shm, unix.IPC_RMID, nil)
	_, _, _ = unix.Syscall(unix.SYS_MSGCTL, uintptr(msg), unix.IPC_RMID, 0)
}
