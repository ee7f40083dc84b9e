package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"conclave/engine"
	"conclave/internal/lockfile"
	"conclave/internal/newer"
	"conclave/internal/screen"
	"conclave/profile"
	"conclave/quest"
	"conclave/quest/flow"
	"conclave/room"
	tableflow "conclave/table/flow"
	"conclave/table/people"
)

// settle finds out what becomes of what was interrupted. Nothing is ended behind
// the person's back: at a terminal they are asked, in a script they say --drop, and
// without either nothing is begun. What is gone on with and was what the person
// called for is all that is done: see start.
func (c *questSession) settle(ctx context.Context, called string, input any) error {
	open, err := c.engine.Pending(ctx)
	if err != nil {
		return environmentError("%w", err)
	}
	party, _, err := profile.Project{Dir: c.w.root}.Party()
	if err != nil {
		return environmentError("%w", err)
	}
	for _, i := range open {
		what := flow.Describe(i, party)
		// What an agent had begun the next one puts away: nobody else goes on with it.
		drop := c.talk.Drop || c.app.Remote != nil && flow.CallerOf(i) != ""
		if !drop {
			if drop, err = c.asksToDrop(ctx, what, i); err != nil {
				return err
			}
		}
		if drop {
			if err := c.putAway(ctx, i); err != nil {
				return err
			}
			c.app.aside("It had been interrupted and is put away: %s.", what)
			continue
		}
		res, err := c.resume(ctx, i.ID)
		if err != nil {
			return err
		}
		if isCall(i, called, input) {
			c.taken = &res
			continue
		}
		res.Offers = nil
		c.app.show(Outcome{res})
	}
	return nil
}

// isCall says whether an interaction that was gone on with is what the person
// called for: then it is not begun a second time. Words that they brought along
// are still to be said.
func isCall(i engine.Interaction, called string, input any) bool {
	if name, _, _ := strings.Cut(i.Flow, "/"); name != called {
		return false
	}
	switch in := input.(type) {
	case flow.Consult:
		var was flow.Consult
		return json.Unmarshal(i.Input, &was) == nil && was.Who == in.Who && in.Message == ""
	case flow.Evaluate:
		var was flow.Evaluate
		return json.Unmarshal(i.Input, &was) == nil && was.Role == in.Role
	case flow.Council:
		return in.Message == ""
	}
	return true
}

// asksToDrop asks whether to put away what was interrupted, or to go on with it.
func (c *questSession) asksToDrop(ctx context.Context, what string, i engine.Interaction) (bool, error) {
	begun := i.Started.Local().Format("2 January 15:04")
	if c.app.Person == nil {
		return false, noError("%s was interrupted (begun %s) and is not over; nothing was begun\n"+
			"`conclave quest continue` goes on with it, `conclave quest continue --drop` puts it away: "+
			"what was said is kept; --drop after any command of the quest does that first", upper(what), begun)
	}
	offers := []quest.Offer{{Label: "Go on with it"}, {Label: "Put it away", Reason: "what was said is kept"}}
	q := Question{Question: engine.Question{
		Text:    fmt.Sprintf("%s was interrupted (begun %s).", upper(what), begun),
		Options: []engine.Option{{Label: offers[0].Label}, {Label: offers[1].Label, Hint: offers[1].Reason}},
		Default: offers[0].Label,
	}}
	for {
		answer, err := c.asker.person.Ask(ctx, q)
		if errors.Is(err, io.EOF) {
			return false, noError("%s stays as it is: `conclave quest continue` goes on with it", what)
		}
		if err != nil {
			return false, environmentError("%w", err)
		}
		if strings.TrimSpace(answer) == "" || quest.Agrees(answer) {
			return false, nil
		}
		choice, err := quest.Choose(offers, answer)
		if err == nil && choice.Offer != nil {
			return choice.Offer.Label == offers[1].Label, nil
		}
		c.app.aside("%v", quest.ErrChoose)
	}
}

func upper(what string) string {
	first, size := utf8.DecodeRuneInString(what)
	return string(unicode.ToUpper(first)) + what[size:]
}

