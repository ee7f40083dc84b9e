package flow

import (
	"strings"
	"time"

	"conclave/policy"
	"conclave/table"
	"conclave/table/story"
)

// For is what a seat sees of a notice; "" for nothing.
func (n Notice) For(seat string) string {
	if n.To != "" && n.To != seat {
		return ""
	}
	switch n.Kind {
	case "narrative":
		if n.called == nil {
			n.called = table.Roster{}.Called
		}
		return story.TextOf(n.Blocks, seat, n.called)
	case "waiting":
		return "Waiting for " + strings.Join(n.Names, ", ") + "."
	case "recap":
		return n.Past.For(seat)
	case "note":
		// Remarks of the engine may name what only the GM knows.
		if seat != string(policy.GM) {
			return n.Others
		}
	}
	return n.Text
}

// Digest is what a character's person missed while away: what was narrated to
// it since, and nothing else.
func (t *Table) Digest(character string) (string, error) {
	since, away := t.snapshot().Away[character]
	if !away {
		return "", nil
	}
	return story.Missed(t.opts.Workspace, t.opts.Campaign, character, since)
}

// Remind shows those who come back where the story stands: the scene, and the
// last exchange as each seat knew it.
func (t *Table) Remind() error {
	notices, _, err := t.Recap()
	for _, n := range notices {
		t.show(n)
	}
	return err
}

// Recap is what Remind shows, and the cycle that it tells of; for a screen that
// comes later.
func (t *Table) Recap() (list []Notice, cycle int, err error) {
	past, err := story.Lately(t.opts.Workspace, t.opts.Campaign)
	if err != nil || past.Last == nil {
		return nil, 0, err
	}
	if title := past.Title(); title != "" {
		list = append(list, Notice{Kind: "scene", Text: title, Cycle: past.Last.Cycle, Again: true})
	}
	return append(list, Notice{Kind: "recap", Past: past, Cycle: past.Last.Cycle, Again: true}), past.Last.Cycle, nil
}

// tell shows what was narrated in a cycle so far, with the scene that began in it.
func (c *cycle) tell(blocks []table.Block) {
	if c.scene != nil && !c.entered {
		c.entered = true
		c.t.show(Notice{Kind: "scene", Cycle: c.Cycle, Text: c.scene.Heading()})
	}
	c.t.show(Notice{Kind: "narrative", Cycle: c.Cycle, Blocks: blocks})
}

// slowly shows a sign of life when something takes a while, until stop is called.
func (t *Table) slowly(n Notice) (stop func()) {
	said := make(chan struct{})
	slow := time.AfterFunc(time.Second, func() {
		defer close(said)
		t.show(n)
	})
	return func() {
		if !slow.Stop() {
			<-said
		}
	}
}
