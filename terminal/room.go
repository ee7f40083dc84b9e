package terminal

import (
	"conclave/app"
	"conclave/internal/screen"
)

// maxShownBack is how many held back files are listed for people.
const maxShownBack = 40

// PrintRoom lists what a role would see, and what not.
func (t *Terminal) PrintRoom(v app.RoomView) {
	t.Stdout.Printf("%s\n", screen.Bold(screen.Sprintf("What %s would see (room: %s)", v.Name, v.Walls())))
	tw := t.Stdout.Table(false)
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
		t.Stdout.Printf("  note: %s\n", s)
	}
	t.Stdout.Printf("\n%s\n", screen.Bold("What it would not"))
	tw = t.Stdout.Table(false)
	for _, d := range v.Denied {
		tw.Printf("  %s\t%s\t%s\n", d.Name, d.Kind, d.Reason)
	}
	if len(v.Denied) == 0 {
		tw.Printf("  of the quest's own files: there is none that it may not see\n")
	}
	tw.Flush()
	t.printHeldBack(v)
}

func (t *Terminal) printHeldBack(v app.RoomView) {
	if v.HeldBackCount == 0 {
		return
	}
	t.Stdout.Printf("\n%s\n", screen.Bold("Held back of the project"))
	tw := t.Stdout.Table(false)
	for _, h := range v.HeldBack[:min(len(v.HeldBack), maxShownBack)] {
		tw.Printf("  %s\t%s\t%s\n", h.Path, h.Kind, h.Reason)
	}
	tw.Flush()
	if n := v.HeldBackCount - maxShownBack; n > 0 {
		t.Stdout.Printf("  … and %d more (--json lists up to %d)\n", n, app.MaxHeldBack)
	}
}
