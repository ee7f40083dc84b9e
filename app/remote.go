package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"conclave/archive"
	"conclave/internal/git"
	"conclave/policy"
	"conclave/quest"
	"conclave/record"
	"conclave/table/look"
)

// Remote is an agent that calls verbs in the person's place, from outside of
// every room. What it says stands on the record as an agent's. What it may not
// say and what it is not shown is decided here, whichever face it comes through:
//
//   - Its words are words: "@FILE" and "-" name nothing, paths lead nowhere but
//     into the workspace, a run is named by its id.
//   - What is the person's to say it cannot say: no grant, no accepted context,
//     no answers from a file, no archive elsewhere, nothing put away that the
//     person had begun.
//   - It is shown verdicts, never rooms. Of records those of the party and of
//     sessions in this workspace (policy.Role.ShownToCaller); of an evaluator, a
//     gate or a table how much there is and whether it is sound. It searches an
//     archive of its own, which nothing else was ever put into.
type Remote struct {
	Caller string // what the agent's program calls itself
	// WholeArchive lets it search and query the person's whole archive: every
	// workspace, every room. The person's word alone.
	WholeArchive bool
	// Base is the commit whose criteria count as committed; "" for none.
	Base string
}

// caller is how a record names who asks in the person's place; "" for the person.
func (a *App) caller() string {
	if a.Remote == nil {
		return ""
	}
	name := strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, a.Remote.Caller)
	return strings.TrimSpace("mcp " + name[:min(len(name), 80)])
}

// askedBy refuses what only the person can say.
func (a *App) askedBy(talk Talk) error {
	if a.Remote != nil && (talk.Answers != "" || len(talk.Grants) > 0 || talk.Drop) {
		return personsOwn("to grant something, to answer from a file or to put something away")
	}
	return nil
}

// personsOwn refuses a caller what it cannot decide.
func personsOwn(what string) error {
	return environmentError("%s is the person's to say, in a terminal", what)
}

// Here prepares an app for a caller: the workspace is the one that is found now,
// and the base is its commit now, or the one that the person's own file names.
func (r Remote) Here(ctx context.Context, a *App) (*App, error) {
	root, err := a.findRoot()
	if err != nil {
		return nil, err
	}
	if r.Base == "" {
		r.Base = headOf(ctx, root)
	}
	return &App{Dir: root, Root: root, Getenv: a.Getenv, Version: a.Version, Log: a.Log,
		Show: a.Show, Stdin: strings.NewReader(""), Remote: &r}, nil
}

// headOf is the commit that a workspace is at; "" where there is none.
func headOf(ctx context.Context, root string) string {
	repo, err := git.Open(ctx, root)
	if err != nil {
		return ""
	}
	defer repo.Close()
	return repo.Commit()
}

// ForCall is the app for one call of a caller: its events go to show.
func (a *App) ForCall(caller string, show func(Event)) *App {
	r := *a.Remote
	r.Caller = caller
	return &App{Dir: a.Dir, Root: a.Root, Getenv: a.Getenv, Version: a.Version, Log: a.Log,
		Show: show, Stdin: a.Stdin, Remote: &r}
}

// mayRead says whether the one who asks may read what a record holds.
func (a *App) mayRead(root string, h record.Header) bool {
	if a.Remote == nil {
		return true
	}
	if role, seated := h.Attributes["role"]; seated {
		return policy.Role(role).ShownToCaller()
	}
	project, collected := h.Attributes["project"], h.Attributes["collected"] != ""
	rel, err := filepath.Rel(root, project)
	return collected && err == nil && filepath.IsAbs(project) && filepath.IsLocal(rel)
}

// readable are the records of the workspace that the one who asks may read.
func (a *App) readable(root string) ([]record.Info, error) {
	list, err := record.List(record.Dir(root))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, environmentError("%w", err)
	}
	return slices.DeleteFunc(list, func(info record.Info) bool {
		h, err := headerOf(info.Path)
		return err != nil || !a.mayRead(root, h)
	}), nil
}

// headerOf reads how a record begins, and no more.
func headerOf(path string) (record.Header, error) {
	r, err := record.Open(path)
	if err != nil {
		return record.Header{}, err
	}
	defer r.Close()
	if !r.Next() {
		return record.Header{}, errors.Join(r.Err(), errNeverBegan)
	}
	return r.Header(), record.Named(path, r.Header())
}

var errNeverBegan = errors.New("no header: the run never began")

