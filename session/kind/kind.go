// Package kind is what the readers of all programs' session files have in
// common: what such a file is, and what a mapping of its lines gives.
//
// A package per program (session/claude, session/codex) gives one Kind; package
// session has the table of them. It has words and no rules of its own.
package kind

import (
	"context"

	"conclave/transcript"
)

// Var is a variable that names a directory, and where the sessions are below it.
type Var struct{ Name, Sessions string }

// Kind is one program whose session files can be read.
type Kind struct {
	Adapter string // the registered name that its entries bear
	Name    string // the short one, of records and of sources in an archive

	// The program keeps its sessions in the directory Sessions, below the one
	// that the variable HomeVar names or HomeDir in the home directory.
	HomeVar, HomeDir, Sessions string
	// Vars are the variables of a program that asks several, in its order, in place
	// of HomeVar.
	Vars []Var

	// Gathers says that what is said may stand in earlier lines, piece by piece.
	Gathers bool

	// Archived is the directory beside Sessions into which the program moves
	// what a person puts away. "": it moves nothing.
	Archived string

	// Sniff says whether a line is one of this program's.
	Sniff func(line []byte) bool

	// Locate says what the file at path is, if its path tells; first reads
	// the first line for who needs it, and its error is passed on.
	Locate func(path string, first func() ([]byte, error)) (f File, told bool, err error)

	// SessionIn finds the session in how a file begins. Nil: its name tells.
	SessionIn func(start []byte) string

	// OwnerIn finds out whose a file is by how it begins, for files whose path
	// does not tell: the session's own id and the source within it, "" if it
	// does not say. Nil: it never does.
	OwnerIn func(start []byte) (session, source string)

	// Stamp tells of a line without its mapping when it was written, in
	// microseconds since 1970, and the model that it names; 0 and "" where it
	// does not say. Nil: only a mapping can tell.
	Stamp func(line []byte) (at int64, model string)

	// NewMapper returns the mapping for the lines of one file.
	NewMapper func(f File, o Options) Mapper

	// Starts are the tools with which the program starts a subagent.
	Starts []string

	// Threads reads on the first line of a file how its thread is called and which
	// other one started it. Nil: subagents have no sessions of their own.
	Threads func(line []byte) (name, parent string)

	// Note reads what the program notes beside the file of a subagent. It is
	// false as long as nothing is there. Nil: the program notes nothing.
	Note func(f File) (Note, bool, error)

	// Subagents is the directory for the files of the subagents of a main
	// file. Nil: each has a session of its own.
	Subagents func(main string) string

	// NewWords returns a reader of the words of entries by their type and
	// detail. It is not safe for concurrent use.
	NewWords func() func(dst []byte, typ transcript.Type, detail []byte) []byte

	// Free knows lines that have no part in what a session consumed, at a
	// glance, for who counts only that. Nil: any line may have.
	Free func(line []byte) bool

	// Memory is how many bytes before a line a mapping has to see to map it
	// as it did the first time; 0 means all of them.
	Memory int64

	// Store says, by its name, whether a file is one in which the program keeps
	// sessions, or a part of one, otherwise than in lines: a database, a file that
	// it rewrites, a text. Rows calls yield with each row of it, in order; nil: the
	// store is a file of the program's own lines, packed (Packed). Both are nil for
	// a program that writes lines only; see session/unfold.
	Store func(path string) bool
	Rows  func(ctx context.Context, path string, yield func(Row) error) error

	// Folded says that there are no files of lines but those of its stores.
	Folded bool
}

// Packed is how the name of a file of lines goes on once it is packed, by
// Zstandard.
const Packed = ".zst"

// Row is a row of a database, or an element of a file that is rewritten.
type Row struct {
	Session    string // to which it belongs
	Table, Key string // which row it is; there is one
	Directory  string // in which the session runs, where the row says so
	About      []byte // what other rows say that it takes to read this one; JSON
	Members    []byte // a JSON object on one line
}

// File is a session file: whose it is, and where its entries belong.
type File struct {
	Path    string
	Kind    *Kind
	Source  string // of its entries: transcript.Main or that of a subagent
	Session string // "" when the path does not tell
	Project string // the name of the directory that the session is about
	Dir     string // where the main file of the session lies
	Parent  string // the session that started this one, where each has its own file
	Named   bool   // the path tells whose it is: Session is the program's own name for it
	Beside  string // the name of a file that the session has beside its own, and that this one was made of
}

// Place tells the files of a session apart: the source of its entries, and for
// what lies beside the session's own files its name.
func (f File) Place() string {
	if f.Beside == "" {
		return f.Source
	}
	return f.Source + "/" + f.Beside
}

