package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"conclave/table"
)

// Append is the intent to add an entry to a journal. The flow makes it durable
// before Do and marks it finished after; at recovery Do is called again and
// finds out by itself how far the last attempt came. The caller lets one
// goroutine at a time work on a journal.
type Append struct {
	Name   string `json:"name"` // file in party/
	Before int64  `json:"before"`
	Chunk  []byte `json:"chunk"`
	Hash   string `json:"hash"` // of the chunk
}

// Outcome says what Do found and did.
type Outcome string

const (
	Appended Outcome = "appended" // nothing was there; written
	Finished Outcome = "finished" // was there already; nothing written
	Mended   Outcome = "mended"   // a torn tail was cut, then written
	// Edited means that someone else changed the file meanwhile. Nothing was
	// written: plan again from the new content.
	Edited Outcome = "edited"
)

// tailLen is enough to know how a journal ends and which line ends it uses.
const tailLen = 4096

// PlanAppend reads the end of a journal and prepares an entry for it.
func PlanAppend(party *table.Dir, slug, name string, e Entry) (Append, error) {
	a := Append{Name: table.JournalFile(slug)}
	f, err := party.Open(a.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		a.Chunk = chunk(e, name, nil)
	case err != nil:
		return Append{}, err
	default:
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return Append{}, err
		}
		a.Before = info.Size()
		tail := make([]byte, min(a.Before, tailLen))
		if _, err := f.ReadAt(tail, a.Before-int64(len(tail))); err != nil && err != io.EOF {
			return Append{}, err
		}
		a.Chunk = chunk(e, name, tail)
	}
	a.Hash = table.Hash(a.Chunk)
	return a, nil
}

// Do appends the chunk in one write and syncs it, unless that has been done.
func (a Append) Do(party *table.Dir) (Outcome, error) {
	if table.Hash(a.Chunk) != a.Hash || len(a.Chunk) == 0 {
		return "", fmt.Errorf("append to party/%s: the intent is damaged", a.Name)
	}
	f, err := party.OpenToWrite(a.Name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	size, out, err := a.inspect(f)
	if err != nil || out == Finished || out == Edited {
		return out, err
	}
	if size > a.Before {
		if err := f.Truncate(a.Before); err != nil {
			return "", err
		}
	}
	if _, err := f.WriteAt(a.Chunk, a.Before); err != nil {
		return "", errors.Join(fmt.Errorf("append to party/%s: %w", a.Name, err), f.Truncate(a.Before))
	}
	if err := f.Sync(); err != nil {
		return "", err
	}
	if a.Before > 0 {
		return out, nil
	}
	return out, party.Sync() // its name is new
}

// inspect compares the file with the intent.
func (a Append) inspect(f *os.File) (size int64, out Outcome, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, "", err
	}
	size = info.Size()
	if size == a.Before {
		return size, Appended, nil
	}
	if size > a.Before {
		got := make([]byte, min(size-a.Before, int64(len(a.Chunk))))
		if _, err := f.ReadAt(got, a.Before); err != nil {
			return 0, "", err
		}
		switch {
		case bytes.Equal(got, a.Chunk):
			return size, Finished, nil
		case bytes.HasPrefix(a.Chunk, got):
			return size, Mended, nil
		}
	}
	// Someone changed what stood before. The entry may still be there whole.
	all, err := io.ReadAll(io.NewSectionReader(f, 0, size))
	if err != nil {
		return 0, "", err
	}
	if bytes.Contains(all, a.entry()) {
		return size, Finished, nil
	}
	return size, Edited, nil
}

// entry is the chunk without a header or the blank line before it. Lines that
// could open an entry are escaped in its text, so the first is the only one.
func (a Append) entry() []byte {
	i := bytes.Index(append([]byte("\n"), a.Chunk...), []byte("\n---"))
	return a.Chunk[max(i, 0):]
}
