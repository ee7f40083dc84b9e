package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/policy"
	"conclave/quest"
)

// Ask is a case as somebody names it.
type Ask struct {
	Root string      // the workspace
	Role policy.Role // the Dragon, or the Guardian
	Rule string
	N    int // how many judges

	// Criteria are the Dragon's: a file, by its path in the workspace or an absolute
	// one, else the text itself; the quest's own if there is neither.
	Criteria string
	Words    bool     // they are words, whatever file is called so
	Expect   string   // the Guardian's
	Work     []string // paths and globs; with Diff none is the whole commit
	Diff     string   // BASE..HEAD, BASE...HEAD, BASE
	Granted  []string // keys and logins that may go in, by name

	// Base is the revision at which criteria count as committed where there is no
	// Diff; without one it is the commit that is checked out.
	Base string
	// Inside takes criteria from files of the workspace only: whoever asks may not
	// read others.
	Inside bool
	// Governing lists what says who judges, and how, with read for the files that
	// say more of it. It is asked if there is a Diff.
	Governing func(read Read) []Governed
}

// Read reads a file of a workspace.
type Read func(name string, most int64) ([]byte, error)

// Opened is a case that can be judged. It must be closed.
type Opened struct {
	Case     Case
	Criteria []quest.Criterion // as they are judged
	Work     *quest.Work
	Change   []byte // as text; nil without a Diff
	// Judging is a directory with what governs, as it was at Commit, which was named
	// as BASE; nothing else of the workspace is in it. Both are empty without a Diff.
	Judging string
	Commit  string

	dir string
}

// Close removes what Open made.
func (o *Opened) Close() error {
	var err error
	if o.Work != nil {
		err = o.Work.Close()
	}
	if o.dir != "" {
		err = errors.Join(err, os.RemoveAll(o.dir))
	}
	return err
}

// Open makes a case of what was asked. Nothing is written to the workspace.
func Open(ctx context.Context, ask Ask) (*Opened, error) {
	if err := ask.Check(); err != nil {
		return nil, err
	}
	o := &Opened{Case: Case{Role: string(ask.Role), Rule: ask.Rule, N: ask.N, Expect: ask.Expect}}
	o.Case.Criteria.List = []Criterion{}
	open := openFiles
	if ask.Diff != "" {
		open = openChange
	}
	if err := open(ctx, ask, o); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	o.describe(ask.Root)
	return o, nil
}

// Check refuses what is no question to a judge, before anything is read.
func (a Ask) Check() error {
	if err := CheckPanel(a.Rule, a.N); err != nil {
		return err
	}
	switch {
	case a.Role == policy.Dragon && a.Expect != "":
		return errors.New("an expectation is the Guardian's; the Dragon judges by criteria")
	case a.Role == policy.Guardian && a.Criteria != "":
		return errors.New("criteria are the Dragon's; the Guardian is told what ready means")
	case a.Role == policy.Guardian && strings.TrimSpace(a.Expect) == "":
		return errors.New("the Guardian has to be told what ready means")
	case a.Role != policy.Dragon && a.Role != policy.Guardian:
		return fmt.Errorf("%q is no judge: they are %s and %s", a.Role, policy.Dragon, policy.Guardian)
	case a.Diff == "" && len(a.Work) == 0:
		return errors.New("there is nothing to judge: name the work, or a change")
	}
	return quest.CheckExpectation(a.Expect)
}

// openFiles makes a case of files of the workspace.
func openFiles(ctx context.Context, ask Ask, o *Opened) error {
	if err := o.criteriaHere(ctx, ask); err != nil {
		return err
	}
	var err error
	o.Work, err = quest.OpenWork(ask.Root, ask.Work, ask.Granted...)
	return err
}

// describe fills in what follows from what is there.
func (o *Opened) describe(root string) {
	c := &o.Case
	for _, name := range o.Work.Names {
		if rel, local := inside(root, name); local { // or it would not have been opened
			name = rel
		}
		c.Work.Names = append(c.Work.Names, name)
	}
	slices.Sort(c.Work.Names)
	for _, k := range o.Criteria {
		c.Criteria.List = append(c.Criteria.List, Criterion{Number: k.Number, Text: k.Text, Check: k.Check})
	}
	c.Work.Files = []File{}
	for _, f := range o.Work.Files {
		c.Work.Files = append(c.Work.Files, File{Path: f.Path, Size: f.Size, SHA256: f.SHA256, Executable: f.Executable})
	}
	for _, l := range o.Work.LeftOut {
		c.Work.LeftOut = append(c.Work.LeftOut, LeftOut{Path: l.Path, Reason: l.Reason})
	}
	slices.SortFunc(c.Work.LeftOut, func(a, b LeftOut) int { return strings.Compare(a.Path, b.Path) })
	if o.Change != nil {
		c.Work.Diff = &File{Path: ChangeFile, Size: int64(len(o.Change)), SHA256: SHA256(o.Change)}
	}
	c.Work.Digest = c.Work.Sum()
	c.Digest = c.Sum()
}

// ChangeFile is what the change is called that lies beside the work.
const ChangeFile = quest.ChangeFile

// inside is a path as it is called in a workspace.
func inside(root, name string) (string, bool) {
	if filepath.IsAbs(name) {
		base, err := filepath.Abs(root)
		if err != nil {
			return "", false
		}
		if name, err = filepath.Rel(base, name); err != nil {
			return "", false
		}
	}
	name = filepath.ToSlash(filepath.Clean(name))
	return name, filepath.IsLocal(filepath.FromSlash(name))
}
