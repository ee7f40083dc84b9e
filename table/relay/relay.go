// Package relay is the voice that a person's character may be lent: the person
// types "attack the goblin", and an agent that knows the character says it as the
// character would.
//
// It decides what such an agent is told and what of its answer is taken. The
// decision is the person's and stays so: the agent gives words to what was typed
// and adds nothing to it, and nothing of it is said before the person has read it
// and agreed. Their own words are always at hand, and where the agent gives none
// they stand. The agent has the seat of the character: what an agent in that seat
// may read it may, and nothing else; it has no tools, and what it says beside the
// words – a veto, notes, forms of the game master's – is not taken.
//
// The package asks nobody, reads nothing and stores nothing.
package relay

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"conclave/table"
)

// Instructions stand behind those of a player.
const Instructions = "\n\nThis time you do not decide: a person plays this character, and you lend it a voice. " +
	"You are given what the person typed, often in a few words. Say it as the character would do or say it, in the " +
	"character's own manner, in two or three sentences, or shorter where the request asks for less.\n\n" +
	"- What the person wants is done, all of it and nothing else. Add no act, no aim, no target, no promise and no " +
	"condition; leave none out. If they speak, keep what they say; if they hesitate, hesitate.\n" +
	"- Invent no fact, no outcome and no number. Act for nobody else.\n" +
	"- Answer with the words alone: no veto, no notes, no remark about them, no question back.\n\n" +
	"When you are asked for options instead, give two to four things that this character might do now, each in one " +
	"short line that begins with a dash, and nothing else. The person is free to do something else."

// forms are lines that mean something to the table, wherever a player's words go.
var forms = regexp.MustCompile(`(?mi)^\s*(?:---\s*$|` +
	`\[/?(?:AWAIT_AI_PLAYERS|ERROR|FILE|TO|GM|SCENE|ROLL|HUDDLE|STATUS|COMBAT|END)\b)`)

// What the agent is told beside what the character knows.
const (
	Words = "Event: voice\n\nThe person typed:\n\n" // and that follows
	Ideas = "Event: options\n\nWhat might your character do now?"
)

// ErrNone: there is nothing in an answer that could be said.
var ErrNone = errors.New("no words came back")

// Take is what of an answer is said in a person's place.
func Take(answer string, caps table.Caps) (string, error) {
	r := table.ParseResponse(table.SplitTurn(answer).Response, table.FullContext, caps)
	switch {
	case r.Kind == table.TooLong:
		return "", fmt.Errorf("the words that came back are too long (%d bytes)", r.Size)
	case r.Kind != table.Answer:
		return "", ErrNone
	case forms.MatchString(r.Text):
		return "", errors.New("what came back was more than words")
	}
	return r.Text, nil
}

// maxOptions is how many options a person is shown.
const maxOptions = 4

// Options are what an answer offers, a line each.
func Options(answer string) (list []string) {
	for line := range strings.Lines(table.SplitTurn(answer).Response) {
		line, ok := strings.CutPrefix(strings.TrimSpace(line), "-")
		if line = strings.TrimSpace(line); ok && line != "" && len(list) < maxOptions {
			list = append(list, table.Clip(line, 200))
		}
	}
	return list
}

// Shown are options as a person reads them: a number will do for an answer.
func Shown(options []string) string {
	var b strings.Builder
	b.WriteString("You might, or do something else:\n")
	for i, o := range options {
		fmt.Fprintf(&b, "\n%d. %s", i+1, o)
	}
	return b.String()
}

// Chosen is the option that a person's answer is the number of; else the answer.
func Chosen(options []string, typed string) string {
	for i, o := range options {
		if strings.TrimSpace(typed) == fmt.Sprint(i+1) {
			return o
		}
	}
	return typed
}

// What a person is asked when words were found for theirs.
const (
	Question = "Shall it be said like that?"
	Hint     = "Enter sends it; /mine sends what you typed; or type it differently."
	OwnHint  = "Enter sends what you typed; or type it differently."
)

// Remarks are what a person should look at in the words before they agree: where
// somebody else acts in them, or a number stands that no dice gave.
func Remarks(prose, who string, roster table.Roster) []string {
	var out []string
	for _, l := range table.LintResponse(prose, who, roster, func(uint64) bool { return false }) {
		switch l.Kind {
		case "acts-for-other":
			out = append(out, "(Look: somebody else acts in it – "+l.Text+")")
		default:
			out = append(out, "(Look: it speaks of a roll that nobody made – "+l.Text+")")
		}
	}
	return out
}
