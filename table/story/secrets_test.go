package story

import (
	"testing"

	"conclave/table"
)

// A secret is known to who said it and to the game master; to others from the
// cycle on in which its words were told to them, and not for what they had heard
// before. What was undone by a restore was never known.
func TestWaysOfSecrets(t *testing.T) {
	root := t.TempDir()
	l := newTeller(t, root, "ash")
	party := func(text string) table.Block { return table.Block{Audience: table.Audience{Party: true}, Text: text} }
	only := func(text string, names ...string) table.Block {
		return table.Block{Audience: table.Audience{Names: names}, Text: text}
	}
	l.cycle = 1
	l.event(Event{Kind: EventCommit, Blocks: []table.Block{party("The lantern swings over the black water.")}})
	l.cycle = 2
	l.event(Event{Kind: EventCommit, Asked: []Asked{{Character: "bram", Outcome: OutcomeAnswer, Private: true,
		Response: "I buried the silver key beneath the crooked willow."}}, Blocks: []table.Block{
		only("Beneath the willow you find your brother's ring.", "tilda"), party("The lantern swings over the black water.")}})
	l.cycle = 3
	l.event(Event{Kind: EventCommit, Blocks: []table.Block{
		party("Somebody buried the silver key beneath the crooked willow, says the ferryman.")}})
	ways, left, err := Ways(root, "ash", []string{"gm", "bram", "tilda", "table"})
	if err != nil || left != 0 || len(ways) != 2 {
		t.Fatal(ways, left, err)
	}
	from := func(w Way, seat string) int {
		for _, k := range w.Known {
			if k.Seat == seat {
				return k.Cycle
			}
		}
		return 0
	}
	for seat, want := range map[string]int{"bram": 2, "gm": 2, "tilda": 3, "table": 3} {
		if got := from(ways[0], seat); got != want {
			t.Errorf("%s knows Bram's from cycle %d, not %d: %+v", seat, got, want, ways[0])
		}
	}
	for seat, want := range map[string]int{"bram": 0, "gm": 2, "tilda": 2, "table": 0} {
		if got := from(ways[1], seat); got != want {
			t.Errorf("%s knows Tilda's from cycle %d, not %d: %+v", seat, got, want, ways[1])
		}
	}
	if as := ways[1].As("tilda"); !as.KnownTo("tilda") || as.KnownTo("bram") {
		t.Errorf("%+v", as)
	}
}
