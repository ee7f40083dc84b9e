//go:build linux || darwin

package room

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"time"
)

// attempt is one thing that a room holds back. do returns nil when it was
// possible.
type attempt struct {
	name   string
	where  string // who shows the control
	sealed need
	fenced need
	do     func(*terrain) error
}

// need says what an attempt means for a level.
type need int

const (
	none need = iota // not tried
	may              // tried, and reported as a gap if it is possible
	must             // has to be impossible
)

// needed is what a level has to show.
func needed(list []attempt, l Level) []wanted {
	var w []wanted
	for _, a := range list {
		n := a.sealed
		if l == Fenced {
			n = a.fenced
		}
		if n != none {
			w = append(w, wanted{a.name, a.where, n == must})
		}
	}
	return w
}

// try makes the named attempts. A name that is not known stays without an
// outcome, which the parent takes for a refusal.
func try(list []attempt, names []string, t *terrain) outcomes {
	out := outcomes{}
	for _, a := range list {
		if !slices.Contains(names, a.name) {
			continue
		}
		out[a.name] = done
		if err := a.do(t); err != nil {
			out[a.name] = err.Error()
		}
	}
	return out
}

var errOther = errors.New("found something else there")

// readToken reads a file that must hold the token.
func readToken(path, token string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Contains(b, []byte(token)) {
		return errOther
	}
	return nil
}

func readOutside(t *terrain) error { return readToken(t.file(), t.Token) }
func statOutside(t *terrain) error {
	_, err := os.Lstat(t.file())
	return err
}

func listOutside(t *terrain) error {
	_, err := os.ReadDir(t.Dir)
	return err
}

func writeOutside(t *terrain) error {
	f, err := os.CreateTemp(t.Dir, "written-")
	if err != nil {
		return err
	}
	return f.Close()
}

func chmodOutside(t *terrain) error { return os.Chmod(t.file(), 0o640) }

func utimeOutside(t *terrain) error {
	when := time.Unix(1_000_000_000, 0)
	return os.Chtimes(t.file(), when, when)
}
