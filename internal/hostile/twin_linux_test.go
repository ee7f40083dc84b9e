package hostile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// prepare changes quest.md for a command that needs another phase, where it
// can be changed.
func (s *stage) prepare(l line) error {
	path := filepath.Join(s.ws, filepath.FromSlash(quest))
	where, err := filepath.EvalSymlinks(path)
	if l.quest == "" || err != nil || where != path {
		return nil
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 || info.Mode().Perm() == 0 {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, bytes.Replace(data, []byte("phase: 3"), []byte(l.quest), 1), 0o644)
}

// twinKey names what a command does in a twin.
func twinKey(uid int, w Workspace, command string) string {
	return fmt.Sprintf("%d/%s/%s", uid, w.Twin, command)
}

// inTwin runs commands in the twin of a workspace, once for all workspaces
// that have the same, and notes what each opened.
func (m *matrix) inTwin(s *stage, w Workspace, commands []string) {
	made := false
	for _, c := range commands {
		m.mu.Lock()
		_, known := m.twins[twinKey(s.uid, w, c)]
		if !known {
			m.twins[twinKey(s.uid, w, c)] = nil // somebody is at it
		}
		m.mu.Unlock()
		if known {
			continue
		}
		err := error(nil)
		if !made {
			made, err = true, s.set(w, true)
		}
		var opened map[string]bool
		if err == nil {
			opened, err = s.watched(w, c)
		}
		if err != nil {
			m.t.Errorf("the twin of %s, %s: %v", w.Name, c, err)
			continue
		}
		m.mu.Lock()
		m.twins[twinKey(s.uid, w, c)] = opened
		m.mu.Unlock()
	}
}

// watched runs a command in a twin and returns what it opened, or nothing if
// it did not get to its work.
func (s *stage) watched(w Workspace, command string) (map[string]bool, error) {
	watch, err := newWatch(s.ws)
	if err != nil {
		return nil, err
	}
	defer watch.close()
	r, err := s.command(w, command)
	if err != nil {
		return nil, err
	}
	opened := watch.opened()
	faults, changes := s.judge(r)
	if len(faults) > 0 {
		return nil, fmt.Errorf("exit %d: %s", r.code, faults[0])
	}
	err = s.mend(w, true, changes)
	if os.Getenv("CONCLAVE_MATRIX") != "" {
		fmt.Printf("twin %q %s: exit %d, opened %d, %s, %d MB\n%s\n", w.Twin, command, r.code, len(opened), r.took, r.resident>>10,
			tail(r.output))
	}
	if r.code != 0 && r.code != 1 && !r.shown {
		return nil, err
	}
	return opened, err
}

// reaches says whether a command, in the twin, opens the place of the hostile
// element.
func (m *matrix) reaches(uid int, w Workspace, command string) bool {
	opened := m.twins[twinKey(uid, w, command)]
	for _, place := range w.Touches {
		if opened[place] {
			return true
		}
		for name := range opened {
			if strings.HasSuffix(place, "/") && strings.HasPrefix(name+"/", place) {
				return true
			}
		}
	}
	return false
}

// watch sees what is opened below a directory.
type watch struct {
	fd   int
	root string
	dirs map[int32]string
}

func newWatch(root string) (*watch, error) {
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	if err != nil {
		return nil, err
	}
	w := &watch{fd: fd, root: root, dirs: map[int32]string{}}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		id, err := syscall.InotifyAddWatch(fd, path, syscall.IN_OPEN|syscall.IN_ONLYDIR)
		w.dirs[int32(id)], _ = filepath.Rel(root, path)
		return err
	})
	w.opened() // the walk itself
	return w, err
}

func (w *watch) close() { syscall.Close(w.fd) }

// opened are the paths that were opened, from the root on.
func (w *watch) opened() map[string]bool {
	paths := map[string]bool{}
	buffer := make([]byte, 1<<20)
	for {
		n, err := syscall.Read(w.fd, buffer)
		if n <= 0 || err != nil {
			return paths
		}
		for b := buffer[:n]; len(b) >= syscall.SizeofInotifyEvent; {
			id, size := int32(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint32(b[12:])
			name := string(bytes.TrimRight(b[syscall.SizeofInotifyEvent:syscall.SizeofInotifyEvent+size], "\x00"))
			paths[filepath.ToSlash(filepath.Join(w.dirs[id], name))] = true
			b = b[syscall.SizeofInotifyEvent+size:]
		}
	}
}
