package app

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

// TestAFullDiskIsNoAnswer (Q16): wherever it is found out that the disk is full,
// what is missing is room; the answer is not no.
func TestAFullDiskIsNoAnswer(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	for _, err := range []error{
		full, noError("%w", full), answerNo(full), usageError("open: %w", full), questError(full),
		noError("step: %w", errors.New(full.Error())), answerNo(errors.New("database or disk is full (13)")),
		questError(fmt.Errorf("seal: %w", &fs.PathError{Op: "write", Path: "x", Err: syscall.EDQUOT})),
	} {
		if KindOf(err) != Environment {
			t.Errorf("%v is of kind %d", err, KindOf(err))
		}
	}
	if KindOf(noError("it differs")) != No || KindOf(saidNo()) != No || KindOf(usageError("x")) != Usage {
		t.Error("other errors have lost their kinds")
	}
}
