package profile

import (
	"context"
	"fmt"
	"slices"
)

// Question is one thing about a pack that rules cannot decide.
type Question struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Opinion is what a judge answers: whether it holds, and why.
type Opinion struct {
	Holds bool   `json:"holds"`
	Why   string `json:"why"`
}

// Judge answers questions about a pack, by their IDs. A mentor agent is one. An
// error leaves them unjudged and is shown, and so is a question left out.
type Judge interface {
	Judge(ctx context.Context, pack *Pack, questions []Question) (map[string]Opinion, error)
}

// Item is a line of the checklist.
type Item struct {
	Question
	Judged bool   `json:"judged"`
	Holds  bool   `json:"holds"`  // as the mentor sees it; false where nothing was judged
	Answer string `json:"answer"` // "judged by the mentor: …" or "not judged"
}

// questions are the sentences on coherence and compatibility that remain after
// the rules have looked.
var questions = []Question{
	{"vocabulary", "Do all nine draw on one thematic vocabulary?"},
	{"tone", "Are no two characters too alike in tone?"},
	{"personality", "Are no two characters too alike in personality?"},
	{"distinctiveness", "Is what sets each character apart what sets its archetype apart?"},
	{"npc-roles", "Do the mentor, the gatekeeper and the adversary keep their roles under their skins?"},
	{"compatibility", "Does every profile keep the core behaviour of its archetype?"},
}

// Review goes through the checklist. Without a judge every item says so.
func Review(ctx context.Context, pack *Pack, judge Judge) []Item {
	unjudged, opinions := "not judged", map[string]Opinion{}
	if judge != nil {
		var err error
		if opinions, err = judge.Judge(ctx, pack, slices.Clone(questions)); err != nil {
			unjudged = fmt.Sprintf("not judged: %v", err)
		}
	}
	items := make([]Item, len(questions))
	for i, q := range questions {
		items[i] = Item{Question: q, Answer: unjudged}
		if o, ok := opinions[q.ID]; ok {
			items[i].Judged, items[i].Holds = true, o.Holds
			items[i].Answer = "judged by the mentor: " + map[bool]string{true: "yes", false: "no"}[o.Holds] + ": " + inLine(o.Why)
		}
	}
	return items
}
