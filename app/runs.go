package app

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/archive"
	"conclave/archive/export"
	"conclave/archive/runs"
	"conclave/archive/search"
)

// What a page reads of runs.
type (
	RunIndex  = runs.Columns
	RunPart   = runs.Part
	RunWindow = runs.Window
	RunEntry  = runs.Entry
	RunFacets = runs.Facets
)

// Library is what is recorded, held open for a face that reads on and on: one
// handle on the person's archive, and what is known of its runs. It shows what
// the archive holds; Live keeps it fresh. Its methods are safe for concurrent use.
type Library struct {
	app     *App
	archive *archive.Archive
	shelf   *runs.Shelf
	marks   *marksFile
	places  *places

	mu      sync.Mutex
	uploads []*uploaded
	space   *uploadSpace
	closed  bool
}

// OpenLibrary opens the archive as it is. It takes up nothing.
func (a *App) OpenLibrary(ctx context.Context, at ArchiveAt) (*Library, error) {
	if a.Remote != nil {
		return nil, personsOwn("to read the whole archive")
	}
	x, err := a.archiveIn(at)
	if err != nil {
		return nil, err
	}
	l := &Library{app: a, archive: x, shelf: runs.New(x), marks: a.marksFile(), places: &places{app: a},
		space: newUploadSpace(uploadBounds{})}
	if _, err := l.shelf.Update(ctx); err != nil {
		return nil, environmentError("%w", errors.Join(err, x.Close()))
	}
	return l, nil
}

// Close ends the library. What was uploaded is gone then.
func (l *Library) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	errs := []error{l.archive.Close()}
	for _, u := range l.uploads {
		errs = append(errs, u.close())
	}
	l.uploads, l.closed = nil, true
	return errors.Join(errs...)
}

// RunFilter chooses runs; its zero value chooses all.
type RunFilter struct {
	Text, State, Project, Agent, Role, Kind string
	Since, Until                            string // 2d, 2026-02-18
	Starred                                 bool
	Sort                                    string // last, began, entries, tokens, cost, title, project; - turns it round
	From, N                                 int
}

// ListedRun is a run in a list, with what the person noted of it.
type ListedRun struct {
	runs.Run
	Starred bool `json:"starred"`
	Pins    int  `json:"pins"`
}

// RunList is a part of a list of runs.
type RunList struct {
	Total int         `json:"total"`
	From  int         `json:"from"`
	Items []ListedRun `json:"items"`
}

// Runs lists runs, those with the latest entries first.
func (l *Library) Runs(ctx context.Context, f RunFilter) (RunList, error) {
	now := time.Now()
	filter := runs.Filter{Text: f.Text, Project: f.Project, Agent: f.Agent, Role: f.Role, Kind: f.Kind,
		State: runs.State(f.State), Sort: f.Sort, From: f.From, N: f.N}
	var err error
	if filter.Since, err = pointInTime("since", f.Since); err != nil {
		return RunList{}, err
	}
	if filter.Until, err = pointInTime("until", f.Until); err != nil {
		return RunList{}, err
	}
	marks, err := l.Marks()
	if err != nil {
		return RunList{}, err
	}
	if f.Starred {
		filter.Only = marks.starred()
	}
	if filter.Also, err = l.uploadedRuns(ctx, filter, now); err != nil {
		return RunList{}, environmentError("%w", err)
	}
	list, err := l.shelf.List(ctx, filter, now)
	if errors.Is(err, runs.ErrSort) {
		return RunList{}, usageError("sort: %w", err)
	}
	if err != nil {
		return RunList{}, environmentError("%w", err)
	}
	out := RunList{list.Total, list.From, []ListedRun{}}
	for _, r := range list.Items {
		out.Items = append(out.Items, marks.listed(r))
	}
	return out, nil
}

// RunFacets counts runs by project, agent, role, kind and state.
func (l *Library) RunFacets(ctx context.Context) (RunFacets, error) {
	now := time.Now()
	also, err := l.uploadedRuns(ctx, runs.Filter{}, now)
	if err != nil {
		return RunFacets{}, environmentError("%w", err)
	}
	f, err := l.shelf.Facets(ctx, now, also)
	if err != nil {
		return f, environmentError("%w", err)
	}
	return f, nil
}

// RunHead is what is to be known of a run before its entries are read.
type RunHead struct {
	ListedRun
	runs.Head
	Resume    string `json:"resume,omitempty"` // a command that goes on with it
	Knowledge bool   `json:"knowledge"`        // a record says who was allowed to know what
	Pins      []Pin  `json:"pins"`
	Seen      *int   `json:"seen"` // how many of its entries the person has seen; nil: never looked at
	Uploaded  bool   `json:"uploaded,omitempty"`
	// Window is some of its entries; RunAt says which.
	Window *RunWindow `json:"window,omitempty"`
}

// Run is one run.
func (l *Library) Run(ctx context.Context, id string) (RunHead, error) {
	shelf, name, sheet, err := l.find(ctx, id)
	if err != nil {
		return RunHead{}, err
	}
	r, _, err := shelf.One(ctx, name, time.Now())
	var head runs.Head
	if err == nil {
		head, err = shelf.Head(ctx, sheet)
	}
	if err != nil {
		return RunHead{}, environmentError("%w", err)
	}
	marks, err := l.Marks()
	if err != nil {
		return RunHead{}, err
	}
	r.ID, r.Entries = id, sheet.Total()
	out := RunHead{ListedRun: marks.listed(r), Head: head, Uploaded: shelf != l.shelf}
	out.Pins = slices.DeleteFunc(marks.Pins, func(p Pin) bool { return p.Run != id })
	if n, ok := marks.Seen[id]; ok {
		out.Seen = &n
	}
	out.Knowledge = r.Kind == runs.KindSeat || r.Kind == runs.KindGate || r.Kind == runs.KindTable
	if !out.Uploaded {
		out.Resume = resumeCommand(r.Agent, r.Project, r.Session)
	}
	return out, nil
}

