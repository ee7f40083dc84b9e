package app

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"conclave/internal/screen"
	"conclave/quest"
	"conclave/room"
)

//go:embed all:demo
var demoFiles embed.FS

// demo runs the product's own verbs in a workspace of its own. Scripted are what
// the person says and what the Cat answers; everybody else is the embedded
// party, and rooms, checks, files and records are what they always are.
type demo struct {
	app  *App // in the demo's own workspace
	root string
	said []string // what the person will say
}

// Demo plays a short scene in a workspace of its own, and keeps that where the
// person says so. The person's own configuration has no part in it: nobody
// there asks a model.
func (a *App) Demo(ctx context.Context, keep string) (err error) {
	home, err := os.MkdirTemp("", "conclave-demo-")
	if err != nil {
		return environmentError("%w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	d := &demo{root: filepath.Join(home, "workspace")}
	if keep != "" {
		d.root = a.AbsPath(keep)
	}
	inside := *a
	inside.Dir, inside.Root, inside.Person = d.root, d.root, d
	inside.Getenv = func(name string) string {
		switch name {
		case "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME":
			return home
		}
		return a.Getenv(name)
	}
	d.app = &inside
	if err := d.prepare(); err != nil {
		return environmentError("%w", err)
	}
	d.say("%s", screen.Dim("All of this is the product at work. A script says what you say and what the Cat answers;"))
	d.say("%s", screen.Dim("everybody else is the embedded party, which looks and does not reason."))
	for _, act := range []func(context.Context) error{d.consult, d.look, d.walls, d.confront, d.table, d.judge} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	return nil
}

// prepare lays out a workspace with a quest, some work and the Cat's script, and
// trusts what it wrote itself.
func (d *demo) prepare() error {
	files, err := fs.Sub(demoFiles, "demo")
	if err != nil {
		return err
	}
	if err := os.CopyFS(d.root, files); err != nil {
		return err
	}
	t, err := d.app.Trust()
	if err != nil {
		return err
	}
	return t.Grant()
}

func (d *demo) say(format string, args ...any) { d.app.show(Remark{screen.Sprintf(format, args...)}) }

func (d *demo) heading(text string) { d.say("\n%s", screen.Bold(text)) }

// Ask implements Person: it answers with the next line of the script.
func (d *demo) Ask(context.Context, Question) (string, error) {
	if len(d.said) == 0 {
		return "", nil // which ends a conversation
	}
	words := d.said[0]
	d.said = d.said[1:]
	d.say("\n%s %s", screen.Bold("User:"), screen.Indent("  ", words))
	return words, nil
}

func (d *demo) consult(ctx context.Context) error {
	d.heading("1. A consultation, word for word")
	d.said = []string{
		"We want to ship on Friday. What do you see?", "Mara ran it on Thursday, on a copy. It is written down.",
	}
	_, err := d.app.Consult(ctx, Consultation{Who: "cat", Talk: Talk{Once: true}})
	return err
}

// demoWork is what the Dragon is to judge.
var demoWork = []string{"CHECKLIST.md", "REHEARSAL.md"}

// look shows what the Dragon would see.
func (d *demo) look(ctx context.Context) error {
	d.heading("2. The Dragon's room")
	v, err := d.app.ShowRoom(ctx, RoomOf{Role: "dragon", Work: demoWork})
	if err == nil {
		d.app.show(v)
	}
	return err
}

// walls tries, with a real program in the real room, to read the quest.
func (d *demo) walls(ctx context.Context) error {
	d.heading("3. Its walls, tried by a real program")
	secret := filepath.Join(d.root, filepath.FromSlash(quest.QuestFile))
	null, err := os.Open(os.DevNull)
	if err != nil {
		return environmentError("%w", err)
	}
	defer null.Close()
	e, err := d.app.runInRoom(ctx, RoomOf{Role: "dragon", Work: demoWork}, []string{"cat", secret},
		func(run func(Streams) error) error { return run(Streams{In: null, Out: null, Err: null}) })
	var exit *exec.ExitError
	switch {
	case errors.Is(err, room.ErrLevel):
		d.say("rooms cannot be sealed on this machine, so no evaluator would start here: %v", err)
		return nil
	case err == nil:
		return noError("a program in the Dragon's room read %s: the wall does not hold", secret)
	case !errors.As(err, &exit):
		return err
	}
	held := 0
	for _, p := range e.Probes {
		if p.Holds() {
			held++
		}
	}
	d.say("$ cat %s      %s", quest.QuestFile, screen.Green("no such file"))
	d.say("%s by %s: %d things were possible outside and impossible inside", e.Level, e.Mechanism, held)
	return nil
}

// confront has the Dragon judge. Its answer is no, which is no reason to stop.
func (d *demo) confront(ctx context.Context) error {
	d.heading("4. The Dragon judges the work, not the workers")
	_, err := d.app.Confront(ctx, Evaluation{Paths: demoWork, Talk: Talk{Once: true}})
	switch {
	case Said(err):
		return nil
	case errors.Is(err, room.ErrLevel):
		d.say("rooms cannot be sealed on this machine, so no check can be run here: %v", err)
		return nil
	}
	return err
}

// table plays the beginning of the first adventure, with a veto and a secret,
// and shows one moment as each of three may read it.
func (d *demo) table(ctx context.Context) error {
	d.heading("5. A table: what each of them did in secret, on three screens")
	if _, err := d.app.NewTable("weir", DefaultAdventure, nil); err != nil {
		return err
	}
	play := Playing{Seating: Seating{Table: "weir", Auto: true}, MaxTurns: 2, End: true}
	if _, err := d.app.PlayTable(ctx, play); err != nil {
		return err
	}
	for _, who := range []string{"bram-oatley", "corin-vale", "ysolde-marrow"} {
		story, _, err := d.app.ExportStory(StoryExport{Table: "weir", As: who, Format: "md"})
		if err != nil {
			return err
		}
		_, alone, _ := strings.Cut(story, "Nobody saw it. ") // what they share was told above
		alone, _, _ = strings.Cut(alone, "\n\n")
		d.say("\n%s\n  %s", screen.Bold("On "+who+"'s screen:"), screen.Indent("  ", "Nobody saw it. "+alone))
	}
	return nil
}

// judge asks the record who knew what.
func (d *demo) judge(context.Context) error {
	d.heading("6. Who knew what? The record answers")
	reports, err := d.app.Audit(nil)
	if err == nil || Said(err) {
		d.app.show(Audited{reports})
	}
	return err
}
