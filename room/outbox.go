package room

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"conclave/agent"
)

// What may come out of a room.
const (
	maxOutboxFiles = 256
	maxOutboxFile  = 8 << 20
	maxOutboxBytes = 32 << 20
)

// File is something that the program left in its outbox.
type File struct {
	Name string // below the outbox, slash-separated
	Data []byte
}

// TakeOutbox takes what the program left in its outbox: regular files within the
// caps. Everything else is named in the second result, with the reason. It
// follows no link out of the outbox, and leaves it empty: what the program puts
// there next is new.
func (r *Room) TakeOutbox() ([]File, []LeftOut, error) {
	root, err := os.OpenRoot(r.place.OnHost(agent.OutboxDir))
	if err != nil {
		return nil, nil, fmt.Errorf("read outbox: %w", err)
	}
	defer root.Close()
	o := &outbox{root: root}
	if err := o.walk("."); err != nil {
		return nil, nil, fmt.Errorf("read outbox: %w", err)
	}
	err = o.empty()
	return o.files, o.left, err
}

// empty removes everything.
func (o *outbox) empty() error {
	if o.seen == 0 {
		return nil
	}
	entries, err := readDir(o.root, ".")
	if err != nil {
		return fmt.Errorf("empty outbox: %w", err)
	}
	for _, e := range entries {
		if err := o.root.RemoveAll(e.Name()); err != nil {
			o.leave(e.Name(), "it cannot be removed: "+err.Error())
		}
	}
	return nil
}

type outbox struct {
	root  *os.Root
	files []File
	left  []LeftOut
	seen  int
	bytes int64
}

// errFull ends the walk: a program may have left more than anyone wants.
var errFull = errors.New("the outbox is full")

func (o *outbox) walk(dir string) error {
	err := o.dir(dir)
	if errors.Is(err, errFull) {
		o.leave(dir, fmt.Sprintf("more than %d entries or %d bytes", maxOutboxFiles, maxOutboxBytes))
		return nil
	}
	return err
}

func (o *outbox) dir(dir string) error {
	entries, err := readDir(o.root, dir)
	if err != nil {
		o.leave(dir, err.Error())
		return nil
	}
	for _, e := range entries {
		at := filepath.Join(dir, e.Name())
		if o.seen++; o.seen > maxOutboxFiles {
			return errFull
		}
		if e.IsDir() {
			if err := o.dir(at); err != nil {
				return err
			}
			continue
		}
		if err := o.take(at); errors.Is(err, errFull) {
			return err
		} else if err != nil {
			o.leave(at, err.Error())
		}
	}
	return nil
}

func (o *outbox) take(at string) error {
	fi, err := o.root.Lstat(at)
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() {
		return fmt.Errorf("is no regular file (%s)", fi.Mode().Type())
	}
	f, err := openSame(o.root, at, fi)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxOutboxFile+1))
	switch {
	case err != nil:
		return err
	case len(data) > maxOutboxFile:
		return fmt.Errorf("is larger than %d bytes", maxOutboxFile)
	case o.bytes+int64(len(data)) > maxOutboxBytes:
		return errFull
	}
	o.bytes += int64(len(data))
	o.files = append(o.files, File{Name: filepath.ToSlash(at), Data: data})
	return nil
}

func (o *outbox) leave(at, why string) {
	o.left = append(o.left, LeftOut{Path: path.Join(agent.OutboxDir, filepath.ToSlash(at)), Why: why})
}