// ID is the session's identity (see package session), "" if the path does not
// tell.
func (f File) ID() string { return f.Kind.ID(f.Session, f.Source) }

// ID is the identity of a source of a session; "" without a session.
func (k *Kind) ID(session, source string) string {
	if session == "" {
		return ""
	}
	return k.Name + "/" + session + "/" + source
}

// Main says that the file is no subagent's.
func (f File) Main() bool { return f.Source == transcript.Main }

// Role is what the agent of the file is: "main", or as what it was started.
func (f File) Role() string {
	if f.Main() {
		return "main"
	}
	if f.Kind.Note != nil {
		if note, ok, err := f.Kind.Note(f); ok && err == nil && note.Role != "" {
			return note.Role
		}
	}
	return "subagent"
}

// Link says to the mapping of a subagent's file where it hangs, by its note and
// caller (see Note.Hangs). It is false when there is no note.
func (f File) Link(m Mapper, caller func(toolUseID string) string) (Note, bool) {
	child, ok := m.(Child)
	if !ok || f.Main() || f.Kind.Note == nil {
		return Note{}, false
	}
	note, ok, err := f.Kind.Note(f)
	if ok && err == nil {
		child.SetParent(note.Hangs(caller))
	}
	return note, ok && err == nil
}

// Options configure a mapping.
type Options struct {
	NoRaw bool // leave the raw bytes off

	// Reuse builds details in memory that the next call takes again: the items
	// are valid until then. For readers that pass items on at once.
	Reuse bool
}

// Mapper maps the lines of one file, in order. It is not safe for concurrent
// use. What Facts and Words tell is of the items that the last call of Append
// or Flush added, the first of which is 0.
type Mapper interface {
	// Append maps a line, given without its newline. The items share its
	// memory.
	Append(dst []transcript.Item, line []byte) []transcript.Item
	// Flush gives what was held back for a line that did not come.
	Flush() []transcript.Item
	// Unknown counts the entries of type unknown by name. The map is the
	// mapper's own.
	Unknown() map[string]int64

	// Time is that of the last line, in microseconds since 1970; 0 when it
	// bears none.
	Time() int64
	// Facts are what the item tells beside its words.
	Facts(item int) Facts
	// Words appends what the item says: what was said or thought, what a tool
	// was called with, what it gave back.
	Words(dst []byte, item int) []byte
}

// Facts are what an item of any program tells under the same names.
type Facts struct {
	Subtype      string
	Tool, ToolID string // of a tool call or its result
	Failed       bool

	Usage            *transcript.Usage // of one response of a model; nil: the item tells of none
	Model            string
	Message, Request string // ids of the response, "" where the program tells none
	// Back is how many lines before the last one the line stands of which the item
	// is, where it was held back for more of its response; At is that line's time.
	Back int
	At   int64

	Sum *Sum // nil: the item tells of none
}

// Sum is what a program itself has counted for a session since it began, the
// requests of its subagents among them, and those that stand in no line.
type Sum struct {
	Session string // as the program calls it
	// Started is when the program began to count, in milliseconds since 1970: a
	// session that takes up another's sums takes that up, too.
	Started int64
	Models  []ModelSum
}

// ModelSum is what it has counted of one model.
type ModelSum struct {
	Model string
	transcript.Usage
}

// Holder is a Mapper that holds items back for their place alone.
type Holder interface {
	// Holding says that there are some.
	Holding() bool
	// Due gives them, for who cannot wait for the next line.
	Due() []transcript.Item
}

// Child is a Mapper of a file that may be a subagent's.
type Child interface {
	// SetParent says where the subagent hangs.
	SetParent(Parent)
	// Calls calls note with the id of each call on the last line that may have
	// started a subagent.
	Calls(note func(id string))
}

// Parent is the place of a subagent in the tree of agents.
type Parent struct {
	Source    string // transcript.Main or the source of another subagent
	ToolUseID string // the tool call that started it
	Role      string // as what it was started, "" if that is not known
}

// Note is what a program notes beside a subagent's file.
type Note struct {
	Role      string // what kind of agent it is
	ToolUseID string
	Depth     int    // 1 for an agent that the main one started
	Parent    string // the source of its parent, where the program says so
}

// Hangs says where the subagent hangs. Where the program does not name the
// parent, callers tell which source made the tool call; "" from caller means
// that it is not known.
func (n Note) Hangs(caller func(toolUseID string) string) Parent {
	p := Parent{Source: n.Parent, ToolUseID: n.ToolUseID, Role: n.Role}
	if p.Source == "" && caller != nil {
		p.Source = caller(n.ToolUseID)
	}
	if p.Source == "" && n.Depth <= 1 {
		p.Source = transcript.Main
	}
	return p
}
