package main

import (
	"strings"

	"conclave/internal/screen"
	"conclave/quest/flow"
	"conclave/room"
)

type deniedPiece struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Size   int    `json:"size"`
	Reason string `json:"reason"`
	Source string `json:"source"`
}

// heldBack is a file of the project, or of the named work, that stays outside.
type heldBack struct {
	Path   string `json:"path"`
	Kind   string `json:"kind,omitempty"`
	Reason string `json:"reason"`
}

type roomView struct {
	Role      string        `json:"role"`
	Level     room.Level    `json:"level"`
	Workspace bool          `json:"workspace"`
	Given     []room.Item   `json:"given"`
	Denied    []deniedPiece `json:"denied"`
	// HeldBack is bounded; HeldBackCount is how many there are.
	HeldBack      []heldBack `json:"held_back"`
	HeldBackCount int        `json:"held_back_count"`
	// Stamps are what the receipts of such a room say.
	Stamps []string `json:"stamps,omitempty"`
}

// How many held back files are listed, for people and for programs.
const (
	maxShownBack = 40
	maxListed    = 1000
)

func shownRoom(f flow.Furnishing, m room.Manifest) roomView {
	v := roomView{Role: f.Plan.Role, Level: f.Plan.Level, Workspace: f.Plan.Workspace != nil, Given: m.Items, Denied: []deniedPiece{},
		HeldBack: []heldBack{}, Stamps: f.Stamps}
	for _, p := range f.Grants.Denied {
		v.Denied = append(v.Denied, deniedPiece{string(p.Kind), p.Name, len(p.Bytes), p.Decision.Reason, p.Decision.Source})
	}
	for _, l := range f.LeftOut {
		v.hold(heldBack{Path: l.Path, Kind: string(l.Kind), Reason: l.Reason})
	}
	for _, l := range m.LeftOut {
		kind, reason, ok := strings.Cut(l.Why, ": ")
		if !ok || strings.Contains(kind, " ") {
			kind, reason = "", l.Why
		}
		v.hold(heldBack{Path: l.Path, Kind: kind, Reason: reason})
	}
	return v
}

func (v *roomView) hold(h heldBack) {
	if v.HeldBackCount++; v.HeldBackCount <= maxListed {
		v.HeldBack = append(v.HeldBack, h)
	}
}

func (env *environment) printRoom(f flow.Furnishing, m room.Manifest) {
	v := shownRoom(f, m)
	env.Stdout.Printf("%s\n", screen.Bold(screen.Sprintf("What %s would see (room: %s)", v.Role, v.Level)))
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

func (env *environment) printHeldBack(v roomView) {
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
		env.Stdout.Printf("  … and %d more (--json lists up to %d)\n", n, maxListed)
	}
}
