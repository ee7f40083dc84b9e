package app

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/collect"
	"conclave/config"
	"conclave/internal/jsontext"
	"conclave/record"
	"conclave/session"
	"conclave/session/claude"
	"conclave/transcript"
)

// Balance is the account of what was read of session files.
type Balance = collect.Balance

// Following is where session files are followed, and Collecting how far that is.
type (
	Following  struct{ Roots []string }
	Collecting struct{ Balance }
)

func (Following) isEvent()  {}
func (Collecting) isEvent() {}

// Follow is how session files are read.
type Follow struct {
	Adapter                         string // one of session.Names, or "" to find out
	MaxReadBytes                    int
	PollInterval, DiscoveryInterval time.Duration
	Once                            bool          // stop when everything that is there was read
	Idle                            time.Duration // stop when nothing new came for so long
	Quiet, NoRaw                    bool          // the log is without the transcript, or without raw
}

// DefaultFollow is what the transcript specification says.
func DefaultFollow() Follow {
	return Follow{MaxReadBytes: collect.DefaultMaxReadBytes, PollInterval: collect.DefaultPollInterval,
		DiscoveryInterval: collect.DefaultDiscoveryInterval}
}

// settle puts in what the person's own configuration says, where the command
// says nothing: what is as DefaultFollow has it.
func (f Follow) settle(s config.Stream) Follow {
	d := DefaultFollow()
	if f.PollInterval == d.PollInterval {
		f.PollInterval = cmp.Or(s.Poll, d.PollInterval)
	}
	if f.DiscoveryInterval == d.DiscoveryInterval {
		f.DiscoveryInterval = cmp.Or(s.Discovery, d.DiscoveryInterval)
	}
	if f.MaxReadBytes == d.MaxReadBytes {
		f.MaxReadBytes = cmp.Or(s.MaxReadBytes, d.MaxReadBytes)
	}
	f.Quiet, f.NoRaw = f.Quiet || s.Quiet, f.NoRaw || s.NoRaw
	return f
}

// Watch follows the session files below directories, or those of all programs,
// until ctx ends. The answer is no when something is not accounted for.
func (a *App) Watch(ctx context.Context, dirs []string, f Follow) (Balance, error) {
	o := collect.Options{Roots: session.DefaultRoots(a.Getenv), Hooks: true}
	if len(dirs) > 0 {
		o.Roots = nil
	}
	for _, dir := range dirs {
		path := a.AbsPath(dir)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return Balance{}, usageError("%s is a file: watch takes directories\ntry: conclave record import %[1]s", dir)
		}
		o.Roots = append(o.Roots, path)
	}
	stores := session.DefaultStores(a.Getenv)
	if len(dirs) > 0 {
		stores = o.Roots
	}
	spool := a.unfold(ctx, stores)
	if !f.Once {
		a.show(Following{o.Roots})
		if len(dirs) == 0 { // a program may make its store later
			spool = []string{a.stores().OwnSpool()}
		}
		defer a.keepUnfolding(ctx, stores)()
	}
	o.Roots = append(o.Roots, spool...)
	return a.collect(ctx, o, f)
}

// Import reads session files and those below directories to their end.
func (a *App) Import(ctx context.Context, paths []string, f Follow) (Balance, error) {
	var o collect.Options
	f.Once = true
	for _, name := range paths {
		path := a.AbsPath(name)
		info, err := os.Stat(path)
		if err != nil {
			return Balance{}, namedError("%w", err)
		}
		switch {
		case info.IsDir():
			o.Roots = append(o.Roots, path)
			o.Roots = append(o.Roots, a.unfold(ctx, []string{path})...)
		case session.IsStore(path):
			o.Roots = append(o.Roots, a.unfold(ctx, []string{path})...)
		default:
			o.Files = append(o.Files, path)
			// What a session keeps beside its file lies where its subagents do.
			o.Roots = append(o.Roots, a.unfold(ctx, []string{filepath.Dir(claude.Kind.Subagents(path))})...)
		}
	}
	return a.collect(ctx, o, f)
}

func (a *App) collect(ctx context.Context, o collect.Options, f Follow) (b Balance, err error) {
	if o.Workspace, err = a.rootToChange(); err != nil {
		return b, err
	}
	if err := a.Log.keepOutOf(o.Workspace); err != nil {
		return b, err
	}
	if err := a.makePrivate(o.Workspace); err != nil {
		return b, err
	}
	o.Program, o.Stream = "conclave "+a.Version, a.Log.to()
	o.StopWithin = 300 * time.Millisecond // a person who interrupts has waited enough
	if o.Adapter, err = adapterName(f.Adapter); err != nil {
		return b, err
	}
	own, err := a.ownConfig()
	if err != nil {
		return b, err
	}
	f = f.settle(own.StreamOf(config.Agent{}))
	a.Log.without("what is followed", f.Quiet, f.NoRaw)
	o.StreamQuiet, o.StreamNoRaw = f.Quiet, f.NoRaw
	if f.MaxReadBytes <= 0 || f.PollInterval < 0 || f.DiscoveryInterval < 0 || f.Idle < 0 {
		return b, usageError("intervals and sizes are above zero")
	}
	o.MaxReadBytes, o.PollInterval, o.DiscoveryInterval = f.MaxReadBytes, f.PollInterval, f.DiscoveryInterval
	o.Once, o.Idle = f.Once, f.Idle
	o.Progress = func(b Balance) { a.show(Collecting{b}) }
	c, err := collect.New(o)
	if err == nil {
		err = c.Run(ctx)
	}
	if err != nil {
		return b, environmentError("%w", err)
	}
	b = c.Balance()
	return b, noUnless(b.OK())
}

