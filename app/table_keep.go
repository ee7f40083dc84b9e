package app

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"math/big"
	"os"
	"strconv"
	"strings"

	"conclave/dice"
	"conclave/engine"
	"conclave/policy"
	"conclave/table"
	tableflow "conclave/table/flow"
	"conclave/table/rolls"
	"conclave/table/story"
)

// RenameCharacter gives a character another file name.
func (a *App) RenameCharacter(ctx context.Context, in Seating, from, to string) error {
	_, from, err := a.checkSeat(in.Table, from)
	if err != nil {
		return err
	}
	return a.atTable(ctx, "rename", in, func(t *tableflow.Table) error {
		return tableAnswer(in.Table, t.Rename(ctx, from, to), noError)
	})
}

// chance is dice without a log.
type chance struct{}

func (chance) Face(sides int) (int, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(int64(sides)))
	if err != nil {
		return 0, err
	}
	return int(n.Int64()) + 1, nil
}

// DiceRoll is what is to be rolled.
type DiceRoll struct {
	Seating                        // without a table it is for practice, and nobody can check it
	Expr, Who, Purpose, Visibility string
}

// Roll lets dice fall and says what they show, a line for each result.
func (a *App) Roll(ctx context.Context, in DiceRoll) (lines []string, err error) {
	parsed, err := dice.Parse(in.Expr)
	if err != nil {
		return nil, usageError("%w", err)
	}
	if in.Table == "" {
		results, err := parsed.Eval(chance{})
		if err != nil {
			return nil, usageError("%w", err)
		}
		for _, r := range results {
			lines = append(lines, r.Text)
		}
		return lines, nil
	}
	if _, in.Who, err = a.checkSeat(in.Table, in.Who); err != nil {
		return nil, err
	}
	v := verb{method: "Roll", args: []any{in}, results: []any{&lines}}
	err = a.atTableAnywhere(ctx, "roll", in.Seating, v, func(t *tableflow.Table) error {
		l, err := t.Roll(dice.Request{
			Who: in.Who, Expr: in.Expr, Purpose: in.Purpose, Visibility: dice.Visibility(in.Visibility),
		})
		if err != nil {
			return tableAnswer(in.Table, err, usageError)
		}
		lines = []string{l.Told(dice.Viewer{GM: in.Who == string(policy.GM), Name: in.Who})}
		return nil
	})
	return lines, err
}

// VerifyDice recomputes every roll of a table. A report that is not OK comes
// with the answer no.
func (a *App) VerifyDice(name string) (dice.Report, error) {
	root, _, err := a.checkSeat(name, "")
	if err != nil {
		return dice.Report{}, err
	}
	a.sayCameAlong(root)
	report, err := rolls.Verify(root, name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return report, noError("no dice have fallen in %s yet", name)
	case errors.As(err, new(*dice.DamageError)):
		return report, noError("%w", rolls.Way(name, err))
	case err != nil:
		return report, refusedHere(err)
	case len(report.Breaks) > 0:
		return report, noError("%s: what was lost at a sealed break can never be checked; every line that is left holds",
			name)
	}
	return report, nil
}

// SealDice gives a table whose dice log does not hold a way on. That the log
// holds, and nothing was done, is the answer no.
func (a *App) SealDice(ctx context.Context, in Seating, reason string) (sealed dice.Sealed, err error) {
	v := verb{method: "SealDice", args: []any{in, reason}, results: []any{&sealed}}
	err = a.atTableAnywhere(ctx, "seal", in, v, func(t *tableflow.Table) (err error) {
		sealed, err = t.Dice().Seal(reason)
		if errors.Is(err, dice.ErrWhole) {
			return answerNo(err)
		}
		return refusedHere(err)
	})
	return sealed, err
}

// tableAnswer gives an error of a table its kind: what stands in the way here is
// the environment's, what stays open has its way on, the rest is as otherwise
// says.
func tableAnswer(name string, err error, otherwise func(string, ...any) error) error {
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*engine.CutError)), errors.Is(err, tableflow.ErrOpen):
		return tableError(name, err)
	case errors.As(err, new(*dice.DamageError)), errors.As(err, new(*table.Obstacle)), errors.As(err, new(*fs.PathError)):
		return environmentError("%w", err)
	}
	return otherwise("%w", err)
}

