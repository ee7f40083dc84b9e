package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"conclave/internal/atomicfile"
)

// file is what a Writer needs of an operating-system file. Write appends.
// After an error of any of them nothing further is asked but Close.
type file interface {
	Write(p []byte) (int, error)
	Sync() error // data and size are durable when it returns nil
	Close() error
}

// osFile makes Sync the cheapest call that makes data and size durable.
type osFile struct{ *os.File }

func (f osFile) Sync() error { return dataSync(f.File) }

// makeDir creates dir and its missing parents (0700), and makes the new names
// durable: a synced file in a directory that vanishes is not durable.
func makeDir(dir string) error {
	var missing []string
	for d := dir; ; d = filepath.Dir(d) {
		_, err := os.Stat(d)
		if err == nil {
			break
		}
		if !errors.Is(err, os.ErrNotExist) || d == filepath.Dir(d) {
			return err
		}
		missing = append(missing, d)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, d := range missing {
		if err := atomicfile.SyncDir(filepath.Dir(d)); err != nil {
			return fmt.Errorf("sync directory: %w", err)
		}
	}
	return nil
}
