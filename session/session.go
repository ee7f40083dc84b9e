package session

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/jsontext"
	"conclave/session/acp"
	"conclave/session/claude"
	"conclave/session/cline"
	"conclave/session/codex"
	"conclave/session/copilot"
	"conclave/session/gemini"
	"conclave/session/kind"
	"conclave/session/opencode"
	"conclave/session/qwen"
	"conclave/transcript"
	"conclave/workspace"
)

// kinds are the programs whose files are read. Of a line that two of them know
// the last one has it: the lines of those behind claude are told apart more
// sharply.
var kinds = []*kind.Kind{claude.Kind, codex.Kind, acp.Kind, gemini.Kind, qwen.Kind, copilot.Kind,
	opencode.Kind, opencode.Kilo, cline.Kind}

// Names are the short names of the programs whose files are read.
func Names() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	return names
}

// OfAdapter is the kind whose entries bear that name; nil when there is none.
func OfAdapter(adapter string) *kind.Kind {
	if adapter == nobody.Adapter {
		return nobody
	}
	for _, k := range kinds {
		if k.Adapter == adapter {
			return k
		}
	}
	return nil
}

// OfName is the kind of that short name; nil when there is none.
func OfName(name string) *kind.Kind {
	for _, k := range kinds {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// StartsAgent says whether some program starts a subagent by a tool of that name.
func StartsAgent(tool string) bool {
	return slices.ContainsFunc(kinds, func(k *kind.Kind) bool { return slices.Contains(k.Starts, tool) })
}

// DefaultRoots are where the programs keep their sessions: below the
// directories that their variables name, or the home directory. Where neither is
// known there are none: a relative directory would be the workspace's.
func DefaultRoots(getenv func(string) string) (roots []string) {
	for _, k := range kinds {
		dir := directory(k, getenv)
		if dir == "" || k.Folded {
			continue
		}
		roots = append(roots, dir)
		if k.Archived != "" {
			roots = append(roots, archived(k, dir))
		}
	}
	return roots
}

// directory is where a program keeps its sessions; "" where that is not known.
func directory(k *kind.Kind, getenv func(string) string) string {
	if k.Sessions == "" {
		return ""
	}
	for _, v := range variables(k) {
		if dir := getenv(v.Name); dir != "" {
			return filepath.Join(dir, filepath.FromSlash(v.Sessions))
		}
	}
	home := getenv("HOME")
	if home == "" {
		home = getenv("USERPROFILE")
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, filepath.FromSlash(k.HomeDir), filepath.FromSlash(k.Sessions))
}

// archived is where the program of the directory dir moves what is put away.
func archived(k *kind.Kind, dir string) string { return filepath.Join(filepath.Dir(dir), k.Archived) }

func variables(k *kind.Kind) []kind.Var {
	if k.HomeVar == "" {
		return k.Vars
	}
	return []kind.Var{{Name: k.HomeVar, Sessions: k.Sessions}}
}

// Variables are the names of those that say where programs keep their sessions.
func Variables() (names []string) {
	for _, k := range kinds {
		for _, v := range variables(k) {
			if !slices.Contains(names, v.Name) {
				names = append(names, v.Name)
			}
		}
	}
	return names
}

// SniffLines is how many lines of a file may be damaged, or say nothing, before
// the first one that tells whose it is.
const SniffLines = 8

// Sniff says whose a line is; nil when it is nobody's.
func Sniff(line []byte) *kind.Kind {
	for i := len(kinds) - 1; i >= 0; i-- {
		if kinds[i].Sniff(line) {
			return kinds[i]
		}
	}
	return nil
}

// The words of package kind.
type (
	// File is a session file.
	File = kind.File
	// Options say how its lines are mapped.
	Options = kind.Options
	// Mapper maps its lines.
	Mapper = kind.Mapper
	// Holder is a Mapper that holds items back for their place.
	Holder = kind.Holder
	// Facts are what an item tells beside its words.
	Facts    = kind.Facts
	Sum      = kind.Sum
	ModelSum = kind.ModelSum
)

// Errors of Identify.
var (
	// ErrNotYet: its first line has to come first.
	ErrNotYet = errors.New("it has no line yet")
	// ErrNoSession: nothing in it looks like an agent's session.
	ErrNoSession = errors.New("not a session file of a known agent")
)

// Identify finds out what the file at path is. adapter, when it is not "",
// decides whose it is. Only a file whose path does not tell is looked into;
// any says that it is taken whatever it holds. With ErrNotYet comes what is
// known so far, with the kind of Unnamed if nothing is.
func Identify(path, adapter string, any bool) (File, error) {
	f, told, err := locate(path, adapter)
	if told {
		return f, err
	}
	if real, ok := linked(path); ok {
		if f, told, err := locate(real, adapter); told { // by another name it is the same session
			f.Path = path
			return f, err
		}
	}
	f = Unnamed(path, OfAdapter(adapter))
	if adapter == "" {
		line, err := firstLine(path)
		if err != nil {
			return f, err
		}
		k := Sniff(line)
		if k == nil && !any {
			return f, ErrNoSession
		}
		if k == nil {
			if k, err = sniffOn(path); err != nil {
				return f, err
			}
		}
		f = Unnamed(path, k)
	}
	return f, nil
}

// locate finds out whose the file at path is by its path.
func locate(path, adapter string) (f File, told bool, err error) {
	first := func() ([]byte, error) { return firstLine(path) }
	for i := len(kinds) - 1; i >= 0; i-- {
		k := kinds[i]
		if adapter != "" && adapter != k.Adapter {
			continue
		}
		if f, told, err := k.Locate(path, first); told {
			f.Kind, f.Named = k, true
			return f, true, err
		}
	}
	return f, false, nil
}

// sniffOn looks for a line that tells whose the file is, behind the first one.
func sniffOn(path string) (*kind.Kind, error) {
	f, err := workspace.OpenNamed(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(io.LimitReader(f, maxFirst), 16<<10)
	for range SniffLines {
		line, err := r.ReadBytes('\n')
		if k := Sniff(line); k != nil {
			return k, nil
		}
		if err == io.EOF {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// linked is the file that path is a link to.
func linked(path string) (string, bool) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		return "", false
	}
	real, err := filepath.EvalSymlinks(path)
	return real, err == nil
}

// Of is the file at path, of which it is known that it is of kind k: what its
// path tells, or else its name.
func Of(path string, k *kind.Kind) File {
	f, err := Identify(path, k.Adapter, true)
	if f.Session == "" && k.SessionIn == nil || err != nil && !f.Named {
		f.Session = strings.TrimSuffix(filepath.Base(path), ".jsonl")
	}
	return f
}

// Unnamed is a file whose path does not tell what it is. Without a kind it is
// nobody's.
func Unnamed(path string, k *kind.Kind) File {
	if k == nil {
		k = nobody
	}
	dir := filepath.Dir(path)
	return File{Path: path, Kind: k, Source: transcript.Main, Dir: dir, Project: filepath.Base(dir)}
}

// maxFirst bounds how much of a first line is looked at: a longer one is not taken
// apart either.
const maxFirst = MaxLine

// firstLine reads the first line that is not empty.
func firstLine(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, ErrNoSession
	}
	f, err := workspace.OpenNamed(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(io.LimitReader(f, maxFirst), 16<<10)
	for {
		line, err := r.ReadBytes('\n')
		if text := bytes.TrimSpace(line); len(text) > 0 && (err == nil || jsontext.Valid(text) || len(line) == maxFirst) {
			return text, nil
		}
		if err != nil {
			return nil, ErrNotYet
		}
	}
}
