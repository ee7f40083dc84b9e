package main

import (
	"conclave/app"
	"conclave/internal/screen"
)

// maxShownBack is how many held back files are listed for people.
const maxShownBack = 40

func (env *environment) printRoom(v app.RoomView) {
	env.Stdout.Printf("%s\n", screen.Bold(screen.Sprintf("What %s would see (room: %s)", v.Name, v.Level)))
	tw := env.Stdout.Table(false)
	for _, i := range v.Given {
		if i.Mounted {
			tw.Printf("  %s\t%s\tread-only view of the project, %d files\t\n", i.Path, i.Kind, i.Files)
			continue
		}
		tw.Printf("  %s\t%s\t%d bytes\t%.12s\n", i.Path, i.Kind, i.Size, i.SHA256)
	}
	if len(v.Given) == 0 {
		tw.Printf("  nothing\t\t\t\n")
	}
	tw.Flush()
	for _, s := range v.Stamps {
		env.Stdout.Printf("  note: %s\n", s)
	}
	env.Stdout.Printf("\n%s\n", screen.Bold("What it would not"))
	tw = env.Stdout.Table(false)
	for _, d := range v.Denied {
		tw.Printf("  %s\t%s\t%s\n", d.Name, d.Kind, d.Reason)
	}
	if len(v.Denied) == 0 {
		tw.Printf("  of the quest's own files: there is none that it may not see\n")
	}
	tw.Flush()
	env.printHeldBack(v)
}

func (env *environment) printHeldBack(v app.RoomView) {
	if v.HeldBackCount == 0 {
		return
	}
	env.Stdout.Printf("\n%s\n", screen.Bold("Held back of the project"))
	tw := env.Stdout.Table(false)
	for _, h := range v.HeldBack[:min(len(v.HeldBack), maxShownBack)] {
		tw.Printf("  %s\t%s\t%s\n", h.Path, h.Kind, h.Reason)
	}
	tw.Flush()
	if n := v.HeldBackCount - maxShownBack; n > 0 {
		env.Stdout.Printf("  … and %d more (--json lists up to %d)\n", n, app.MaxHeldBack)
	}
}
