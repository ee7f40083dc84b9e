package profile

import (
	"context"
	"fmt"
	"strings"
)

// Question is one thing about a pack that rules cannot decide.
type Question struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Judge answers a question about a pack in a sentence or two. A mentor agent is
// one. Judge is called for one question at a time; an error leaves the question
// unjudged and is shown.
type Judge interface {
	Judge(ctx context.Context, pack *Pack, q Question) (opinion string, err error)
}

// Item is a line of the checklist.
type Item struct {
	Question
	Judged bool   `json:"judged"`
	Answer string `json:"answer"` // "judged by the mentor: …" or "not judged"
}

// questions are the sentences on coherence and compatibility that remain after
// the rules have looked.
var questions = []Question{
	{"vocabulary", "Do all nine draw on one thematic vocabulary?"},
	{"likeness", "Are no two characters too alike in tone or personality?"},
	{"distinctiveness", "Is what sets each character apart what sets its archetype apart?"},
	{"npc-roles", "Do the mentor, the gatekeeper and the adversary keep their roles under their skins?"},
	{"compatibility", "Does every profile keep the core behaviour of its archetype?"},
}

// Review goes through the checklist. Without a judge every item says so.
func Review(ctx context.Context, pack *Pack, judge Judge) []Item {
	items := make([]Item, len(questions))
	for i, q := range questions {
		items[i] = Item{Question: q, Answer: "not judged"}
		if judge == nil {
			continue
		}
		opinion, err := judge.Judge(ctx, pack, q)
		if err != nil {
			items[i].Answer = fmt.Sprintf("not judged: %v", err)
			continue
		}
		items[i].Judged = true
		items[i].Answer = "judged by the mentor: " + strings.Join(strings.Fields(opinion), " ")
	}
	return items
}
