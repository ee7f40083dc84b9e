package main

import (
	"fmt"
	"strings"

	"conclave/internal/screen"
)

// The exit codes and what they mean.
const (
	exitDone        = 0
	exitNo          = 1 // the answer is no: a check failed, something was found
	exitUsage       = 2 // the command line is wrong
	exitEnvironment = 3 // something this machine or project lacks
)

// exitError carries an exit code. A nil err means that the command has said
// already what there is to say.
type exitError struct {
	code int
	err  error
	text screen.Text // err with its own words told from foreign ones
}

func exitWith(code int, format string, args ...any) error {
	text := screen.Sprintf(strings.ReplaceAll(format, "%w", "%v"), args...)
	return &exitError{code, fmt.Errorf(format, args...), text}
}

// Text implements screen.Texter: "\ntry: …" stands at the beginning of a line
// because the program says so, and never because a file's name does.
func (e *exitError) Text() screen.Text { return e.text }

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// noError: the command did its work, and the answer is no.
func noError(format string, args ...any) error {
	return exitWith(exitNo, format, args...)
}

// saidNo is noError when the output has said it already.
func saidNo() error { return &exitError{code: exitNo} }

// usageError: the command line is wrong.
func usageError(format string, args ...any) error {
	return exitWith(exitUsage, format, args...)
}

// environmentError: something is missing here.
func environmentError(format string, args ...any) error {
	return exitWith(exitEnvironment, format, args...)
}
