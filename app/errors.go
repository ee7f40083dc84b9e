package app

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"conclave/internal/newer"
	"conclave/internal/screen"
	"conclave/table"
)

// Kind says what an error means to whoever asked.
type Kind int

// The kinds of errors. An error of another package is of Environment.
const (
	No          Kind = iota + 1 // the work was done, and the answer is no: a check failed, something was found
	Usage                       // what was asked for makes no sense
	Environment                 // something this machine or project lacks
)

// Error has a kind. One without words means that the result has said already
// what there is to say.
type Error struct {
	Kind Kind
	err  error
	text screen.Text // err with its own words told from foreign ones
}

// ErrorOf makes an error of a kind.
func ErrorOf(kind Kind, format string, args ...any) error {
	text := screen.Sprintf(strings.ReplaceAll(format, "%w", "%v"), args...)
	return &Error{kind, fmt.Errorf(format, args...), text}
}

// KindOf returns the kind of an error that is not nil. A file of a newer program
// is no answer to anything: what is missing here is that program. Nor is a full
// disk: what is missing is room.
func KindOf(err error) Kind {
	if e := (*Error)(nil); errors.As(err, &e) && !errors.As(err, new(*newer.Error)) && !noRoom(err) {
		return e.Kind
	}
	return Environment
}

// noRoom: the disk is full, whoever found it out. A step of the engine and a
// database keep no more of an error than its words.
func noRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		strings.Contains(err.Error(), syscall.ENOSPC.Error()) || strings.Contains(err.Error(), "disk is full")
}

// Said says whether an error has no words, because a result has.
func Said(err error) bool {
	e := (*Error)(nil)
	return errors.As(err, &e) && e.err == nil
}

// Text implements screen.Texter: "\ntry: …" stands at the beginning of a line
// because the program says so, and never because a file's name does.
func (e *Error) Text() screen.Text { return e.text }

func (e *Error) Error() string {
	if e.err == nil {
		return "the answer is no"
	}
	return e.err.Error()
}

func (e *Error) Unwrap() error { return e.err }

// noError: the work was done, and the answer is no.
func noError(format string, args ...any) error { return ErrorOf(No, format, args...) }

// answerNo makes an error of another package the answer no.
func answerNo(err error) error {
	if err == nil {
		return nil
	}
	return noError("%w", err)
}

// saidNo is noError when the result says it already.
func saidNo() error { return &Error{Kind: No} }

// usageError: what was asked for makes no sense.
func usageError(format string, args ...any) error { return ErrorOf(Usage, format, args...) }

// namedError is what is wrong with a file that the person named. One that is not
// there was named wrongly: that is a matter of usage, whichever command it is.
func namedError(format string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return usageError(format, err)
	}
	return environmentError(format, err)
}

// namedTable is what is wrong with a table that the person named. One that is not
// there, or that no table can be called, was named wrongly, as with files.
func namedTable(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*table.NoCampaignError)) || table.CheckSlug(name) != nil:
		return usageError("%w", err)
	}
	return environmentError("%w", err)
}

// environmentError: something is missing here.
func environmentError(format string, args ...any) error { return ErrorOf(Environment, format, args...) }

// noUnless is saidNo, unless the result says yes.
func noUnless(yes bool) error {
	if yes {
		return nil
	}
	return saidNo()
}
