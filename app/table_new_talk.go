package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"conclave/engine"
	"conclave/internal/atomicfile"
	"conclave/policy"
	"conclave/quest"
	"conclave/seat"
	"conclave/table/draft"
	"conclave/table/seating"
	"conclave/table/talk"
	door "conclave/workspace"
)

// campaignTalk is a campaign that is made in talk.
type campaignTalk struct {
	app   *App
	w     *workspace
	name  string
	asker *asker
	draft draft.Draft
	file  string // where it is kept until it is one
}

// TalkNewTable makes a campaign in talk: with the game master's agent where one
// is named, by questions alone where none is. What was said is kept until the
// campaign is written, and gone on with. It returns the seat to sit down in, ""
// when the campaign was not written.
func (a *App) TalkNewTable(ctx context.Context, name, answers string) (sit string, err error) {
	root, err := a.freeTable(name)
	if err != nil {
		return "", err
	}
	k := &campaignTalk{app: a, name: name, file: filepath.Join(root, engineDir, "new", name+".json")}
	if k.asker, err = a.newAsker(answers); err != nil {
		return "", err
	}
	if !k.asker.somebody() {
		return "", environmentError("nobody is here to talk: use a terminal, or --answers")
	}
	if k.w, err = a.openWorkspace(); err != nil {
		return "", err
	}
	if err := errors.Join(k.w.makePrivate(), k.load()); err != nil {
		return "", refusedHere(err)
	}
	agent := k.w.config.For(k.w.tableKey(policy.GM, "")).Agent
	make, sit := k.question, string(policy.GM)
	if agent != "offline" && agent != "human" {
		make, sit = k.compose, ""
	}
	written, err := make(ctx)
	if errors.Is(err, engine.ErrNobody) { // the input has ended: what was said is kept
		a.aside("What you said is kept. Go on with: conclave table new %s --talk", name)
		return "", nil
	}
	if err != nil || !written {
		return "", err
	}
	files := k.draft.Files(name)
	if err := layOut(root, filepath.Join(root, "campaigns", name), files); err != nil {
		return "", refusedHere(err)
	}
	return cmp.Or(sit, k.draft.Characters[0].Slug), refusedHere(k.forget())
}

func (k *campaignTalk) load() error {
	data, err := door.ReadOwn(k.file, door.MaxText)
	if errors.Is(err, fs.ErrNotExist) {
		k.draft.V = draft.Version
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &k.draft); err != nil {
		return err
	}
	k.app.aside("You had begun %s. This is how far you came:", k.name)
	k.app.show(Passage{"digest", k.draft.Text()})
	return nil
}

func (k *campaignTalk) keep() error {
	data, err := json.MarshalIndent(k.draft, "", " ")
	if err != nil {
		return err
	}
	return refusedHere(errors.Join(os.MkdirAll(filepath.Dir(k.file), 0o700),
		atomicfile.Replace(k.file, append(data, '\n'), 0o600)))
}

func (k *campaignTalk) forget() error {
	if err := os.Remove(k.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// hear asks the person for words of their own: in several lines, unless the first
// says it all.
func (k *campaignTalk) hear(ctx context.Context, q engine.Question, ends func(string) bool) (string, error) {
	if len(k.asker.answers) > 0 || k.asker.person == nil {
		return k.asker.Ask(ctx, q)
	}
	answer, err := k.asker.person.Ask(ctx, Question{Question: q, Ends: ends})
	if errors.Is(err, io.EOF) {
		err = errInputEnded()
	}
	return strings.TrimSpace(answer), err
}

// question makes the campaign by questions alone.
func (k *campaignTalk) question(ctx context.Context) (bool, error) {
	k.app.aside("No agent is named for the game master, so these are questions: an empty line ends an answer, or leaves "+
		"it open. With an agent it is a talk: name one by %s.", gmAgentHow)
	for {
		q, more := k.draft.Next()
		if !more {
			break
		}
		answer, err := k.hear(ctx, engine.Question{ID: q.Key, Text: q.Text, Lines: q.Lines}, nil)
		if err != nil {
			return false, err
		}
		if err := k.draft.Answer(q, answer); err != nil {
			k.app.aside("%v", err)
			continue
		}
		if err := k.keep(); err != nil {
			return false, err
		}
	}
	answer, err := k.agreed(ctx, "Write it? (yes; again to be asked anew; anything else keeps it for later)")
	switch {
	case err != nil || quest.Agrees(answer):
		return err == nil, err
	case strings.EqualFold(answer, "again"):
		k.draft = draft.Draft{V: draft.Version}
		return k.question(ctx)
	}
	k.app.aside("It is kept. Go on with: conclave table new %s --talk", k.name)
	return false, nil
}

// agreed shows the campaign, and asks what is to become of it.
func (k *campaignTalk) agreed(ctx context.Context, question string) (string, error) {
	k.app.show(Passage{"digest", k.draft.Text()})
	return k.hear(ctx, engine.Question{Text: question, Lines: true}, func(string) bool { return true })
}

// compose makes the campaign in talk with the game master's agent.
func (k *campaignTalk) compose(ctx context.Context) (ok bool, err error) {
	actor, err := k.w.cast(k.w.tableKey(policy.GM, ""), nil)
	if err != nil {
		return false, err
	}
	talk, err := talk.Compose(ctx, talk.Options{
		Workspace: k.w.root, Campaign: k.name, Program: "conclave " + k.app.Version,
		Account: k.w.tableBudget(k.name).account(),
		Cast: func(policy.Role, string, bool) (seating.Actor, error) {
			return seating.Actor{Agent: actor.agent, InProcess: actor.inProcess,
				Dress: func(p *seat.Plan) { actor.dress(p, k.w) }}, nil
		},
	}, draft.Instructions)
	if err != nil {
		return false, tableError(k.name, err)
	}
	defer func() { err = errors.Join(err, refusedHere(talk.Close())) }()
	question, words := "What do you want to play? Say as much as you like; an empty line ends it.", ""
	if len(k.draft.Characters) > 0 {
		question = "What should be different? (yes writes it as it is)"
		words = "This is how far we came:\n\n" + k.draft.JSON() + "\n\n"
	}
	for {
		said, err := k.hear(ctx, engine.Question{Text: question, Lines: true}, quest.Agrees)
		if err != nil {
			return false, err
		}
		switch {
		case quest.Agrees(said) && len(k.draft.Characters) > 0:
			return true, nil
		case said == "" || said == "/quit":
			k.app.aside("It is kept. Go on with: conclave table new %s --talk", k.name)
			return false, nil
		}
		if err := k.ask(ctx, talk, words+said); err != nil {
			return false, err
		}
		k.app.show(Passage{"digest", k.draft.Text()})
		question, words = "Is that it? (yes writes it; or say what should be different; an empty line keeps it for later)", ""
	}
}

// ask asks the agent for the whole campaign, and once more when what it said is
// none.
func (k *campaignTalk) ask(ctx context.Context, talk *talk.Talk, words string) error {
	var wrong error
	for range 2 {
		reply, err := talk.Say(ctx, words, draft.Schema, nil)
		if err != nil {
			return environmentError("%s gives no answer: %w", talk.Name, err)
		}
		var made draft.Draft
		if made, wrong = draft.Read(cmp.Or(string(reply.Structured), reply.Text)); wrong == nil {
			k.draft = made
			return k.keep()
		}
		words = "That could not be taken: " + wrong.Error() + ". Give the whole campaign again, right."
	}
	return environmentError("no campaign came of it: %w\ntry: conclave table new %s --talk, and say it differently", wrong, k.name)
}
