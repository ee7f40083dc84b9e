// Package lockfile holds a lock that the operating system frees when its
// holder dies, and that tells who holds it.
//
// The lock is the operating system's (flock, LockFileEx), never the existence
// of the file: a file left behind by a killed process locks nobody out. While
// the lock is held, the file contains one JSON object, the Holder, so that a
// refusal can name a process and a purpose. The content is information for
// people; it is never consulted to decide who holds the lock.
//
// Locks exclude each other between processes and within one process alike.
// They are advisory: they bind only those who ask. Unlock removes the file
// where the system allows it. The package starts no goroutine, and refuses
// (ErrUnsupported) on systems that have neither mechanism.
package lockfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// ErrUnsupported is returned on systems without a lock that frees itself.
var ErrUnsupported = errors.ErrUnsupported

// errHeld is what the system-specific part reports for a lock in other hands.
var errHeld = errors.New("lock is held")

// maxHolder bounds what is read from a lock file that somebody else wrote.
const maxHolder = 4 << 10

// Holder is who holds a lock. Fields that could not be learnt are zero.
type Holder struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Started time.Time `json:"started"` // when the lock was taken
	Purpose string    `json:"purpose"`
}

func (h Holder) String() string {
	if h.PID == 0 {
		return "a process that has not said who it is"
	}
	return fmt.Sprintf("process %d on %s since %s (%s)", h.PID, h.Host, h.Started.Format(time.RFC3339), h.Purpose)
}

// HeldError reports a lock in other hands.
type HeldError struct {
	path   string
	Holder Holder
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("lock %s: held by %s", e.path, e.Holder)
}

// Lock is a lock that is held. Its methods are safe for concurrent use.
type Lock struct {
	path   string
	holder Holder

	mu   sync.Mutex
	file *os.File // nil once unlocked
}

// TryLock takes the lock at path, or returns a *HeldError at once. The file is
// created with mode 0600 when it is missing; its directory must exist.
func TryLock(path, purpose string) (*Lock, error) {
	for {
		l, err := tryOnce(path, purpose)
		if err != nil || l != nil {
			return l, err
		}
	}
}

// tryOnce returns neither lock nor error when the file was removed between
// opening and locking it, which happens when its last holder unlocks: then
// the lock just taken is on a file that nobody else will ever see.
func tryOnce(path, purpose string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := lock(f); err != nil {
		defer f.Close()
		if errors.Is(err, errHeld) {
			return nil, &HeldError{path: path, Holder: readHolder(f)}
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if !stillAt(f, path) {
		return nil, release(f)
	}
	h := self(purpose)
	if err := writeHolder(f, h); err != nil {
		return nil, errors.Join(fmt.Errorf("write holder to %s: %w", path, err), release(f))
	}
	return &Lock{path: path, holder: h, file: f}, nil
}

// WaitLock takes the lock at path, waiting for it until ctx ends. The error then wraps
// both ctx.Err and the *HeldError of the last attempt.
func WaitLock(ctx context.Context, path, purpose string) (*Lock, error) {
	const most = 250 * time.Millisecond
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, most) {
		l, err := TryLock(path, purpose)
		var held *HeldError
		if err == nil || !errors.As(err, &held) {
			return l, err
		}
		// The systems' own blocking calls cannot be cancelled, so ask again.
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("wait for lock: %w: %w", ctx.Err(), held)
		case <-timer.C:
		}
	}
}

// Holder is what the lock file says about this lock.
func (l *Lock) Holder() Holder { return l.holder }

// Unlock frees the lock and removes its file. Further calls do nothing.
func (l *Lock) Unlock() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	// Removed while it is still held: whoever opened it before finds in
	// stillAt that it is gone. Windows keeps an open file; that is harmless.
	_ = os.Remove(l.path)
	return release(f)
}

// release unlocks before it closes: a child between fork and exec still has
// the descriptor, and closing ours alone would leave the lock with it.
func release(f *os.File) error {
	return errors.Join(unlock(f), f.Close())
}

func stillAt(f *os.File, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(mine, there)
}

func self(purpose string) Holder {
	host, _ := os.Hostname() // a nameless host is still a holder
	return Holder{PID: os.Getpid(), Host: host, Started: time.Now().UTC().Truncate(time.Millisecond), Purpose: purpose}
}

func writeHolder(f *os.File, h Holder) error {
	b, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(append(b, '\n'), 0)
	return err
}

// readHolder reads what is there; a holder that is just writing, or a file
// that is no JSON, gives the zero Holder.
func readHolder(f *os.File) Holder {
	var h Holder
	b, err := io.ReadAll(io.NewSectionReader(f, 0, maxHolder))
	if err != nil || json.Unmarshal(b, &h) != nil {
		return Holder{}
	}
	return h
}
