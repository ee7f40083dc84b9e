package quest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/policy"
)

// workLimits bound what may be named as work.
type workLimits struct {
	files int
	bytes int64 // all files together
}

var usualWork = workLimits{files: 20_000, bytes: 256 << 20}

// WorkFile is one file of the work, as it was when it was named.
type WorkFile struct {
	Path       string `json:"path"` // in the workspace, with forward slashes
	Size       int64  `json:"size"`
	SHA256     string `json:"sha256"`
	Executable bool   `json:"executable,omitempty"`
}

// LeftOut is something inside a named directory that does not go in.
type LeftOut struct {
	Path   string      `json:"path"`
	Kind   policy.Kind `json:"kind,omitempty"`
	Reason string      `json:"reason"`
}

// Work is the work product the person named: these files and no others.
type Work struct {
	Names   []string   `json:"names"` // as the person wrote them
	Files   []WorkFile `json:"files"`
	Bytes   int64      `json:"bytes"`
	LeftOut []LeftOut  `json:"leftOut,omitempty"`
	// Granted are keys and logins among the files, which the person granted.
	Granted []string `json:"granted,omitempty"`
	// Searched hears how many bytes the leak check has looked at; nil: nobody.
	Searched func(done, total int64) `json:"-"`

	root *os.Root
}

// WorkError lists everything that keeps named work from being taken.
type WorkError struct{ Problems []string }

func (e *WorkError) Error() string {
	return "take the work: " + strings.Join(e.Problems, "\ntake the work: ")
}

// OpenWork finds the files that paths and globs name inside the workspace,
// hashes them, and returns the list. It copies nothing. Engine files, .git and
// .campaign never go in; agents' context files and settings only when named as
// files; a link that leaves the named work, and anything that is neither file
// nor directory, is refused. Keys and logins go in if the person granted them by
// name. Close releases the workspace.
func OpenWork(workspace string, names []string, granted ...string) (*Work, error) {
	return openWork(workspace, names, usualWork, granted, asNamed)
}

// OpenTree is OpenWork for a directory that holds a commit and nothing else:
// there a link that leaves the work is left out, since whoever asks cannot take it
// away.
func OpenTree(dir string, names []string, granted ...string) (*Work, error) {
	return openWork(dir, names, usualWork, granted, ofCommit)
}

// OpenPast is OpenTree for what a commit held before: names that nothing there
// has stand for nothing, and there may be nothing at all.
func OpenPast(dir string, names []string, granted ...string) (*Work, error) {
	return openWork(dir, names, usualWork, granted, ofPast)
}

// WorkLimits are how many files and bytes may be named as work.
func WorkLimits() (files int, bytes int64) { return usualWork.files, usualWork.bytes }

// source is what work is taken from: files as the person named them, or a commit.
type source int

const (
	asNamed source = iota
	ofCommit
	ofPast
)

func openWork(workspace string, names []string, limits workLimits, granted []string, from source) (*Work, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, fmt.Errorf("take the work: open workspace: %w", err)
	}
	c := &collector{root: root, workspace: workspace, limits: limits, granted: granted, from: from,
		files: map[string]fs.FileInfo{}, via: map[string]string{}}
	w, err := c.collect(names)
	if err != nil {
		root.Close()
		return nil, err
	}
	return w, nil
}

// Close releases the workspace.
func (w *Work) Close() error {
	if w.root == nil {
		return nil
	}
	return w.root.Close()
}

// Copy writes a file's content to dst and fails if it is not what was listed:
// the evaluator judges the work that was named, not what became of it.
func (w *Work) Copy(f WorkFile, dst io.Writer) error {
	src, err := openRegular(w.root, f.Path)
	if err != nil {
		return fmt.Errorf("copy %s: %w", f.Path, err)
	}
	defer src.Close()
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(dst, h), io.LimitReader(src, f.Size+1))
	if err != nil {
		return fmt.Errorf("copy %s: %w", f.Path, cause(err))
	}
	if n != f.Size || hex.EncodeToString(h.Sum(nil)) != f.SHA256 {
		return fmt.Errorf("copy %s: %w", f.Path, errChanged)
	}
	return nil
}

func (w *Work) has(path string) bool {
	return slices.ContainsFunc(w.Files, func(f WorkFile) bool { return f.Path == path })
}

