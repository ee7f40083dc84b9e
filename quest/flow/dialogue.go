package flow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"conclave/agent"
	"conclave/audit"
	"conclave/engine"
	"conclave/quest"
	"conclave/seat"
)

// EndTalk is the answer that ends a conversation, and the default of every
// question for the person's next words.
const EndTalk = "/end"

// dialogue is one conversation between the person and one seat.
type dialogue struct {
	h *House
	r *engine.Run
	o Opening
	x extras
	// quiet turns are not heard while they are spoken: several seats at once
	// would be noise.
	quiet bool

	// ends says whether words of the person are not for the agent, and end the
	// conversation; nil: none do.
	ends func(words string) bool
	// ending tells the person how a conversation ends; "" for the usual way.
	ending string
	// understand takes the person's own words for a yes where they agree; earlier
	// versions of a flow do not.
	understand bool
	lines      bool // the person is asked for as many lines as they like
	begins     bool // the agent speaks first, and the person has said nothing

	asks   int
	turns  []string   // whose words stand in the file
	parts  []saidPart // the exchange, in order
	opened []string   // what the person typed on the way here
	wish   string     // the words that ended it, when they ask for something else
	said   []string   // by the agent, aloud
	words  []string   // the person's, as they were said
	ended  string     // why it ended early

	// What the agent noted with its tools.
	recommended []string
	logged      []logged
	notes       []string // what the person must know of it
	quest       []byte   // quest.md with that in it; nil: as it was
}

func (h *House) dialogue(r *engine.Run, o Opening, x extras) *dialogue {
	return &dialogue{h: h, r: r, o: o, x: x}
}

// say takes a turn that stands in the conversation: the person's words, and
// around them what the engine has to add. It is false when the conversation
// has ended early.
func (t *dialogue) say(framing, words string) (agent.Reply, bool, error) {
	id := fmt.Sprintf("t%d", len(t.turns)+1)
	t.turns = append(t.turns, id)
	t.parts = append(t.parts, saidPart{Turn: id})
	t.words = append(t.words, words)
	reply, ok, err := t.takeTurn(id, true, nil, framing, words)
	if !ok || err != nil {
		return reply, ok, err
	}
	if strings.TrimSpace(reply.Text) == "" {
		t.ended = t.o.face(t.o.Role).Name() + " said nothing"
		if reply.Stopped != "" {
			t.ended += " (" + reply.Stopped + ")"
		}
		return reply, false, nil
	}
	t.said = append(t.said, reply.Text)
	return reply, true, t.keepNotes(id, reply)
}

// request takes a turn that is the engine's alone and asks for a structured
// answer.
func (t *dialogue) request(id, words string, schema []byte) (agent.Reply, bool, error) {
	return t.takeTurn(id, false, schema, words, "")
}

func (t *dialogue) takeTurn(id string, aloud bool, schema []byte, framing, words string) (agent.Reply, bool, error) {
	if t.ended != "" {
		return agent.Reply{}, false, nil
	}
	got, err := engine.Turn(t.r, t.turn(id, aloud, schema, framing, words))
	return t.turnResult(got, err)
}

func (t *dialogue) turnResult(got engine.TurnResult, err error) (agent.Reply, bool, error) {
	if engine.CodeOf(err) == codeEnded {
		t.ended = err.Error()
		return agent.Reply{}, false, nil
	}
	return got.Reply, err == nil, err
}

func (t *dialogue) turn(id string, aloud bool, schema []byte, framing, words string) *questTurn {
	var parts []audit.Part
	if framing != "" {
		parts = append(parts, audit.Part{Origin: audit.FromEngine, Text: framing})
	}
	if words != "" {
		parts = append(parts, audit.Part{Origin: t.o.speaker(), Text: words})
	}
	turn := &questTurn{
		EngineTurn: seat.EngineTurn{
			Set: t.h.seats, Run: t.o.Run, Turn: seat.Turn{ID: id, Parts: parts, Schema: schema},
			Plan: func(ctx context.Context) (seat.Plan, error) { return t.h.plan(ctx, t.o, t.x) },
		},
		h: t.h, face: t.o.face(t.o.Role), aloud: aloud,
	}
	if l := t.h.opts.Listener; l != nil && aloud && !t.quiet {
		turn.Turn.Watch = func(e agent.Event) { l.Hear(turn.face, e) }
	}
	return turn
}

