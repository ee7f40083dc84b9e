package redact

import (
	"bytes"
	"runtime"
	"syscall"
	"testing"
	"time"

	sampled "conclave/internal/sample"
)

// threadTime is what this thread has used of a processor: on a busy machine
// the clock says nothing.
func threadTime(t *testing.T) time.Duration {
	t.Helper()
	const thisThread = 1
	var u syscall.Rusage
	if err := syscall.Getrusage(thisThread, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestHostileTextIsBounded: four times as much of a text made to keep the rules
// busy costs about four times as much. A rule that read to the end of the text
// from each anchor would take sixteen times as long.
func TestHostileTextIsBounded(t *testing.T) {
	_, r := planted(1)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	quickest := func(s string, size int) time.Duration {
		src := bytes.Repeat([]byte(s), size/len(s))
		best := time.Hour
		for range 3 {
			started := threadTime(t)
			if out, _ := r.Bytes(nil, src); len(out) == 0 {
				t.Errorf("%s: nothing came out", s)
			}
			best = min(best, threadTime(t)-started)
		}
		return best
	}
	texts := []string{"token=", "-----BEGIN PRIVATE KEY-----", "key", "key=", "eyJ", "://", "password: a1\\", "Bearer ", "eyJ.", "12345678:AA", "sk-", "sk-ant-", "authorization: ", "secret is ", "://a:", "sig=", "1Q~", "xoxb-"}
	for _, i := range sampled.Pick(t, len(texts), 4, len(texts)) {
		s := texts[i]
		small, large := quickest(s, 8<<10), quickest(s, 32<<10)
		if large > 10*small && large > 50*time.Millisecond {
			t.Errorf("%s: 8 KiB took %v, 32 KiB %v", s, small, large)
		}
	}
}