// Stamps are what must stand on a verdict about this work: which keys and
// logins were part of what was named and were withheld, and which the person
// granted.
func (w *Work) Stamps() []string {
	var out []string
	more := 0
	for _, l := range w.LeftOut {
		switch {
		case l.Kind != policy.Credentials:
		case len(out) == maxProblems:
			more++
		default:
			out = append(out, fmt.Sprintf("withheld from the work: %s: %s", oneLine(l.Path), l.Reason))
		}
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("withheld from the work: %d more keys and logins", more))
	}
	for _, p := range w.Granted {
		out = append(out, GrantedStamp(p))
	}
	return out
}

// GrantedStamp says what is in a room by the person's word alone.
func GrantedStamp(path string) string {
	return fmt.Sprintf("granted by the person, by name: %s (%s)", oneLine(path), policy.Credentials)
}

// Summary is one line for the person to read before the work goes in.
func (w *Work) Summary() string {
	text := fmt.Sprintf("%d files, %d bytes", len(w.Files), w.Bytes)
	if len(w.Files) == 1 {
		text = fmt.Sprintf("1 file, %d bytes", w.Bytes)
	}
	if n := len(w.LeftOut); n > 0 {
		text += fmt.Sprintf(", %d left out", n)
	}
	return text
}

// openRegular opens a file that is regular before and after opening, and the
// same both times: a link or a FIFO put in its place meanwhile is not read.
func openRegular(root *os.Root, name string) (*os.File, error) {
	real := filepath.FromSlash(name)
	before, err := root.Lstat(real)
	if err != nil {
		return nil, cause(err)
	}
	if before.Mode()&fs.ModeSymlink != 0 { // one that was found to stay inside the work
		if real, err = followInside(root, name); err != nil {
			return nil, err
		}
		if before, err = root.Lstat(filepath.FromSlash(real)); err != nil {
			return nil, cause(err)
		}
	}
	if !before.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := root.Open(real)
	if err != nil {
		return nil, cause(err)
	}
	after, err := f.Stat()
	if err != nil || !os.SameFile(before, after) {
		f.Close()
		return nil, errChanged
	}
	return f, nil
}

// list hashes what was collected, in the order of the paths.
func (c *collector) list(names []string) (*Work, error) {
	w := &Work{Names: names, LeftOut: c.leftOut, root: c.root}
	for _, p := range slices.Sorted(maps.Keys(c.files)) {
		info := c.files[p]
		f := WorkFile{Path: p, Size: info.Size(), Executable: info.Mode()&0o111 != 0}
		src, err := openRegular(c.root, p)
		if err != nil {
			return nil, &WorkError{[]string{fmt.Sprintf("%q: %v", p, err)}}
		}
		h := sha256.New()
		f.Size, err = io.Copy(h, src)
		src.Close()
		if err != nil {
			return nil, &WorkError{[]string{fmt.Sprintf("%q: %v", p, cause(err))}}
		}
		f.SHA256 = hex.EncodeToString(h.Sum(nil))
		w.Files = append(w.Files, f)
		w.Bytes += f.Size
		if policy.Grants(c.granted, p, false) && c.bareKind(p) == policy.Credentials {
			w.Granted = append(w.Granted, p)
		}
	}
	return w, nil
}

// refusal says why a path may never be work, whoever names it.
func (c *collector) refusal(rel string) string {
	switch c.kind(rel) {
	case policy.EnginePrivate:
		return "engine files never go in"
	case policy.GitDirectory:
		return ".git holds old versions of everything and never goes in"
	case policy.QuestFile, policy.QuestOther, policy.CouncilReport, policy.OtherProfile, policy.ConversationOther:
		return "the campaign's own files never go in"
	case policy.Credentials:
		return "keys and logins go in only if you grant them by name (--grant)"
	case policy.Unknown:
		return "not a plain path inside the workspace"
	}
	return ""
}

// onlyByName says why a path is left out unless it is named itself.
func (c *collector) onlyByName(rel string) string {
	switch c.kind(rel) {
	case policy.PartyContext:
		return "it describes the campaign to agents; name the file itself to put it in"
	case policy.AgentSettings:
		return "settings of agents; name the file itself to put it in"
	case policy.TableOther:
		return "a table's campaigns; name the directory itself to put it in"
	}
	return ""
}

func (c *collector) isTable(rel string) bool { return c.kind(rel) == policy.TableOther }

// kind is what policy says of a path, which may want to look into it. What the
// person granted by name counts as work.
func (c *collector) kind(rel string) policy.Kind {
	kind := c.bareKind(rel)
	if kind == policy.Credentials && policy.Grants(c.granted, rel, true) {
		return policy.Workspace
	}
	return kind
}

func (c *collector) bareKind(rel string) policy.Kind {
	return policy.ClassifyWorkspace(rel, func() (io.ReadCloser, error) { return openRegular(c.root, rel) })
}
