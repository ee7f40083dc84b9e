// Package agent is the seam between Conclave and whoever answers: a real
// program in a locked room, an embedded party, a script, or a person.
//
// An Agent starts a Session for one role; a Session takes one message at a
// time and answers with a Turn, a stream of events that ends in a Reply.
// Everything an adapter learns goes on the record first (Spec.Emitter) and
// becomes an Event only then: what a caller has seen is recorded.
//
// The package holds words and contracts only. It starts no process: a Launcher
// does (package room implements it), so that no adapter can run a program
// outside the room it was given. agenttest is the suite that every adapter
// passes.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"path"
	"path/filepath"
	"time"

	"conclave/transcript"
)

// Agent starts sessions of one kind of program.
type Agent interface {
	// Adapter is the registered name that its entries bear.
	Adapter() string

	// Start begins a session. It returns when the session can take a
	// message. Cancelling ctx later does not end the session; Stop does.
	Start(ctx context.Context, spec Spec) (Session, error)
}

// Session is one continuous conversation with one agent. Its methods are not
// safe for concurrent use, except Stop, and Interrupt of a running Turn.
type Session interface {
	// Send delivers a message and begins a turn. The previous turn must have
	// ended. Cancelling ctx interrupts the turn: it then ends with an error
	// that wraps ctx.Err, and nothing of it runs on.
	Send(ctx context.Context, m Message) (Turn, error)

	// Info says what is running. It is complete after the first turn.
	Info() Info

	// Stop ends the session and everything it started, and returns when
	// nothing of it is left. It is idempotent. When ctx ends first, what is
	// left is killed at once.
	Stop(ctx context.Context) error
}

// Turn is the answer to one message, pulled by the caller.
type Turn interface {
	// Next returns the next event, in the order of the record. It returns
	// io.EOF after the last one; any other error ended the turn early.
	Next() (Event, error)

	// Reply is valid once Next has returned io.EOF.
	Reply() Reply
}

// Interrupter is a Turn that can be asked to stop early and still end in
// order, with what was said so far.
type Interrupter interface {
	Interrupt(ctx context.Context) error
}

// Event is something that happened within a turn. Exactly one of its fields
// is set.
type Event struct {
	// Entry was recorded.
	Entry *transcript.Entry
	// Delta is text that is being spoken, for a screen. It is not on the
	// record yet; the entry that holds the whole follows.
	Delta string
}

// Reply is the outcome of a turn.
type Reply struct {
	// Text is every text block of the answer, in order, joined by one blank
	// line: what a conversation file holds under the agent's name.
	Text string
	// Uses are the tools that the agent called, in order; not those of its
	// subagents.
	Uses []ToolUse
	// Structured is the answer to Message.Schema, nil when none was asked
	// for or none was given.
	Structured json.RawMessage
	Usage      transcript.Usage
	// Stopped says why the turn ended before the agent was done
	// ("interrupted", "turn limit", "output limit", "budget"); empty when it was
	// done.
	Stopped string
}

// ToolUse is a call of a tool within an answer.
type ToolUse struct {
	Name string // as the program spells it: "Bash", "mcp__room__roll"
	Said int    // how many bytes of Reply.Text had been said before it
}

// Message is what a session is sent.
type Message struct {
	Text string
	// Images are attached as they are; Type is a MIME type.
	Images []Image
	// Schema asks for a structured answer: a JSON schema.
	Schema json.RawMessage
}

// Image is a picture in a message.
type Image struct {
	Type string
	Data []byte
}

// Spec says how to run a session. The zero value of a field means the
// adapter's default.
type Spec struct {
	Role   string // who is playing: "cat", "dragon", "player"
	System string // instructions; never put on a command line

	Model  Model
	Tools  Tools
	Limits Limits
	// Login is the person's own, lent to a program that speaks to its vendor by
	// itself; Model then has neither an address nor a token. nil for none.
	Login *Login

	// Place is where a program lives, and Launcher starts it there.
	Place    Place
	Launcher Launcher
	// Agents that run in this process have no place: they read through Files
	// and hand in files through HandIn, under slash-separated names.
	Files  fs.FS
	HandIn func(name string, data []byte) error

	// Resume continues the session of this id; Fork leaves the old one as it
	// is and continues in a copy.
	Resume string
	Fork   bool
	// Past is what was said in that session, as the record has it, for agents
	// in this process, which keep no sessions of their own.
	Past []Exchange

	// Emitter takes every entry. Blobs, when it is set, takes bytes that are
	// evidence but no entries: a program's stdout, a request. An error of
	// either ends the turn: what cannot be recorded does not happen.
	Emitter *transcript.Emitter
	Blobs   BlobStore
}

// Exchange is a turn of a session that is resumed.
type Exchange struct {
	Told  string
	Calls []PastCall // of the room's tools, in order
	Said  string
	// Entries are those that its adapter recorded; nil when they are not known.
	Entries []transcript.Entry
}

// PastCall is a call of one of the room's tools.
type PastCall struct {
	Tool, Input string
	Ended       bool
	Result      string // what the agent was told at its end
}

