package dice

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

func readSeed(path string) (Seed, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Seed{}, err
	}
	return parseSeed(strings.TrimSpace(string(data)))
}

func writeSeed(path string, seed Seed) error {
	if path == "" {
		return errors.New("a dice log needs a path for its seed")
	}
	return writeSynced(path, []byte(hex.EncodeToString(seed[:])+"\n"))
}

// writeSynced replaces a file: a reader sees the old or the new one, whole.
func writeSynced(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.new") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	syncDir(filepath.Dir(path))
	return nil
}

// syncDir makes a new name durable where the system can; Windows has no such call.
func syncDir(dir string) {
	if runtime.GOOS == "windows" {
		return
	}
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}

// readLine reads up to the first line feed.
func readLine(r io.Reader) ([]byte, error) {
	raw, err := bufio.NewReader(r).ReadBytes('\n')
	return bytes.TrimSuffix(raw, []byte("\n")), err
}
