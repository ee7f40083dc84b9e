package main

import (
	"strings"

	"conclave/app"
	"conclave/internal/screen"
)

// app is what this command line calls: the environment as it stands now, with
// the flags read.
func (env *environment) app() *app.App {
	a := &app.App{
		Dir: env.Dir, Root: env.Root, Getenv: env.Getenv, Stdin: env.Stdin, Version: version,
		Log: env.log, Show: env.show,
	}
	if env.StdinIsTerminal {
		a.Person = env.keyboard()
	}
	return a
}

// keyboard is the one reader of what is typed.
func (env *environment) keyboard() *keyboard {
	if env.person == nil {
		env.person = &keyboard{env: env}
	}
	return env.person
}

// show prints an event.
func (env *environment) show(e app.Event) {
	switch e := e.(type) {
	case app.Warning:
		env.Stderr.Printf("conclave: %s\n", e.Text)
	case app.Faults:
		printFaults(env.Stdout, e)
	case app.Following:
		env.Stderr.Printf("following %s\n", strings.Join(e.Roots, " and "))
	case app.Collecting:
		env.showCollecting(e.Balance)
	case app.Progress:
		env.showProgress(e)
	case app.Aside:
		env.keyboard().out().Printf("%s\n", screen.Prose("", screen.Dim(e.Text)))
	case app.Note:
		env.Stdout.Printf("\n%s\n", screen.Prose("", e.Text))
	case app.Remark:
		env.Stdout.Printf("%s\n", screen.Prose("", e.Text))
	case app.Passage:
		env.printPassage(e)
	case app.ClearScreen:
		env.Stdout.Clear()
	case app.Speech:
		if !env.muted {
			env.voice.hear(env.Stdout, e)
		}
	case app.Outcome:
		env.printOutcome(e)
		env.printOffers(app.Offers{List: e.Offers})
	case app.Offers:
		env.printOffers(e)
	case app.Standing:
		env.printStanding(e)
	case app.Cast:
		env.printCast(e)
	case app.RoomView:
		env.printRoom(e)
	case app.Audited:
		printAudit(env.Stdout, e.Reports, 0)
	}
}

// printPassage prints what a seat of this screen sees of a table.
func (env *environment) printPassage(p app.Passage) {
	switch p.Kind {
	case "scene":
		title, place, _ := strings.Cut(p.Text, "\n")
		env.Stdout.Printf("\n%s\n", screen.Bold("── "+title+" ──"))
		if place != "" {
			env.Stdout.Printf("  %s\n", screen.Prose("  ", screen.Dim(place)))
		}
	case "narrative", "recap", "desk":
		env.Stdout.Printf("\n  %s\n", screen.Markdown("  ", p.Text))
	case "digest":
		env.Stdout.Printf("  %s\n\n", screen.Markdown("  ", p.Text))
	case "slow":
		if !env.Stdout.Terminal() {
			return // nobody is here to wonder why it takes so long
		}
		fallthrough
	default:
		env.Stdout.Printf("\n  %s\n", screen.Dim(screen.Indent("  ", p.Text)))
	}
}
