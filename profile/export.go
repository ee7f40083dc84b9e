package profile

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// NewPack makes a directory with the nine templates of a pack. The directory
// must not exist yet.
func NewPack(dir, theme string) error {
	name := filepath.Base(dir)
	if Slug(name) != name {
		return fmt.Errorf("make pack %q: a pack's name is lower case with hyphens, such as %q", name, "deep-sea")
	}
	if theme == "" {
		theme = title(name)
	}
	if Slug(theme) != name || checkName("theme", theme) != nil {
		return fmt.Errorf("make pack %s: the theme %q would make it %q; make the two agree", name, theme, Slug(theme))
	}
	files := map[string][]byte{}
	for _, a := range cast[:packSize] {
		files[a.ID+".md"] = template(a, theme)
	}
	return writeDir(dir, files)
}

// Export writes a pack's profiles to a new directory, or to a new .zip or
// .tar.gz that holds a directory of the pack's name.
func (p *Pack) Export(to string) error {
	files := map[string][]byte{}
	for _, q := range p.Profiles {
		files[q.Archetype+".md"] = q.Bytes()
	}
	if p.Origin == FromBuiltin {
		files["LICENSE.md"] = licence()
	}
	if !IsArchive(to) {
		return writeDir(to, files)
	}
	pack := packTar
	if strings.HasSuffix(strings.ToLower(to), ".zip") {
		pack = packZip
	}
	data, err := pack(p.Name, files)
	if err != nil {
		return fmt.Errorf("export %s: %w", p.Name, err)
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("export %s: %w", p.Name, err)
	}
	if _, err := f.Write(data); err != nil {
		f.Close()
		return fmt.Errorf("export %s: %w", p.Name, err)
	}
	return f.Close()
}

// writeDir makes a directory with files in it, or nothing at all.
func writeDir(dir string, files map[string][]byte) error {
	if exists(dir) {
		return fmt.Errorf("make %s: it is there already; choose another name", dir)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(tmp, name), data, 0o644); err != nil {
			return err
		}
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	return os.Rename(tmp, dir)
}

// order is the order of the files in an archive: the same pack, the same bytes.
func order(files map[string][]byte) []string {
	var names []string
	for _, a := range cast {
		if _, ok := files[a.ID+".md"]; ok {
			names = append(names, a.ID+".md")
		}
	}
	if _, ok := files["LICENSE.md"]; ok {
		names = append(names, "LICENSE.md")
	}
	return names
}

func packZip(dir string, files map[string][]byte) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range order(files) {
		f, err := w.Create(dir + "/" + name)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(files[name]); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

func packTar(dir string, files map[string][]byte) ([]byte, error) {
	var b bytes.Buffer
	gz := gzip.NewWriter(&b)
	w := tar.NewWriter(gz)
	for _, name := range order(files) {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: dir + "/" + name, Mode: 0o644, Size: int64(len(files[name]))}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(files[name]); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err := gz.Close()
	return b.Bytes(), err
}