// RevealRoll opens a sealed or private roll to everyone, and says what it was.
func (a *App) RevealRoll(ctx context.Context, in Seating, number string) (text string, err error) {
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return "", usageError("%q is no number of a roll", number)
	}
	v := verb{method: "RevealRoll", args: []any{in, number}, results: []any{&text}}
	err = a.atTableAnywhere(ctx, "reveal", in, v, func(t *tableflow.Table) error {
		l, err := t.Dice().Reveal(n)
		text = l.Told(dice.Viewer{GM: true})
		return tableAnswer(in.Table, err, noError)
	})
	return text, err
}

// SaveTable keeps a save point under a name.
func (a *App) SaveTable(ctx context.Context, in Seating, point string) (save story.Save, err error) {
	v := verb{method: "SaveTable", args: []any{in, point}, results: []any{&save}}
	err = a.atTableAnywhere(ctx, "save", in, v, func(t *tableflow.Table) (err error) {
		save, err = t.Save(ctx, point)
		return tableAnswer(in.Table, err, noError)
	})
	return save, err
}

// RestoreTable goes back to a save point, and says under which name it kept what
// was.
func (a *App) RestoreTable(ctx context.Context, in Seating, point string) (kept string, err error) {
	v := verb{method: "RestoreTable", args: []any{in, point}, results: []any{&kept}}
	err = a.atTableAnywhere(ctx, "restore", in, v, func(t *tableflow.Table) (err error) {
		if kept, err = t.Restore(ctx, point); err == nil {
			err = t.Remind()
		}
		return tableAnswer(in.Table, err, noError)
	})
	return kept, err
}

// ForkTable makes another campaign of this one, from a save point or from now.
func (a *App) ForkTable(ctx context.Context, in Seating, name, from string) error {
	v := verb{method: "ForkTable", args: []any{in, name, from}}
	return a.atTableAnywhere(ctx, "fork", in, v, func(t *tableflow.Table) error {
		return tableAnswer(in.Table, t.Fork(ctx, name, from), noError)
	})
}

// Journal is a character's, as they read it.
func (a *App) Journal(name, character string) (string, error) {
	root, character, err := a.checkSeat(name, character)
	if err != nil {
		return "", err
	}
	c, err := table.OpenCampaign(root, name)
	if err != nil {
		return "", namedTable(name, err)
	}
	defer c.Close()
	data, err := c.Party.Read(table.JournalFile(character), 0)
	if errors.Is(err, os.ErrNotExist) {
		return "", noError("%s has no journal yet", character)
	}
	return table.RemoveGM(string(data)), refusedHere(err)
}

// StoryExport is how a story is told, and to whom.
type StoryExport struct {
	Table, Title, As string
	Format           string // md, html or log
	Edition          string // a directory: story, party knowledge and world, without secrets
	Output           string // the file to write; "" for none
}

// ExportStory tells the story of a campaign. It returns the text, where it was
// not to be written, and the files of a player's edition.
func (a *App) ExportStory(in StoryExport) (text string, files []string, err error) {
	root, seat, err := a.checkSeat(in.Table, in.As)
	if err != nil {
		return "", nil, err
	}
	a.sayCameAlong(root)
	name := in.Table
	in.As = seat
	if in.Title == "" {
		in.Title = strings.ToUpper(name[:1]) + strings.ReplaceAll(name[1:], "-", " ")
	}
	if in.Edition != "" {
		if in.As == string(policy.GM) {
			return "", nil, usageError("a player's edition is no game master's")
		}
		files, err := story.PlayerEdition(root, name, in.Title, in.As, a.AbsPath(in.Edition))
		return "", files, refusedHere(err)
	}
	text, err = story.Story(root, name, in.Title, in.As)
	switch in.Format {
	case "md":
	case "html":
		text = story.HTML(in.Title, text)
	case "log":
		text, err = story.PlayLog(root, name, in.Title, in.As)
	default:
		return "", nil, usageError("no format is called %q: md, html, log", in.Format)
	}
	if err != nil || in.Output == "" {
		return text, nil, refusedHere(err)
	}
	return "", nil, refusedHere(os.WriteFile(a.AbsPath(in.Output), []byte(text), 0o644))
}
