// Package newer is the one refusal of files that a newer conclave has written:
// to read them as far as they look familiar would be to guess, and to write
// them would take from the newer one what this one does not know.
//
// Whoever reads a file that carries a version asks Check before anything else
// in it, its checksums included, and puts the file's name before the error. A
// command that ends in an *Error has changed nothing and exits with 3: what is
// missing here is the other program.
package newer

import (
	"fmt"
	"strconv"
)

// Error is a file, or a part of one, that is of a newer version.
type Error struct{ Version, Known string }

func (e *Error) Error() string {
	return fmt.Sprintf("it is of version %s, written by a newer conclave: use that one (this one knows %s); "+
		"nothing was changed", e.Version, e.Known)
}

// Check refuses a version above the one that is known.
func Check(version, known int) error {
	if version <= known {
		return nil
	}
	return &Error{strconv.Itoa(version), strconv.Itoa(known)}
}