// ask puts a question to the person. The number in its name is the same at
// every replay, so that a file of answers can be read again.
func (t *dialogue) ask(name string, q engine.Question) (string, error) {
	if t.ended != "" {
		return "", nil
	}
	t.asks++
	t.h.remind(t.o.Run, t.o.face(t.o.Role), t.said)
	answer, err := engine.Ask(t.r, fmt.Sprintf("%d %s", t.asks, name), q)
	if why, ok := strings.CutPrefix(answer, abandonMark); ok {
		t.ended = why
		return "", nil
	}
	t.words = append(t.words, answer)
	return answer, err
}

// heard reports whether the person said something, letter by letter.
func (t *dialogue) heard(text string) bool {
	return slices.ContainsFunc(t.words, func(w string) bool { return strings.Contains(w, text) })
}

// personSaid is what the person said in the conversation.
func (t *dialogue) personSaid() string { return strings.Join(t.words, "\n\n") }

// typed notes what the person typed and what was not said to the agent: it stands
// in the conversation all the same.
func (t *dialogue) typed(words string) {
	if strings.TrimSpace(words) != "" && t.ended == "" {
		t.parts = append(t.parts, saidPart{Person: words})
	}
}

// withoutWords is said of a conversation that the person began by a command
// alone: nobody put words into their mouth.
const withoutWords = ", begun without a message"

// converse exchanges messages until the person is done, and returns what the
// agent said.
func (t *dialogue) converse(framing, words string) (string, error) {
	name := t.o.face(t.o.Role).Name()
	question := fmt.Sprintf("What do you want to say to %s?", name)
	for n := 1; ; n++ {
		silent := t.begins && n == 1
		if words == "" && !silent {
			var err error
			if words, err = t.message(question); err != nil {
				return "", err
			}
			if words != "" && t.ended == "" && t.ends != nil && t.ends(words) {
				break
			}
		}
		if words == "" && !silent || t.ended != "" {
			break
		}
		if n > 1 {
			framing = ""
		}
		if _, ok, err := t.say(framing, words); err != nil {
			return "", err
		} else if !ok {
			break
		}
		ending := t.ending
		if ending == "" {
			ending = "empty to end"
		}
		words, question = "", fmt.Sprintf("Your answer to %s (%s)", name, ending)
	}
	return strings.Join(t.said, "\n\n"), nil
}

// wishes ends a conversation at words that ask for something else: the Dragon,
// somebody else, to leave. They stand at its end.
func (t *dialogue) wishes(words string) bool {
	w, ok := quest.Understand(words, false, t.o.face)
	if !ok || w.Who == t.o.Role && w.Action != quest.ActReadiness {
		return false
	}
	if w.Action != quest.ActDone {
		t.wish = words
	}
	t.typed(words)
	return true
}

// message asks for the person's next message; empty means that they are done.
func (t *dialogue) message(question string) (string, error) {
	answer, err := t.ask("message", engine.Question{Text: question, Default: EndTalk, Lines: t.lines})
	if strings.TrimSpace(answer) == EndTalk || strings.TrimSpace(answer) == "" {
		return "", err
	}
	return answer, err
}

// choose asks until one of the options is chosen, or free words are given
// where they are welcome.
func (t *dialogue) choose(name, text string, options []engine.Option, fallback string, free bool) (quest.Choice, error) {
	var offers []quest.Offer
	for _, o := range options {
		offers = append(offers, quest.Offer{Label: o.Label, Reason: o.Hint})
	}
	hint := ""
	for {
		answer, err := t.ask(name, engine.Question{Text: text + hint, Options: options, Default: fallback, Silent: true})
		if err != nil || t.ended != "" {
			return quest.Choice{}, err
		}
		typed := answer
		if answer == "" {
			answer = fallback
		}
		c, err := quest.Choose(offers, answer)
		if t.understand && quest.Agrees(answer) && strings.HasPrefix(offers[0].Label, "Yes") {
			c, err = quest.Choice{Offer: &offers[0]}, nil
		}
		if c.Offer != nil || err != nil || !free {
			t.typed(typed) // free words are for whoever they are said to
		}
		switch {
		case err != nil:
			hint = "\n(" + err.Error() + ")"
		case c.Offer == nil && !free:
			hint = "\n(" + quest.ErrChoose.Error() + ")"
		default:
			return c, nil
		}
	}
}

// chosen is the number of an option, from 0.
func chosen(options []engine.Option, c quest.Choice) int {
	for i, o := range options {
		if c.Offer != nil && c.Offer.Label == o.Label {
			return i
		}
	}
	return -1
}

var errNothingSaid = errors.New("nothing was said")