// putAway ends an interaction at the person's word. What was said is written
// down.
func (c *questSession) putAway(ctx context.Context, i engine.Interaction) error {
	c.house.Abandon("it was interrupted and not continued")
	defer c.house.Abandon("")
	_, err := c.engine.Resume(ctx, i.ID)
	if errors.As(err, new(*engine.CutError)) || errors.As(err, new(*newer.Error)) {
		return questError(err)
	}
	return nil
}

// interrupted is why an interaction stopped that can be gone on with.
type interrupted struct{ error }

func (e interrupted) Unwrap() error { return e.error }

// undefined is that there is no quest because its definition was interrupted.
type undefined struct{ what, begun string }

func (e undefined) Error() string {
	return fmt.Sprintf("no quest here yet: %s was interrupted (begun %s)\n`conclave quest continue` goes on with it, "+
		"`conclave quest continue --drop` puts it away", e.what, e.begun)
}

func (undefined) Is(target error) bool { return target == quest.ErrNoQuest }

// orUndefined names what was interrupted to whoever finds no quest because of it.
func (a *App) orUndefined(ctx context.Context, err error) error {
	if !errors.Is(err, quest.ErrNoQuest) {
		return err
	}
	root, e := a.findRoot()
	if e != nil {
		return err
	}
	database, e := a.database()
	if e != nil {
		return err
	}
	status, e := engine.Peek(ctx, engine.Options{Dir: root, Scope: flow.Scope, DatabaseURL: database})
	if e != nil {
		return err // that there is no quest is true all the same
	}
	for _, i := range status.Open {
		if name, _, _ := strings.Cut(i.Flow, "/"); name == "define" {
			party, _, _ := profile.Project{Dir: root}.Party() // undressed, if it cannot be read
			return environmentError("%w", undefined{flow.Describe(i, party), i.Started.Local().Format("2 January 15:04")})
		}
	}
	return err
}

// questError gives an error of a quest its kind and the way out.
func questError(err error) error {
	var (
		coded  *Error
		cut    *engine.CutError
		held   *lockfile.HeldError
		leak   *quest.LeakError
		work   *quest.WorkError
		broken *quest.DamagedError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &cut):
		return ErrorOf(KindOf(cut.Err), "%w\nnothing is lost: `conclave quest continue` goes on from here", interrupted{cut.Err})
	case errors.As(err, &coded):
		return err
	case errors.As(err, &held):
		return environmentError("the quest is in use: %w\none interaction at a time: go on in that terminal, or say --wait "+
			"to begin when it is over; `conclave quest status`, `quest show` and `quest log TEXT` work meanwhile", err)
	case errors.As(err, &leak):
		return noError("%w\nnothing was started; take these words out, or say --accept-context to go on with that "+
			"on the verdict", err)
	case errors.As(err, &work):
		return usageError("%w", err)
	case errors.As(err, &broken):
		return noError("%w\n`conclave quest status` offers repairs", err)
	case errors.Is(err, quest.ErrNoQuest), errors.Is(err, room.ErrLevel):
		return environmentError("%w", err)
	}
	return noError("%w", err)
}

// handedOff says that a table waits for a person, which is how a cycle with people
// goes: no error, unless what they had left is wrong.
func (a *App) handedOff(name string, err error) error {
	var away *people.AwayError
	if !errors.As(err, &away) || away.Wrong != nil {
		return tableError(name, err)
	}
	a.show(Remark{screen.Sprintf("The table waits: %v", away)})
	return nil
}

// tableError gives an error of a table its kind and the way out.
func tableError(name string, err error) error {
	var held *lockfile.HeldError
	var cut *engine.CutError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &held):
		return environmentError("the table is in use: %w (--wait waits for it)", err)
	case errors.As(err, &cut):
		return environmentError("the table waits: %w\ncontinue with: conclave table resume %s", err, name)
	case errors.Is(err, tableflow.ErrOpen):
		return noError("%w: conclave table resume %s", err, name)
	}
	return environmentError("%w", err)
}
