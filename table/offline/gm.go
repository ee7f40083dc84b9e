package offline

import (
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"conclave/agent"
	"conclave/agent/local"
	"conclave/transcript"
)

// progressFile is where the game master notes which beat is next.
const progressFile = "beats/progress.md"

// GM returns the game master.
func GM() agent.Agent {
	return &local.Agent{Name: transcript.AdapterOffline, New: func(s agent.Spec) (local.Conversation, error) {
		return local.Words((&gm{files: s.Files}).Answer), nil
	}}
}

type gm struct {
	files   fs.FS
	asked   []string // the characters of the running beat
	at      int      // the running beat, from 1
	answers map[string]string
}

// Answer plays a turn of the game master.
func (g *gm) Answer(_ context.Context, m agent.Message) ([]string, error) {
	in := parse(m.Text)
	if g.at == 0 {
		g.at = g.progress(in)
	}
	switch in.header["Event"] {
	case "responses":
		return one(g.responses(in)), nil
	case "rolls":
		return one(g.outcome(!strings.Contains(in.body, "failure"))), nil
	case "narrate":
		return one(g.outcome(true)), nil
	case "repair", "nudge":
		return one(g.again()), nil
	}
	g.at = g.progress(in)
	return one(g.open(in)), nil
}

func one(s string) []string { return []string{s} }

// progress reads which beat is next, from the file or from the notes.
func (g *gm) progress(in input) int {
	if g.files != nil {
		for _, name := range []string{"campaign/" + progressFile, progressFile} {
			if data, err := fs.ReadFile(g.files, name); err == nil {
				if n := beatIn(string(data)); n > 0 {
					return n
				}
			}
		}
	}
	if n := beatIn(in.body); n > 0 {
		return n
	}
	return 1
}

var beatLine = regexp.MustCompile(`(?m)^\s*Beat: (\d+)`)

func beatIn(text string) int {
	found := beatLine.FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(found[len(found)-1][1])
	return n
}

func (g *gm) beat() (beat, bool) {
	if g.at < 1 || g.at > len(book) {
		return beat{}, false
	}
	return book[g.at-1], true
}

// open tells the beat and asks everyone who is there and is not a person.
func (g *gm) open(in input) string {
	b, ok := g.beat()
	if !ok {
		return "The lamp burns over Fallow Weir. There is nothing left to tell tonight.\n\n[END_SESSION]"
	}
	g.asked, g.answers = in.company(), map[string]string{}
	var out strings.Builder
	if len(in.words) > 0 { // said before the page was turned
		who := ""
		if in.speaker != "table" {
			who = name(in.speaker) + ": "
		}
		fmt.Fprintf(&out, "%s%s\n\n", who, woven(in.words))
	}
	fmt.Fprintf(&out, "[SCENE: %s]\n\n%s\n\n", b.scene, b.opening)
	if len(g.asked) == 0 {
		return out.String() + g.settle(b)
	}
	for _, who := range g.asked {
		out.WriteString(prompt(who, b, b.kind, b.ask))
	}
	out.WriteString(g.context())
	fmt.Fprintf(&out, "[AWAIT_AI_PLAYERS: %s]\n", strings.Join(g.asked, ", "))
	return out.String()
}

// prompt is a prompt file in the form that the table asks for.
func prompt(who string, b beat, kind, ask string) string {
	title, place, _ := strings.Cut(b.scene, " | ")
	if own := b.secret[who]; own != "" {
		ask = own + " " + ask
	}
	return fmt.Sprintf("[FILE: tmp/%s-prompt.md]\n---\nrequest_type: %s\n---\n\n## Scene\n%s: %s.\n\n## Just Happened\n%s\n\n## Request\n%s\n[/FILE]\n\n",
		who, kind, title, place, b.just, ask)
}

func (g *gm) context() string {
	return fmt.Sprintf("[FILE: tmp/gm-context.md]\n## Expecting\nBeat: %d\nAn answer from each of %s.\n\n## Contingencies\n- If veto: ask that one again, with more.\n- If they agree: let the dice decide.\n\n## Scene Direction\nOn to the next beat.\n[/FILE]\n\n",
		g.at, strings.Join(g.asked, ", "))
}

// responses asks those again who vetoed, and otherwise goes on.
func (g *gm) responses(in input) string {
	b, ok := g.beat()
	if !ok {
		return g.open(in)
	}
	if g.answers == nil {
		g.answers = map[string]string{}
	}
	var vetoed []string
	for _, a := range in.answers {
		if a.kind == "veto" {
			vetoed = append(vetoed, a.who)
		} else {
			g.answers[a.who] = a.text
		}
	}
	if len(vetoed) == 0 {
		return g.tell(b, in.answers)
	}
	var out strings.Builder
	for _, who := range vetoed {
		out.WriteString(prompt(who, b, "FULL_CONTEXT", "You asked for more. Take the time you need: nobody else is speaking. "+b.ask))
	}
	out.WriteString(g.context())
	fmt.Fprintf(&out, "[AWAIT_AI_PLAYERS: %s]\n", strings.Join(vetoed, ", "))
	return out.String()
}

// tell weaves the answers and asks for the dice. What was done in secret is
// told to the one who did it.
func (g *gm) tell(b beat, answers []answer) string {
	var out strings.Builder
	for _, a := range answers {
		if a.kind == "error" || a.kind == "veto" {
			continue
		}
		words := woven([]string{a.text})
		if b.kind == "SECRET_ACTION" {
			fmt.Fprintf(&out, "[TO: %s]\nNobody saw it. %s\n[/TO]\n\n", a.who, words)
			fmt.Fprintf(&out, "[FILE+: story-state.md]\n- %s, alone: %s\n[/FILE]\n\n", a.who, words)
			continue
		}
		fmt.Fprintf(&out, "%s: %s\n\n", name(a.who), words)
	}
	return out.String() + g.settle(b)
}

// settle asks for the beat's roll, or tells its end when there is none.
func (g *gm) settle(b beat) string {
	if b.roll.expr == "" {
		return g.outcome(true)
	}
	who := "gm"
	if len(g.asked) > 0 {
		who = g.asked[(g.at-1)%len(g.asked)]
	}
	return fmt.Sprintf("[ROLL: %s | %s | %s | dc %d | open]\n", b.roll.expr, who, b.roll.purpose, b.roll.dc)
}

// outcome tells how the beat ends and turns the page.
func (g *gm) outcome(won bool) string {
	b, ok := g.beat()
	if !ok {
		return "[END_SESSION]"
	}
	text := b.won
	if !won && b.lost != "" {
		text = b.lost
	}
	g.at++
	out := fmt.Sprintf("%s\n\n[FILE: %s]\nBeat: %d\n[/FILE]\n", text, progressFile, g.at)
	if g.at > len(book) {
		out += "\n[END_SESSION]\n"
	}
	return out
}

// again repeats the signal after a fault.
func (g *gm) again() string {
	b, ok := g.beat()
	if !ok || len(g.asked) == 0 {
		return g.outcome(true)
	}
	var out strings.Builder
	for _, who := range g.asked {
		if _, done := g.answers[who]; !done {
			out.WriteString(prompt(who, b, b.kind, b.ask))
		}
	}
	fmt.Fprintf(&out, "[AWAIT_AI_PLAYERS: %s]\n", strings.Join(g.asked, ", "))
	return out.String()
}

// woven is the substance of what somebody said, on one line.
func woven(words []string) string {
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

// name turns a slug into a name for the story.
func name(slug string) string {
	parts := strings.Split(slug, "-")
	for i, p := range parts {
		if p != "" {
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, " ")
}