// ownArchive is the archive of a caller: of this workspace what it may read, and
// nothing that was ever anything else. It lies where things lie that can be made
// again.
func (a *App) ownArchive(ctx context.Context) (*archive.Archive, error) {
	root, err := a.rootToRead()
	if err != nil {
		return nil, err
	}
	list, err := a.readable(root)
	if err != nil {
		return nil, err
	}
	o, err := a.archiveOptions(false)
	if err != nil {
		return nil, err
	}
	id := sha256.Sum256([]byte(root))
	x, err := archive.Open(filepath.Join(a.cacheDir(), "mcp", hex.EncodeToString(id[:12])+".db"), o)
	if err != nil {
		return nil, environmentError("%w", err)
	}
	files := make([]string, len(list))
	for i, info := range list {
		files[i] = info.Path
	}
	if _, err := x.Refresh(ctx, files); err != nil {
		return nil, errors.Join(environmentError("%w", err), x.Close())
	}
	return x, nil
}

// shownConversation says whether the one who asks may read a conversation.
func (a *App) shownConversation(t quest.Transcript) bool {
	return a.Remote == nil || t.Fault == "" && t.Kind.ShownToCaller()
}

// shownTable is what a caller sees of a table: how it stands, and nothing that is
// somebody's own or a file's words.
func (a *App) shownTable(st look.Status) look.Status {
	if a.Remote == nil {
		return st
	}
	st.Problems, st.Told, st.Journals, st.Drafts, st.Open, st.Saves = nil, nil, nil, nil, nil, nil
	if st.Awaited != nil && st.Awaited.Privately {
		st.Awaited.Seats = nil
	}
	return st
}

// shownRoom is what a caller sees of a room's plan: kinds and reasons, and of what
// is kept out how much there is.
func (a *App) shownRoom(v RoomView) RoomView {
	if a.Remote == nil {
		return v
	}
	v.HeldBack = []HeldBack{}
	for i := range v.Denied {
		v.Denied[i].Name, v.Denied[i].Size = "", 0
	}
	for i := range v.Given {
		v.Given[i].SHA256 = ""
	}
	return v
}

// shownAudit is what a caller sees of a judgement: of a record that it may not
// read, how much was given and kept out, and which rules are broken.
func (a *App) shownAudit(root, file string, r *AuditReport) *AuditReport {
	if a.Remote == nil {
		return r
	}
	if h, err := headerOf(file); err == nil && a.mayRead(root, h) {
		return r
	}
	shown := *r
	shown.Prompt, shown.Gaps = "", nil
	shown.Turns, shown.Findings = slices.Clone(r.Turns), slices.Clone(r.Findings)
	for i := range shown.Turns {
		t := &shown.Turns[i]
		t.Given, t.Declared, t.Tools, t.Stamps = nil, nil, nil, nil
	}
	for i := range shown.Findings {
		shown.Findings[i].What = "the person can read it: conclave audit"
	}
	return &shown
}

// conversationText is a conversation that a caller may read.
func (a *App) conversationText(name string) ([]byte, error) {
	list, err := a.Conversations()
	if err != nil {
		return nil, err
	}
	for _, t := range list {
		if t.Name == name {
			return t.Data, nil
		}
	}
	return nil, usageError("there is no conversation %q that an agent may read", name)
}

// askedWork refuses a caller work that is no work of a quest: what a judge says of
// a table's files would be told to somebody who must not read them. The person may
// name them.
func (a *App) askedWork(root string, names []string) error {
	if a.Remote == nil {
		return nil
	}
	for _, name := range names {
		if first, _, _ := strings.Cut(filepath.ToSlash(filepath.Clean(name)), "/"); mayMatch(first, "campaigns") {
			return personsOwn("to have the files of a table looked at, which " + name + " may be,")
		}
		path := filepath.Join(root, filepath.FromSlash(name))
		if filepath.IsAbs(name) {
			path = filepath.Clean(name)
		}
		for _, at := range [][2]string{{root, path}, {linked(root), linked(path)}} {
			rel, err := filepath.Rel(at[0], at[1])
			if err != nil || !filepath.IsLocal(rel) {
				return environmentError("%s is not in this workspace", name)
			}
			if policy.ClassifyWorkspace(filepath.ToSlash(rel), nil) == policy.TableOther {
				return personsOwn("to have the files of a table looked at (" + name + ")")
			}
		}
	}
	return nil
}

// linked is where a path leads to, or the path where nobody knows.
func linked(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return path
}

// mayMatch says whether the first part of a pattern may be that name.
func mayMatch(pattern, name string) bool {
	if !strings.ContainsAny(pattern, "*?[{\\") {
		return false
	}
	ok, err := filepath.Match(pattern, name)
	return ok || err != nil || strings.ContainsAny(pattern, "{\\") || strings.Contains(pattern, "**")
}
