package story

import (
	"fmt"
	"strings"

	"conclave/policy"
	"conclave/table"
)

// Past is where a story stands, for whoever comes back to it: the scene, and the
// newest cycle that stands.
type Past struct {
	Scene Scene  `json:"scene"`
	Last  *Event `json:"last,omitempty"`

	called func(seat string) string
}

// Lately reads the past of a campaign. It takes no lock.
func Lately(root, campaign string) (Past, error) {
	s, err := Load(root, campaign)
	p := Past{Scene: s.Scene, called: calledIn(root, campaign)}
	if err != nil {
		return p, err
	}
	dir := LogPath(root, campaign)
	log, err := places(dir)
	if err != nil {
		return p, err
	}
	stands := standing(log)
	for i := len(log) - 1; i >= 0; i-- {
		if !stands[i] || !strings.HasSuffix(log[i].name, "-"+EventCommit+".json") {
			continue
		}
		e, err := readEvent(dir, log[i].name)
		if err == nil {
			p.Last = &e
		}
		return p, err
	}
	return p, nil
}

// Title is the scene's heading; "" where no scene has a name.
func (p Past) Title() string {
	if p.Scene.Number == 0 {
		return ""
	}
	return p.Scene.Heading()
}

// For is what a seat knew of the newest cycle: its own words, and what it was
// told. "" for nothing.
func (p Past) For(seat string) string {
	if p.Last == nil {
		return ""
	}
	if p.called == nil {
		p.called = table.Roster{}.Called
	}
	var parts []string
	e, master := p.Last, seat == string(policy.GM)
	if in := e.Input; in != nil && in.Text != "" && (in.Who == seat || master) {
		parts = append(parts, p.said(in.Who, seat, in.Text))
	}
	for _, a := range e.Asked {
		if a.Outcome != OutcomeError && (a.Character == seat || master) {
			parts = append(parts, p.said(a.Character, seat, a.Response))
		}
	}
	if text := TextOf(e.Blocks, seat, p.called); text != "" {
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n\n")
}

func (p Past) said(who, seat, text string) string {
	name := "You"
	if who != seat {
		name = p.called(who)
	}
	return fmt.Sprintf("%s: %s", strings.ToUpper(name[:1])+name[1:], strings.TrimSpace(text))
}

// Heading is the scene as a title: its name, and in the next line its place.
func (s Scene) Heading() string { return strings.TrimSpace(s.Title + "\n" + s.Place) }
