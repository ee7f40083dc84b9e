package app

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"conclave/config"
	"conclave/internal/atomicfile"
	"conclave/internal/git"
	door "conclave/workspace"
)

// HookWord is what a client is told by a hook.
type HookWord struct {
	Decision string `json:"decision,omitempty"` // "block": not yet
	Reason   string `json:"reason,omitempty"`   // for the agent
	Message  string `json:"systemMessage,omitempty"`
}

// notYet sends an agent back to work, and tellOnly lets it go and tells the person.
func notYet(format string, args ...any) *HookWord {
	return &HookWord{Decision: "block", Reason: fmt.Sprintf(format, args...)}
}

func tellOnly(format string, args ...any) *HookWord {
	return &HookWord{Message: "conclave: " + fmt.Sprintf(format, args...)}
}

// DoneHook has the work judged before an agent stops, where the person's own
// configuration wants it. Nil lets it stop. It is sent back once: who was told
// "not yet" and wants to stop again may.
func (a *App) DoneHook(ctx context.Context) (*HookWord, error) {
	h, err := a.readHook()
	if err != nil {
		return nil, err
	}
	own, err := a.ownConfig()
	if err != nil || own.Gate.BeforeDone == "" || h.again {
		return nil, err
	}
	root, err := a.findRoot()
	if err != nil {
		return nil, err
	}
	in := Gate{Criteria: own.Gate.BeforeDone, Work: []string{"."}}
	if !filepath.IsAbs(in.Criteria) {
		stop, err := a.committed(ctx, root, a.baseOf(h, own.Gate), &in)
		if stop != nil || err != nil || in.Criteria == "" {
			return stop, err
		}
	}
	here := *a
	here.Dir, here.Root = root, root
	here.Show, here.Person = nil, nil // the client reads the word, and nobody can be asked
	got, err := here.Gate(ctx, in)
	return a.wordOf(in, got, err), nil
}

// committed holds the criteria of a project against what stands at the base. An
// agent that has changed them is not judged by its own; a project without them is
// not judged, and then they are empty.
func (a *App) committed(ctx context.Context, root, base string, in *Gate) (*HookWord, error) {
	file := in.Criteria
	now, err := door.ReadNamed(filepath.Join(root, filepath.FromSlash(file)), door.MaxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	missing := err != nil
	repo, err := git.Open(ctx, root)
	if err != nil { // nobody's commits: the person's file is what it is
		if missing {
			in.Criteria = ""
		}
		return nil, nil
	}
	defer repo.Close()
	was, commit, err := fileAt(ctx, repo, cmp.Or(base, repo.Commit()), file)
	switch {
	case err != nil:
		return tellOnly("the work was not judged: %v", err), nil
	case was == nil && missing:
		in.Criteria = ""
	case was != nil && !bytes.Equal(was, now):
		return notYet("Not yet. The criteria by which this work is judged, %s, are not what they were at %.12s. "+
			"They are not yours to change: put them back, and leave what you think of them to the person.", file, commit), nil
	case was != nil:
		in.Remote, in.Base = true, commit
	}
	return nil, nil
}

// fileAt is a file of a workspace as a commit has it; nil where it has none.
func fileAt(ctx context.Context, repo *git.Repository, rev, file string) ([]byte, string, error) {
	if rev == "" {
		return nil, "", nil // nothing was committed yet
	}
	objects, err := repo.Objects(ctx)
	if err != nil {
		return nil, "", err
	}
	defer objects.Close()
	commit, err := objects.Commit(ctx, rev)
	if err != nil {
		return nil, "", err
	}
	entries, err := objects.Tree(commit)
	if err != nil {
		return nil, "", err
	}
	for _, e := range entries {
		if e.Path == path.Clean(filepath.ToSlash(file)) {
			var text bytes.Buffer
			_, err := objects.Blob(e.ID, door.MaxFile, &text)
			return append([]byte{}, text.Bytes()...), commit, err
		}
	}
	return nil, commit, nil
}

// mostFindings bounds what an agent is told.
const mostFindings = 8000

// wordOf says what a verdict means to an agent that wants to stop.
func (a *App) wordOf(in Gate, got *GateAnswer, err error) *HookWord {
	switch {
	case err == nil:
		return nil
	case got == nil || !Said(err) || KindOf(err) != No:
		why := "no verdict was given"
		if err != nil && !Said(err) {
			why = err.Error()
		}
		return tellOnly("the work was not judged by %s before the agent stopped: %s", in.Criteria, why)
	}
	var b strings.Builder
	b.WriteString("Not yet. A judge who saw the criteria in " + in.Criteria + " and the work, and nothing else, " +
		"finds them not met.\n")
	status := map[int]string{}
	for _, d := range got.Decision.Criteria {
		status[d.Number] = strings.TrimSpace(d.Status + " " + d.Why)
	}
	for _, c := range got.Case.Criteria.List {
		b.WriteString(fmt.Sprintf("\n%d. %s\n   %s\n", c.Number, c.Text, status[c.Number]))
		for _, j := range got.Judges {
			for _, f := range j.Findings {
				if f.Number == c.Number && f.Evidence != "" && !strings.HasPrefix(status[c.Number], "met") {
					b.WriteString(fmt.Sprintf("   %s\n", f.Evidence))
				}
			}
		}
	}
	text := b.String()
	if len(text) > mostFindings {
		text = strings.ToValidUTF8(text[:mostFindings], "") + "…\n"
	}
	return notYet("%s\nChange the work, not the criteria. The receipt: %s", text, got.Receipt)
}

// baseFile is where the commit is kept at which a session began.
func (a *App) baseFile(session string) string {
	data := a.userDataDir()
	if data == "" || session == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(session))
	return filepath.Join(data, "conclave", "sessions", "base", hex.EncodeToString(sum[:12]))
}

// keepBase remembers where a project stood when a session began there, until it
// is over.
func (a *App) keepBase(ctx context.Context, h hookInput) error {
	own, err := a.ownConfig()
	file := a.baseFile(h.session)
	if err != nil || own.Gate.BeforeDone == "" || file == "" {
		return err
	}
	if h.event == "SessionEnd" {
		if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if _, err := os.Lstat(file); h.event != "SessionStart" || err == nil {
		return nil
	}
	root, err := a.findRoot()
	if err != nil {
		return err
	}
	repo, err := git.Open(ctx, root)
	if err != nil {
		return nil // there are no commits
	}
	defer repo.Close()
	if repo.Commit() == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(file, []byte(repo.Commit()+"\n"), 0o600)
}

// baseOf is the commit whose criteria count: the one that the person names, or
// where the session began; "" where nobody knows.
func (a *App) baseOf(h hookInput, g config.Gate) string {
	if g.Base != "" {
		return g.Base
	}
	text, err := os.ReadFile(a.baseFile(h.session))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