// BlobStore keeps bytes of a named channel on the record.
type BlobStore interface {
	AppendBlob(channel string, data []byte) error
}

// Model says which model to ask and how to reach it.
type Model struct {
	Name    string
	BaseURL string // where the program finds the model, as seen from its Place
	Token   string // API key, or the room's token for the gateway
	// Dial reaches BaseURL for an agent that runs in this process: the very
	// gateway that a room would have. Nil for all others.
	Dial func(ctx context.Context) (net.Conn, error)
}

// Login is a person's credential and the way that it is used on. It goes into
// the program's room and nowhere else: no adapter records it, and none asks for
// text piece by piece where it was lent, so that what repeats it can be seen.
type Login struct {
	// Hosts are those of the vendor that the program has to reach.
	Hosts []string
	// Credential is what is lent, in the adapter's own form.
	Credential []byte
	// Secrets are the parts of it by which it is recognised.
	Secrets []string
	// Proxy is where the program finds the way to Hosts, as seen from its Place.
	Proxy string
}

// ProxyEnv are the variables that lead a program's TLS to the proxy, and its
// calls of the room's tools past it.
func (l *Login) ProxyEnv() []string {
	const own = "127.0.0.1,localhost"
	return []string{"HTTPS_PROXY=" + l.Proxy, "https_proxy=" + l.Proxy, "NO_PROXY=" + own, "no_proxy=" + own}
}

// Tools says what a session may use.
type Tools struct {
	// Builtin are the program's own tools by the adapter's names; nil means
	// none at all, AllTools means those of the program's default.
	Builtin []string
	// MCP are tool servers reached over HTTP.
	MCP []MCPServer
	// Caller serves the same tools to agents that run in this process, and
	// Offers says which they are.
	Caller ToolCaller
	Offers []ToolOffer
}

// ToolOffer is a tool that can be called.
type ToolOffer struct {
	Name, Description string
	Schema            json.RawMessage // of its input, an object
}

// ToolCaller runs one tool. An error is told to the agent as the tool's
// failure; it does not end the turn.
type ToolCaller interface {
	CallTool(ctx context.Context, name string, input json.RawMessage) (string, error)
}

// AllTools in Tools.Builtin stands for all tools that the program has.
const AllTools = "*"

// MCPServer is a tool server.
type MCPServer struct {
	Name  string
	URL   string
	Token string // sent as a bearer token
	Tools []string
}

// Limits bound a session; zero means no limit.
type Limits struct {
	Turns     int           // model calls within one Send
	BudgetUSD float64       // for the session
	Wall      time.Duration // for one Send
}

// Info says what is running.
type Info struct {
	Adapter   string
	Program   string // path of the program; empty for one in this process
	Version   string
	SessionID string
	PID       int // 0 for an agent in this process
	Model     string
	// Login says how the program pays: "api key", "login", or "".
	Login string
	// Unrecognised lists what the adapter met and did not know, for people.
	Unrecognised []string
}

// Place is the directory tree of a session, named as this process reaches it
// (Host) and as the started program sees it (Guest). Below it lie home, tmp,
// work and outbox.
type Place struct {
	Host  string
	Guest string
}

// The directories of a Place.
const (
	HomeDir   = "home"
	TempDir   = "tmp"
	WorkDir   = "work"
	OutboxDir = "outbox"
)

// OnHost joins elem to the tree as this process reaches it.
func (p Place) OnHost(elem ...string) string {
	return filepath.Join(append([]string{p.Host}, elem...)...)
}

// InGuest joins elem to the tree as the started program sees it.
func (p Place) InGuest(elem ...string) string {
	return path.Join(append([]string{filepath.ToSlash(p.Guest)}, elem...)...)
}

// Launcher starts a program in one room. It is the only door: an adapter
// starts nothing any other way.
type Launcher interface {
	Launch(ctx context.Context, c Command) (Process, error)
}

// Command is a program to start. Nothing is inherited: Env is the whole
// environment. Args never hold prompt text or a secret, because command lines
// are readable by other processes.
type Command struct {
	Path string   // absolute
	Args []string // without the program's name
	Env  []string
	Dir  string // as the program sees it
}

// Process is a running program, the leader of its own process group.
type Process interface {
	Stdin() io.WriteCloser
	Stdout() io.Reader
	Stderr() io.Reader
	PID() int

	// Stop goes down the ladder: close stdin, wait, TERM to the group, wait,
	// KILL, reap. It returns when no process of the group is left. It is
	// idempotent and safe to call while others read. When ctx ends it kills
	// at once.
	Stop(ctx context.Context) error

	// Done is closed when the program has ended; Err then says how.
	Done() <-chan struct{}
	Err() error
}

// ModelError is how a turn ended of which the program says that its model gave no
// answer. Where nobody sees what passes between the two, it is all that is known.
type ModelError interface {
	error
	HTTPStatus() int // that the program tells; 0: it tells none
}

// Errors that callers act on.
var (
	// ErrStopped is returned by Send after Stop, or when the program died.
	ErrStopped = errors.New("session has ended")
	// ErrBusy is returned by Send while a turn runs.
	ErrBusy = errors.New("a turn is still running")
)
