package room

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"conclave/agent"
)

// mask is something of a view that is withheld.
type mask struct {
	Path string // below the view, slash-separated
	Why  string
}

// look is what a survey saw of a project.
type look struct {
	masks  []mask
	files  int
	bytes  int64
	sum    string             // of the listing: path, size and time of each file
	mounts []string           // what other file systems are mounted at
	linked map[inode][]string // visible files that have further names
}

// surveyView finds what is withheld from a view, and makes its entry in the
// manifest. With a watch it is told of everything that changes from then on.
func surveyView(v View, limits Limits, w *watch) (look, Manifest, error) {
	root, err := os.OpenRoot(v.Source)
	if err != nil {
		return look{}, Manifest{}, fmt.Errorf("workspace: %w", err)
	}
	defer root.Close()
	s := &survey{root: root, rule: v.Withheld, limit: limits.MaxFiles, watch: w, workers: surveyors()}
	seen, err := s.whole()
	if err != nil {
		return look{}, Manifest{}, fmt.Errorf("workspace %s: %w", v.Source, err)
	}
	m := Manifest{Items: []Item{{Kind: "workspace", Path: path.Join(agent.WorkDir, v.Name), Size: seen.bytes,
		SHA256: seen.sum, Mounted: true, Files: seen.files}}}
	for _, k := range seen.masks {
		m.LeftOut = append(m.LeftOut, LeftOut{Path: path.Join(agent.WorkDir, v.Name, k.Path), Why: k.Why})
	}
	return seen, m, nil
}

// whole surveys the view from its root.
func (s *survey) whole() (look, error) {
	if err := s.run(task{dir: "."}); err != nil {
		return look{}, err
	}
	seen := s.sumUp()
	for _, at := range s.aliases {
		seen.masks = append(seen.masks, s.target(at)...)
	}
	further, err := s.furtherNames(seen.linked)
	seen.masks = append(seen.masks, further...)
	return seen, err
}

// sumUp puts together what was found in the directories, in their order.
func (s *survey) sumUp() look {
	slices.SortFunc(s.found, func(a, b *found) int { return cmp.Compare(a.dir, b.dir) })
	seen := look{linked: map[inode][]string{}}
	h := sha256.New()
	for _, f := range s.found {
		seen.files += f.files
		seen.bytes += f.bytes
		seen.masks = append(seen.masks, f.masks...)
		seen.mounts = append(seen.mounts, f.mounts...)
		s.aliases = append(s.aliases, f.aliases...)
		for _, m := range f.masks {
			s.withheld = append(s.withheld, m.Path)
		}
		for _, l := range f.linked {
			seen.linked[l.id] = append(seen.linked[l.id], l.path)
		}
		fmt.Fprintf(h, "%s\x00%s", f.dir, f.sum[:])
	}
	seen.sum = fmt.Sprintf("%x", h.Sum(nil))
	return seen
}

// target is what a withheld symbolic link leads to, if that is in the project
// and would be shown: the same content by another name.
func (s *survey) target(at string) []mask {
	to, err := s.root.Readlink(filepath.FromSlash(at))
	if err != nil {
		return nil
	}
	target, err := resolve(s.root, filepath.Join(filepath.Dir(filepath.FromSlash(at)), to), s.rule)
	if err != nil || target == "." {
		return nil // it leads out, nowhere, or to what is withheld by itself
	}
	return []mask{{Path: target, Why: "is what " + at + " leads to"}}
}

// furtherNames finds visible files that are further names of withheld ones.
func (s *survey) furtherNames(linked map[inode][]string) ([]mask, error) {
	if len(linked) == 0 {
		return nil, nil
	}
	var masks []mask
	err := s.eachWithheld(func(id inode) {
		for _, at := range linked[id] {
			masks = append(masks, mask{Path: at, Why: "is another name of a file that enters no room"})
		}
		delete(linked, id)
	})
	slices.SortFunc(masks, func(a, b mask) int { return strings.Compare(a.Path, b.Path) })
	return masks, err
}

// eachWithheld goes through the files that are withheld, as they are now.
func (s *survey) eachWithheld(do func(inode)) error {
	l, err := newLister(s.root, nil)
	if err != nil {
		return err
	}
	defer l.close()
	var below func(dir string) error
	below = func(dir string) error {
		entries, err := l.list(dir, false)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, e := range slices.Clone(entries) {
			if e.mode.IsDir() {
				if err := below(e.at); err != nil {
					return err
				}
				continue
			}
			do(e.id)
		}
		return nil
	}
	for _, at := range s.withheld {
		fi, err := s.root.Lstat(filepath.FromSlash(at))
		if err != nil {
			continue // it is absent whatever it is
		}
		if !fi.IsDir() {
			id, _, _ := identity(fi)
			do(id)
		} else if err := below(at); err != nil {
			return err
		}
	}
	return nil
}

// absentFrom lists what does not exist in the room: what is withheld, and the
// names that are kept even before anything has them.
func absentFrom(v View, masks []mask) []string {
	var all []string
	for _, m := range masks {
		all = append(all, m.Path)
	}
	none := func() (io.ReadCloser, error) { return nil, fs.ErrNotExist }
	for _, name := range v.Absent {
		// A directory may be shown for something below it that was granted.
		if v.Withheld(name, false, none) != "" && v.Withheld(name, true, none) != "" {
			all = append(all, name)
		}
	}
	set := map[string]bool{}
	for _, at := range all {
		set[at] = true
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(at string) bool {
		for dir := path.Dir(at); dir != "."; dir = path.Dir(dir) {
			if set[dir] {
				return true // with the directory that holds it
			}
		}
		return false
	})
}

// join is path.Join for a directory and a name in it.
func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}