// find is the shelf on which a run stands, its name there, and its places.
func (l *Library) find(ctx context.Context, id string) (*runs.Shelf, string, *runs.Sheet, error) {
	shelf, name := l.shelfOf(id)
	sheet, err := shelf.Sheet(ctx, name)
	if err != nil {
		return nil, "", nil, environmentError("%w", err)
	}
	if sheet == nil {
		return nil, "", nil, ErrNoRun
	}
	return shelf, name, sheet, nil
}

// RunAt is a run with some of its entries: those among which the given one is, or
// where the person has left off, by pieces of so many.
func (l *Library) RunAt(ctx context.Context, id string, at *int, piece int) (RunHead, error) {
	head, err := l.Run(ctx, id)
	if err != nil {
		return head, err
	}
	place := 0
	switch {
	case at != nil:
		place = *at
	case head.Seen != nil:
		place = *head.Seen + 1
	}
	w, err := l.RunEntries(ctx, id, place/piece*piece, piece)
	head.Window = &w
	return head, err
}

// ErrNoRun: the archive knows no such run.
var ErrNoRun = usageError("there is no such run in the archive")

// ErrNoEntry: the run has no entry of that number.
var ErrNoEntry = usageError("the run has no such entry")

// RunIndex is the places of a run's entries from one on; see runs.Columns.
func (l *Library) RunIndex(ctx context.Context, id string, from int, part RunPart) (*RunIndex, error) {
	shelf, _, sheet, err := l.find(ctx, id)
	if err != nil {
		return nil, err
	}
	var c *RunIndex
	if from == 0 {
		c, err = shelf.Packed(sheet, part)
	} else {
		c, err = sheet.Columns(from, part)
	}
	if err != nil {
		return nil, environmentError("%w", err)
	}
	return c, nil
}

// RunEntries are n entries of a run from one on.
func (l *Library) RunEntries(ctx context.Context, id string, from, n int) (RunWindow, error) {
	shelf, _, sheet, err := l.find(ctx, id)
	if err != nil {
		return RunWindow{}, err
	}
	w, err := shelf.Window(ctx, sheet, from, n)
	if err != nil {
		return w, environmentError("%w", err)
	}
	w.Run = id
	return w, nil
}

// RunEntry is one entry with all that it says, and its line as it stands in its
// source, secrets taken out.
func (l *Library) RunEntry(ctx context.Context, id string, n int) (RunEntry, []byte, error) {
	shelf, _, sheet, err := l.find(ctx, id)
	if err != nil {
		return RunEntry{}, nil, err
	}
	e, raw, ok, err := shelf.Whole(ctx, sheet, n)
	if err != nil {
		return e, nil, environmentError("%w", err)
	}
	if !ok {
		return e, nil, ErrNoEntry
	}
	return e, raw, nil
}

// FoundEntries are the numbers of the entries of a run in which words were found.
type FoundEntries struct {
	Epoch int   `json:"epoch"`
	Hits  []int `json:"hits"`
	More  bool  `json:"more,omitempty"`
}

// FindInRun finds the entries of a run that hold all the words.
func (l *Library) FindInRun(ctx context.Context, id, words string) (FoundEntries, error) {
	shelf, _, sheet, err := l.find(ctx, id)
	if err != nil {
		return FoundEntries{}, err
	}
	hits, more, err := shelf.Find(ctx, sheet, words)
	if errors.Is(err, search.ErrNoWords) {
		return FoundEntries{}, usageError("%w", err)
	}
	if err != nil {
		return FoundEntries{}, environmentError("%w", err)
	}
	return FoundEntries{sheet.Epoch, hits, more}, nil
}

// ExportRun writes a run in a format of Export.
func (l *Library) ExportRun(ctx context.Context, id, format string, out io.Writer) error {
	shelf, name := l.shelfOf(id)
	_, err := export.Write(out, export.Format(format), shelf.Archive().Entries(ctx, name), export.Options{Title: id})
	if errors.Is(err, export.ErrFormat) {
		return usageError("format %q: %w", format, err)
	}
	return refusedHere(err)
}

// resumeCommand is what a person types to go on with a session; "" where no
// program is known, or a name cannot be typed.
func resumeCommand(adapter, project, session string) string {
	var how string
	switch program, _, _ := strings.Cut(adapter, "_"); program {
	case "claude":
		how = "claude --resume "
	case "codex":
		how = "codex resume "
	case "opencode":
		how = "opencode --session "
	case "copilot":
		how = "copilot --resume "
	}
	typed := func(s string) bool {
		return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\ufffd' })
	}
	if how == "" || !typed(session) || strings.HasPrefix(session, "-") {
		return ""
	}
	how += quoteWord(session)
	if typed(project) && strings.HasPrefix(project, "/") {
		return "cd " + quoteWord(project) + " && " + how
	}
	return how
}
