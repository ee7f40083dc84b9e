package people

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/atomicfile"
	"conclave/policy"
	"conclave/table"
	"conclave/table/desk"
	"conclave/workspace"
)

// Where drafts lie in the table's own state.
const (
	draftDir = "drafts"
	draftExt = ".md"
)

func draftPath(workspace, campaign, who string) string {
	return filepath.Join(table.PrivatePath(workspace, campaign), draftDir, who+draftExt)
}

// Leave keeps a person's answer for the barrier; until then it can be
// written again. It takes no lock: the seat of a person is that person's. who
// must be a seat: "gm" or a slug of the roster.
func Leave(workspace, campaign, who, text string) error {
	dir, err := table.OwnDir(workspace, campaign, draftDir)
	if err != nil {
		return err
	}
	return errors.Join(dir.Write(who+draftExt, []byte(text)), dir.Close())
}

// unsentDir is where lines lie that people had typed when they left, and had not
// sent: unlike drafts they are nobody's answers yet.
const unsentDir = "unsent"

// LeaveUnsent keeps what somebody had typed and not sent, until they come back.
func LeaveUnsent(workspace, campaign, who, text string) error {
	dir, err := table.OwnDir(workspace, campaign, unsentDir)
	if err != nil {
		return err
	}
	return errors.Join(dir.Write(who+draftExt, []byte(text)), dir.Close())
}

func (s *Seats) unsentPath(who string) string {
	return filepath.Join(table.PrivatePath(s.Campaign.Workspace, s.Campaign.Name), unsentDir, who+draftExt)
}

// unsent is what somebody had typed and not sent, for them to go on with.
func (s *Seats) unsent(who string) (string, error) {
	data, err := workspace.ReadOwn(s.unsentPath(who), workspace.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(data), err
}

// dropUnsent forgets it: it was sent, or thrown away.
func (s *Seats) dropUnsent(who string) error {
	err := os.Remove(s.unsentPath(who))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// HasLeft says whether an answer of a person waits for a seat.
func HasLeft(workspace, campaign, who string) bool {
	_, err := os.Lstat(draftPath(workspace, campaign, who))
	return err == nil
}

// Draft reads the draft of a seat. It is removed when the answer is in the
// cycle, not before: a kill between the two must not lose a person's words.
func (s *Seats) Draft(who string) (string, bool, error) {
	data, err := workspace.ReadOwn(s.draftPath(who), workspace.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	return string(data), err == nil, err
}

// Drop removes the draft of a seat, if it is the one that was answered: what
// the person has left since is for the next question.
func (s *Seats) Drop(who, answered string) error {
	text, ok, err := s.Draft(who)
	if err != nil || !ok {
		return err
	}
	if said, err := s.Said(who, text); text != answered && (err != nil || said != answered) {
		return nil
	}
	err = os.Remove(s.draftPath(who))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (s *Seats) draftPath(who string) string {
	return draftPath(s.Campaign.Workspace, s.Campaign.Name, who)
}

// Drafts are the seats for which an answer waits.
func Drafts(workspace, campaign string) (seats []string) {
	entries, err := os.ReadDir(filepath.Join(table.PrivatePath(workspace, campaign), draftDir))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if !atomicfile.IsTemp(e.Name()) { // else whoever wrote it was killed
			seats = append(seats, strings.TrimSuffix(e.Name(), draftExt))
		}
	}
	return seats
}

// Said is what a person left or typed for a seat as the table takes it.
func (s *Seats) Said(who, text string) (string, error) {
	if desk.KindOf(who) == desk.GM {
		return s.gmWords(text)
	}
	calls, words, err := desk.Split(text, desk.Player, desk.Asked)
	if err != nil {
		return "", err
	}
	var notes []string
	for _, c := range calls {
		switch c.Name {
		case "veto":
			return table.WithNotes(table.VetoFor(c.Rest), notes), nil
		case "notes":
			notes = append(notes, c.Rest)
		default:
			return "", &desk.Fault{Text: "/" + c.Name, Err: fmt.Errorf("/%s is no answer: type it at the table", c.Name)}
		}
	}
	return table.WithNotes(words, notes), nil
}

// Again changes what a person has answered in the cycle that is open, as long as
// another player is waited for. It says whether that is so.
func (s *Seats) Again(seat, text string) (bool, error) {
	entries, err := os.ReadDir(AwaitedPath(s.Campaign.Workspace, s.Campaign.Name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	others := slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.Name() != seat && e.Name() != string(policy.GM)
	})
	if !others {
		return false, nil
	}
	if err := desk.Left(seat, desk.Asked, text); err != nil {
		return false, err
	}
	return true, Leave(s.Campaign.Workspace, s.Campaign.Name, seat, text)
}
