package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"conclave/internal/git"
	"conclave/policy"
	"conclave/quest"
	"conclave/workspace"
)

// criteriaHere reads the criteria of a case without a change.
func (o *Opened) criteriaHere(ctx context.Context, ask Ask) error {
	if ask.Role != policy.Dragon {
		return nil
	}
	dir, err := workspace.Open(ask.Root)
	if err != nil {
		return err
	}
	defer dir.Close()
	if ask.Criteria == "" {
		return o.questCriteria(dir.Read, "")
	}
	name, local := inside(ask.Root, ask.Criteria)
	if ask.Words || !mayBeFile(ask.Criteria) || !local {
		return o.callersCriteria(ask)
	}
	text, err := dir.Read(name, workspace.MaxText)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return o.callersCriteria(ask)
	case err != nil:
		return fmt.Errorf("read the criteria: %w", err)
	}
	commit, err := committed(ctx, ask, name, text)
	if err != nil {
		return err
	}
	origin := OfCaller
	if commit != "" {
		origin = Committed
	}
	return o.take(Criteria{Origin: origin, File: name, Commit: commit}, name, text)
}

// mayBeFile says whether a text can be a path at all.
func mayBeFile(text string) bool {
	return len(text) <= 4096 && !strings.ContainsAny(text, "\n\x00")
}

// questCriteria are those of the quest: the list, and nothing of what stands
// around it.
func (o *Opened) questCriteria(read Read, commit string) error {
	data, err := read(quest.QuestFile, workspace.MaxQuest)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("there are no criteria: give some, or begin a quest, which has its own (conclave quest start)")
	}
	if err != nil {
		return err
	}
	q := quest.Parse(data)
	if err := q.Err(); err != nil {
		return err
	}
	o.Criteria = q.Criteria
	text := quest.CriteriaText(q.Criteria)
	o.Case.Criteria = Criteria{Origin: OfQuest, File: quest.QuestFile, Commit: commit,
		SHA256: SHA256([]byte(text)), Text: text, List: []Criterion{}}
	return nil
}

// callersCriteria are the caller's own: a file that is not the project's, or
// words.
func (o *Opened) callersCriteria(ask Ask) error {
	text := []byte(ask.Criteria)
	if ask.Words {
		return o.take(Criteria{Origin: OfCaller}, "the criteria", text)
	}
	_, local := inside(ask.Root, ask.Criteria)
	if mayBeFile(ask.Criteria) && !local && filepath.IsAbs(ask.Criteria) {
		if ask.Inside {
			return fmt.Errorf("%q is not in the workspace", ask.Criteria)
		}
		data, err := workspace.ReadNamed(ask.Criteria, workspace.MaxText)
		if err == nil { // where it lies on this machine is no stranger's concern
			return o.take(Criteria{Origin: OfCaller, File: filepath.Base(ask.Criteria)}, ask.Criteria, data)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read the criteria: %w", err)
		}
	}
	if len(strings.Fields(ask.Criteria)) < 2 {
		return fmt.Errorf("%q is no file here, and one word is no criterion", ask.Criteria)
	}
	return o.take(Criteria{Origin: OfCaller}, "the criteria", text)
}

// take reads a text of criteria.
func (o *Opened) take(c Criteria, name string, text []byte) error {
	if c.File != "" && !filepath.IsAbs(name) {
		if err := mayBeCriteria(c.File); err != nil {
			return err
		}
	}
	list, err := quest.ReadCriteria(name, text)
	if err != nil {
		return err
	}
	c.Text, c.SHA256, c.List = string(text), SHA256(text), []Criterion{}
	o.Case.Criteria, o.Criteria = c, list
	return nil
}

// mayBeCriteria refuses files that no judge may read, whoever names them: what the
// party said does not become a criterion by being called so.
func mayBeCriteria(name string) error {
	if name == quest.QuestFile {
		return nil // its list is read, and nothing else
	}
	switch kind := policy.ClassifyWorkspace(name, nil); kind {
	case policy.EnginePrivate, policy.GitDirectory, policy.QuestFile, policy.QuestOther, policy.CouncilReport,
		policy.OtherProfile, policy.ConversationOther, policy.PartyContext:
		return fmt.Errorf("%q holds no criteria: a judge may not read it (%s)", name, kind)
	}
	return nil
}

// committed is the commit at which a file has these bytes, empty if it has
// others, or if there is no commit to ask.
func committed(ctx context.Context, ask Ask, name string, text []byte) (string, error) {
	if ask.Inside && ask.Base == "" {
		return "", nil // whoever asks could commit them now
	}
	repo, err := git.Open(ctx, ask.Root)
	if err != nil {
		if ask.Base != "" {
			return "", err
		}
		return "", nil // nobody can say that it was committed
	}
	defer repo.Close()
	if ask.Base == "" && repo.Commit() == "" {
		return "", nil
	}
	objects, err := repo.Objects(ctx)
	if err != nil {
		return "", err
	}
	defer objects.Close()
	rev := ask.Base
	if rev == "" {
		rev = repo.Commit()
	}
	commit, err := objects.Commit(ctx, rev)
	if err != nil {
		return "", err
	}
	tree, err := treeOf(objects, commit)
	if err != nil {
		return "", err
	}
	data, err := tree.read(name, workspace.MaxText)
	if err != nil || !bytes.Equal(data, text) {
		return "", nil // it is not there as it is here
	}
	return commit, nil
}
