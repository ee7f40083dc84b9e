package acp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"conclave/internal/jsontext"
)

// Installation is how a program is started.
type Installation struct {
	Path   string   // the program itself, or the Node that runs it; absolute
	Script []string // of a program for Node: the arguments before its own
	Dirs   []string // what a room must show of it
}

// Named is the file that is the program.
func (i Installation) Named() string {
	if len(i.Script) > 0 {
		return i.Script[0]
	}
	return i.Path
}

// Locate finds out how the program at path is started. What npm installs under a
// name may be a script for Node that starts another program, which then is run
// without it, or one that is the program; node finds the Node for that.
func Locate(name, path string, node func() (string, error)) (Installation, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return Installation{}, fmt.Errorf("find %s: %w", name, err)
	}
	script, err := isScript(real)
	if err != nil {
		return Installation{}, fmt.Errorf("find %s: %w", name, err)
	}
	if !script {
		return Installation{Path: real, Dirs: []string{filepath.Dir(real)}}, nil
	}
	if p, err := find(name); err == nil {
		if native := p.behind(real); native != "" {
			return Installation{Path: native, Dirs: []string{filepath.Dir(native)}}, nil
		}
	}
	runs, err := node()
	if err == nil {
		runs, err = filepath.EvalSymlinks(runs)
	}
	if err != nil {
		return Installation{}, fmt.Errorf("find %s: %s is a program for Node: %w", name, real, err)
	}
	return Installation{Path: runs, Script: []string{real}, Dirs: []string{filepath.Dir(runs), modulesOf(real)}}, nil
}

// isScript says whether a file is a program for Node.
func isScript(file string) (bool, error) {
	f, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	var head [128]byte
	n, err := io.ReadFull(f, head[:])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return false, err
	}
	first, _, _ := bytes.Cut(head[:n], []byte{'\n'})
	switch filepath.Ext(file) {
	case ".js", ".mjs", ".cjs":
		return true, nil
	}
	return bytes.HasPrefix(first, []byte("#!")) && bytes.Contains(first, []byte("node")), nil
}

// behind is the native program that a script of npm's starts, "" when there is
// none.
func (p *program) behind(script string) string {
	for dir := filepath.Dir(script); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "package.json")); err == nil {
			for _, pattern := range p.native {
				found, _ := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern))) // the pattern is well formed
				for _, file := range found {
					if script, err := isScript(file); err == nil && !script {
						return file
					}
				}
			}
			return ""
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// modulesOf is what a program for Node loads from: the outermost directory of
// modules that holds it, or its own.
func modulesOf(script string) string {
	const modules = "node_modules"
	if i := strings.Index(script, string(filepath.Separator)+modules+string(filepath.Separator)); i >= 0 {
		return script[:i+1+len(modules)]
	}
	return filepath.Dir(script)
}

// Version is what the package says in which npm installed a program, "" for one
// that came another way: nothing is started to find out.
func Version(path string) string {
	dir, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	for range 5 {
		dir = filepath.Dir(dir)
		f, err := os.Open(filepath.Join(dir, "package.json"))
		if err != nil {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(f, maxManifest))
		f.Close()
		if version := jsontext.Text(jsontext.Get(text, "version")); err == nil && version != "" {
			return version
		}
	}
	return ""
}

const maxManifest = 1 << 20
