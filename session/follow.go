package session

import (
	"fmt"
	"time"

	"conclave/internal/tail"
	"conclave/session/kind"
	"conclave/transcript"
)

// MaxLine is the length up to which a line is taken apart. A longer one comes
// in pieces, each an entry of type unknown, whatever it looks like: an entry
// cannot hold a gigabyte, nor this program many hundred megabytes. No agent's
// program writes such lines.
const (
	MaxLine   = 128 << 20
	PieceSize = 8 << 20
)

// linkWait is how long the lines of a subagent wait for the note that names
// its parent, and for the parent's line that holds the call; the program writes
// them together.
const linkWait = 500 * time.Millisecond

// Callers knows which source made a call that starts a subagent, by the call's
// id. The followers of one session share it.
type Callers map[string]string

// Follower is a session file that is being followed: what its lines are is
// told by the tail.File in it (Next, Line, Offset …), what they mean by Map.
// It is not safe for concurrent use.
type Follower struct {
	*tail.File
	Mapper kind.Mapper
	Depth  int // of a subagent, once it is linked

	file    File
	callers Callers
	remap   func() kind.Mapper
	since   time.Time
	linked  bool
}

// Follow follows a file of a session. since is when it was found. mapper makes
// the mapping of its lines; nil means that of its kind.
func Follow(f File, callers Callers, o tail.Options, since time.Time, mapper func() kind.Mapper) *Follower {
	if mapper == nil {
		mapper = func() kind.Mapper { return f.Kind.NewMapper(f, kind.Options{}) }
	}
	w := &Follower{File: tail.New(f.Path, o), file: f, callers: callers, remap: mapper, since: since}
	w.Restart()
	return w
}

// Restart forgets what the mapping has seen: the content of the file is begun
// anew.
func (w *Follower) Restart() {
	w.Mapper, w.linked = w.remap(), false
	_, _ = w.Link(false) // it is asked again before lines are read
}

// Link finds out where a subagent hangs, if it is one. It is false while that
// may still be written, and lines should wait; last says that nothing will be.
func (w *Follower) Link(last bool) (bool, error) {
	child, ok := w.Mapper.(kind.Child)
	if w.linked || !ok || w.file.Main() || w.file.Kind.Note == nil {
		return true, nil
	}
	late := last || time.Since(w.since) > linkWait
	note, ok, err := w.file.Kind.Note(w.file)
	if err != nil || !ok {
		return late || err != nil, err
	}
	w.Depth = note.Depth
	parent := note.Hangs(func(id string) string { return w.callers[id] })
	if parent.Source == "" && !late {
		return false, nil
	}
	child.SetParent(parent)
	w.linked = true
	return true, nil
}

// Map appends the items of the line that Next found.
func (w *Follower) Map(dst []transcript.Item) []transcript.Item {
	if w.Piece() {
		return AppendPiece(dst, w.file.Source, w.Line())
	}
	return w.MapLine(dst, w.Line())
}

// MapLine is Map for a line that was found earlier.
func (w *Follower) MapLine(dst []transcript.Item, line []byte) []transcript.Item {
	dst = w.Mapper.Append(dst, line)
	w.callers.Note(w.Mapper, w.file.Source)
	return dst
}

// Note takes up the calls of the line that was mapped last.
func (c Callers) Note(m kind.Mapper, source string) {
	if child, ok := m.(kind.Child); ok {
		child.Calls(func(id string) { c[id] = source })
	}
}

// AppendPiece appends the item of a piece of a line that is longer than MaxLine.
func AppendPiece(dst []transcript.Item, source string, piece []byte) []transcript.Item {
	detail := fmt.Appendf(nil, `{"bytes":%d,"subtype":"piece"}`, len(piece))
	return append(dst, transcript.Item{Type: transcript.Unknown, Source: source, Detail: detail, Raw: piece,
		Fault: "a piece of a line that is too long to be taken apart"})
}
