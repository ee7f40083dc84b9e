package room

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"conclave/agent"
)

// mask is something in a mounted view that is covered.
type mask struct {
	Path string `json:"path"` // below the view, slash-separated
	Dir  bool   `json:"dir"`
	Why  string `json:"-"`
}

// survey walks a project and finds what must be covered when it is mounted.
type survey struct {
	root   *os.Root
	rule   Rule
	limit  int
	masks  []mask
	hidden []string           // hidden directories and files, for their inodes
	linked map[inode][]string // visible files that have further names
	files  int
	bytes  int64
	sum    hash.Hash
}

// surveyView returns the masks of a mounted view and its entry in the
// manifest. A name that appears in a subdirectory after the survey is seen in
// the room, as any other change of the project is.
func surveyView(v View, limits Limits) ([]mask, Manifest, error) {
	root, err := os.OpenRoot(v.Source)
	if err != nil {
		return nil, Manifest{}, fmt.Errorf("workspace: %w", err)
	}
	defer root.Close()
	s := &survey{root: root, rule: v.Withheld, limit: limits.MaxFiles, linked: map[inode][]string{}, sum: sha256.New()}
	if err := s.walk("."); err != nil {
		return nil, Manifest{}, fmt.Errorf("workspace %s: %w", v.Source, err)
	}
	if err := s.coverLinks(); err != nil {
		return nil, Manifest{}, fmt.Errorf("workspace %s: %w", v.Source, err)
	}
	m := Manifest{Items: []Item{{Kind: "workspace", Path: path.Join(agent.WorkDir, v.Name), Size: s.bytes,
		SHA256: hex.EncodeToString(s.sum.Sum(nil)), Mounted: true, Files: s.files}}}
	for _, k := range s.masks {
		m.LeftOut = append(m.LeftOut, LeftOut{Path: path.Join(agent.WorkDir, v.Name, k.Path), Why: k.Why})
	}
	return s.masks, m, nil
}

func (s *survey) walk(dir string) error {
	entries, err := readDir(s.root, dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil // nor can the room read it
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		at := filepath.Join(dir, e.Name())
		if why := s.rule.ask(s.root, at, e.IsDir()); why != "" {
			s.cover(at, e, why)
			continue
		}
		if e.IsDir() {
			if err := s.walk(at); err != nil {
				return err
			}
			continue
		}
		if err := s.file(at, e); err != nil {
			return err
		}
	}
	return nil
}

// cover hides an entry. A symbolic link cannot be covered itself, so what it
// leads to is, if that is in the project: elsewhere it leads nowhere.
func (s *survey) cover(at string, e fs.DirEntry, why string) {
	s.hidden = append(s.hidden, at)
	if e.Type()&fs.ModeSymlink == 0 {
		s.masks = append(s.masks, mask{Path: filepath.ToSlash(at), Dir: e.IsDir(), Why: why})
		return
	}
	to, err := s.root.Readlink(at)
	if err != nil {
		return
	}
	target, err := resolve(s.root, filepath.Join(filepath.Dir(at), to), s.rule)
	if err != nil || target == "." {
		return // it leads out, nowhere, or to what is covered by itself
	}
	if fi, err := s.root.Lstat(filepath.FromSlash(target)); err == nil {
		s.masks = append(s.masks, mask{Path: target, Dir: fi.IsDir(), Why: "is what " + at + " leads to"})
	}
}

func (s *survey) file(at string, e fs.DirEntry) error {
	if s.files++; s.files > s.limit {
		return fmt.Errorf("has more than %d files (%w); raise the limit, or name a part of it", s.limit, ErrRefused)
	}
	fi, err := s.root.Lstat(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	s.bytes += fi.Size()
	fmt.Fprintf(s.sum, "%s\x00%d\x00%d\x00", filepath.ToSlash(at), fi.Size(), fi.ModTime().UnixNano())
	if id, n, ok := identity(fi); ok && n > 1 && e.Type().IsRegular() {
		s.linked[id] = append(s.linked[id], filepath.ToSlash(at))
	}
	return nil
}

// coverLinks covers visible files that are further names of hidden ones.
func (s *survey) coverLinks() error {
	if len(s.linked) == 0 {
		return nil
	}
	return s.eachHidden(s.hidden, func(fi fs.FileInfo) {
		id, _, _ := identity(fi)
		for _, at := range s.linked[id] {
			s.masks = append(s.masks, mask{Path: at, Why: "is another name of a file that enters no room"})
		}
		delete(s.linked, id)
	})
}

func (s *survey) eachHidden(names []string, do func(fs.FileInfo)) error {
	for _, at := range names {
		fi, err := s.root.Lstat(at)
		if err != nil {
			continue // it is covered whatever it is
		}
		if !fi.IsDir() {
			do(fi)
			continue
		}
		entries, err := readDir(s.root, at)
		if err != nil {
			return err
		}
		var below []string
		for _, e := range entries {
			below = append(below, filepath.Join(at, e.Name()))
		}
		if err := s.eachHidden(below, do); err != nil {
			return err
		}
	}
	return nil
}
