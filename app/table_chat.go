package app

import (
	"context"
	"errors"
	"strings"

	"conclave/agent"
	"conclave/engine"
	"conclave/table"
	"conclave/table/talk"
)

// Chat is a talk with a character outside of play.
type Chat struct {
	Table, Character string
	Message          *string // one question: TEXT, @FILE or -; nil to talk
	Answers          string  // a file with what is said
}

// ChatWithCharacter talks to a character: who plays it answers, with what the
// character knows at the table. Nothing of the campaign is changed.
func (a *App) ChatWithCharacter(ctx context.Context, in Chat) (err error) {
	root, who, err := a.checkSeat(in.Table, in.Character)
	if err != nil {
		return err
	}
	in.Character = who
	if in.Character == "gm" || in.Character == table.SeatTable {
		return usageError("%s is no character", in.Character)
	}
	message, err := a.words(in.Message)
	if err != nil {
		return err
	}
	k, err := a.newAsker(in.Answers)
	if err != nil {
		return err
	}
	if strings.TrimSpace(message) == "" && !k.somebody() {
		return usageError("say something to %[2]s: conclave table chat %[1]s %[2]s --message TEXT, @FILE or -",
			in.Table, in.Character)
	}
	w, err := a.openWorkspace()
	if err != nil {
		return err
	}
	if err := w.makePrivate(); err != nil {
		return err
	}
	talk, err := talk.Chat(ctx, talk.Options{
		Workspace: root, Campaign: in.Table, Cast: w.tableCast(in.Table, Seating{}.sits, true),
		Program: "conclave " + a.Version, Account: w.tableBudget(in.Table).account(), Database: w.config.Database,
	}, in.Character)
	if err != nil {
		return tableError(in.Table, err)
	}
	defer func() { err = errors.Join(err, refusedHere(talk.Close())) }()
	if strings.TrimSpace(message) != "" {
		return a.chatTurn(ctx, talk, message)
	}
	a.aside("You sit down with %s. Nothing of this happens in the story. An empty line ends it.", talk.Name)
	for k.somebody() {
		words, err := orNothing(k.Ask(ctx, engine.Question{Who: "you", Text: "What do you say?"}))
		if errors.Is(err, engine.ErrNobody) {
			return nil
		}
		if line := strings.TrimSpace(words); err != nil || line == "" || line == "/quit" {
			return err
		}
		if err := a.chatTurn(ctx, talk, words); err != nil {
			return err
		}
	}
	return nil
}

func (a *App) chatTurn(ctx context.Context, talk *talk.Talk, words string) error {
	reply, err := talk.Say(ctx, words, nil, func(e agent.Event) {
		if e.Entry == nil && e.Delta != "" {
			a.show(Speech{Name: talk.Name, Text: e.Delta})
		}
	})
	if err != nil {
		return environmentError("%s gives no answer: %w", talk.Name, err)
	}
	a.show(Speech{Name: talk.Name, Part: Whole, Text: table.SplitTurn(reply.Text).Response})
	return nil
}