// Readers are the short names of the programs whose session files are read, in
// words.
func Readers() string {
	names := session.Names()
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// adapterName takes the short names of adapters, too.
func adapterName(name string) (string, error) {
	if name == "" || name == "auto" {
		return "", nil
	}
	if k := session.OfName(name); k != nil {
		return k.Adapter, nil
	}
	if k := session.OfAdapter(name); k != nil {
		return k.Adapter, nil
	}
	return "", usageError("no adapter %q reads session files: %s", name, Readers())
}

// Recorded is a record in a list.
type Recorded struct {
	record.Info
	Adapter    string    `json:"adapter,omitempty"`
	PromptName string    `json:"prompt_name,omitempty"`
	Session    string    `json:"session_id,omitempty"`
	Created    time.Time `json:"created,omitzero"`
	Fault      string    `json:"fault,omitempty"`
}

// Records are those of this workspace.
func (a *App) Records() ([]Recorded, error) {
	root, err := a.rootToRead()
	if err != nil {
		return nil, err
	}
	found, err := record.List(record.Dir(root))
	if a.Remote != nil {
		found, err = a.readable(root)
	}
	if err != nil {
		return nil, environmentError("%w", err)
	}
	list := []Recorded{}
	for _, info := range found {
		list = append(list, describeRecord(info))
	}
	return list, nil
}

// describeRecord reads how a record begins, and no more.
func describeRecord(info record.Info) Recorded {
	l := Recorded{Info: info}
	r, err := record.Open(info.Path)
	if err != nil {
		l.Fault = err.Error()
		return l
	}
	defer r.Close()
	if !r.Next() {
		l.Fault = "no header: the run never began"
		if r.Err() != nil {
			l.Fault = r.Err().Error()
		}
		return l
	}
	h := r.Header()
	if err := record.Named(info.Path, h); err != nil {
		l.Fault = err.Error()
	}
	l.Created, l.Adapter = h.Created, h.Attributes["adapter"]
	l.PromptName, l.Session = h.Attributes["prompt_name"], h.Attributes["session_id"]
	return l
}

// EntryPick is which entries of a record are wanted, all when it is empty.
type EntryPick struct {
	Types, Sources []string
	Follow         bool // go on as new ones are recorded, until the record is sealed
}

// Entry is one entry of a record, with the log record that it stands in.
type Entry struct {
	transcript.Entry
	Line []byte
}

// tailPoll is how often a record is looked at that is being written.
const tailPoll = 20 * time.Millisecond

// Entries are those of a record, in order. The end of ctx is no error.
func (a *App) Entries(ctx context.Context, id string, pick EntryPick) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		r, err := a.openRecord(id, pick)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		defer r.Close()
		next := r.Next
		if pick.Follow {
			next = func() bool { return r.Follow(ctx, nil, tailPoll) }
		}
		for next() {
			f := r.Frame()
			if f.Kind != record.KindLog || f.Withheld {
				continue
			}
			e, err := transcript.ParseEntry(f.Payload)
			if errors.Is(err, transcript.ErrOtherEvent) {
				continue
			}
			if err != nil {
				yield(Entry{}, noError("an entry is incomplete: %w", err))
				return
			}
			if among(pick.Types, string(e.Type)) && among(pick.Sources, e.Source) && !yield(Entry{e, f.Payload}, nil) {
				return
			}
		}
		if err := r.Err(); err != nil && !errors.Is(err, context.Canceled) {
			yield(Entry{}, noError("%s: %w", id, err))
		}
	}
}

func (a *App) openRecord(id string, pick EntryPick) (*record.Reader, error) {
	for _, t := range pick.Types {
		if !transcript.Type(t).Valid() {
			return nil, usageError("no entry type %q: %v", t, transcript.Types())
		}
	}
	root, err := a.rootToRead()
	if err != nil {
		return nil, err
	}
	path, err := a.recordFile(root, id)
	if err != nil {
		return nil, err
	}
	r, err := record.Open(path)
	if err != nil {
		return nil, environmentError("%w", err)
	}
	return r, nil
}

func among(list []string, s string) bool { return len(list) == 0 || slices.Contains(list, s) }

// Glimpse is what an entry says, in one short line.
func (e *Entry) Glimpse() string {
	var parts []string
	for _, key := range []string{"subtype", "name"} {
		if text, ok := jsontext.String(jsontext.Get(e.Detail, key)); ok && text != "" {
			parts = append(parts, "["+text+"]")
		}
	}
	text, ok := jsontext.String(jsontext.Get(e.Detail, "text"))
	if !ok {
		text = claude.Text(e.Detail)
	}
	if text = strings.Join(strings.Fields(text), " "); text != "" {
		if r := []rune(text); len(r) > 100 {
			text = string(r[:100]) + "…"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}
