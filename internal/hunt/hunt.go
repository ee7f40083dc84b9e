// Package hunt looks for a secret in everything that was left behind: the names
// and bytes of every file below some directories, the frames of records and what
// lies in zip and gzip files. It is for tests.
//
// The forms are those that the product itself looks for (gateway.Secrets: plain,
// escaped, in hexadecimal digits, in base64 wherever it begins), and beyond them
// base32, two bytes a letter, and backwards. A long secret is also looked for in
// pieces: a page of a database or a line that somebody cut may hold a part of it.
//
// The package decides nothing about what is allowed. A hunt that found no file
// is an error, for it shows nothing.
package hunt

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/gateway"
	"conclave/record"
)

// piece is how long a part of a secret is that is looked for by itself: nobody
// writes so many of its letters by chance.
const piece = 32

// Hunter knows what is looked for.
type Hunter struct {
	forms  *gateway.Secrets
	extras [][]byte
}

// New looks for secrets, of 16 letters and more.
func New(secrets ...string) *Hunter {
	h := &Hunter{}
	var all []string
	for _, s := range secrets {
		all = append(all, s)
		for i := 0; len(s) >= 2*piece && i+piece <= len(s); i += piece {
			all = append(all, s[i:i+piece])
		}
	}
	for _, s := range all {
		back := []byte(s)
		slices.Reverse(back)
		var wide []byte
		for i := range len(s) {
			wide = append(wide, s[i], 0)
		}
		letters := base32.StdEncoding.EncodeToString([]byte(s))
		h.extras = append(h.extras, back, wide, []byte(letters[:len(s)*8/5])) // the last one depends on what follows
	}
	h.forms = gateway.NewSecrets(all...)
	return h
}

// In says whether a text holds one.
func (h *Hunter) In(b []byte) bool {
	return h.forms.In(b) || slices.ContainsFunc(h.extras, func(f []byte) bool { return bytes.Contains(b, f) })
}

// Files are the places below some directories that hold one, each by its path,
// and how many files were looked into.
func (h *Hunter) Files(dirs ...string) (found []string, looked int, err error) {
	for _, dir := range dirs {
		before := looked
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if h.In([]byte(d.Name())) {
				found = append(found, path+": its name")
			}
			if !d.Type().IsRegular() {
				return nil
			}
			looked++
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			places, err := h.bytes(path, data)
			found = append(found, places...)
			return err
		})
		if err == nil && looked == before {
			err = errors.New("there is no file, so that nothing is shown")
		}
		if err != nil {
			return found, looked, fmt.Errorf("hunt in %s: %w", dir, err)
		}
	}
	return found, looked, nil
}

// frames looks into what a record holds.
func (h *Hunter) frames(name string, data []byte) (found []string, err error) {
	r := record.NewReader(bytes.NewReader(data))
	frames := 0
	for ; r.Next(); frames++ {
		if f := r.Frame(); h.In(f.Payload) {
			found = append(found, fmt.Sprintf("%s: frame %d: %.200q", name, f.Number, f.Payload))
		}
	}
	if err := r.Err(); err != nil || frames == 0 {
		return found, fmt.Errorf("%s: a record of %d frames: %w", name, frames, err)
	}
	return found, nil
}

// bytes looks into a file's bytes and into what is packed in them.
func (h *Hunter) bytes(name string, data []byte) (found []string, err error) {
	if h.In(data) {
		found = append(found, name)
	}
	switch {
	case strings.HasSuffix(name, record.Extension):
		places, err := h.frames(name, data)
		return append(found, places...), err
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return found, fmt.Errorf("%s: %w", name, err)
		}
		for _, f := range z.File {
			places, err := h.entry(name+": "+f.Name, f.Open)
			if found = append(found, places...); err != nil {
				return found, err
			}
		}
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
		places, err := h.entry(name+": unpacked", func() (io.ReadCloser, error) {
			return gzip.NewReader(bytes.NewReader(data))
		})
		return append(found, places...), err
	}
	return found, nil
}

func (h *Hunter) entry(name string, open func() (io.ReadCloser, error)) ([]string, error) {
	r, err := open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	found, err := h.bytes(name, data)
	if h.In([]byte(name)) {
		found = append(found, name+": its name")
	}
	return found, err
}
