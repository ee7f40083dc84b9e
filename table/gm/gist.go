package gm

import (
	"regexp"
	"strings"

	"conclave/table"
)

// Gist is what a person in the game master's seat needs to read of a message: what
// is new in it, in sentences, without the marks that are there for an agent.
func Gist(message string, roster table.Roster) string {
	const now = "\n# Now\n\n"
	if i := strings.LastIndex(message, now); i >= 0 {
		message = message[i+len(now):]
	} else if _, after, ok := strings.Cut(message, "\n\n"); ok {
		message = after
	}
	if notes, after, ok := strings.Cut(message, "\n# The answers\n"); ok {
		message = after
		if notes = strings.TrimPrefix(notes, "# Your notes\n"); !ownQuestions(notes) {
			message = "Your notes:\n" + notes + "\n" + after
		}
	}
	var out strings.Builder
	for line := range strings.Lines(message) {
		who, words := strings.CutPrefix(line, "<<< words from ")
		switch {
		case words:
			who, _, _ = strings.Cut(who, ",")
			out.WriteString(roster.NameOf(who) + ":\n")
		case strings.HasPrefix(line, "<<< "), strings.HasPrefix(line, ">>> "), line == "> [VETO - need more input]\n":
		case strings.HasPrefix(line, ">"):
			out.WriteString("  " + strings.TrimPrefix(strings.TrimPrefix(line, ">"), " "))
		default:
			out.WriteString(sentence(line, roster))
		}
	}
	return strings.TrimSpace(blankLines.ReplaceAllString(out.String(), "\n\n"))
}

// ownQuestions says whether notes are those that Typist made of a person's
// questions, who knows what they asked.
func ownQuestions(notes string) bool {
	for line := range strings.SplitSeq(strings.TrimSpace(notes), "\n") {
		if line != "## Expecting" && !expected.MatchString(line) {
			return false
		}
	}
	return true
}

var expected = regexp.MustCompile(`^- [a-z0-9-]+ \([A-Z_]+\): `)

// answerOf is a line that tells what a request came to.
var answerOf = regexp.MustCompile(`^Answer of ([a-z0-9-]+) \(([^)]*)\): ([a-z ]+)(, private)?\n$`)

// vetoed is the advice to a game master that writes prompts.
var vetoed = regexp.MustCompile(`^Note: ([a-z0-9-]+) vetoed: .*\n$`)

// sentence is a line of the engine as a person is told it.
func sentence(line string, roster table.Roster) string {
	if m := answerOf.FindStringSubmatch(line); m != nil {
		return answered(roster.NameOf(m[1]), m[3], m[4] != "")
	}
	if m := vetoed.FindStringSubmatch(line); m != nil {
		first, _, _ := strings.Cut(m[1], "-")
		return "Tell more and ask again: /decide " + first + ": TEXT\n"
	}
	if fault, ok := strings.CutPrefix(line, "Fault: "); ok {
		return "This could not be taken: " + fault
	}
	if note, ok := strings.CutPrefix(line, "Note: "); ok {
		if _, reason, ok := strings.Cut(note, "Reason: "); ok {
			return "  " + reason
		}
		if strings.HasPrefix(note, "[ERROR: ") || strings.HasPrefix(note, "Character: ") {
			return ""
		}
		return "(" + strings.TrimSpace(note) + ")\n"
	}
	return line
}

func answered(name, outcome string, private bool) string {
	said := " answers"
	switch outcome {
	case "veto":
		said = " wants to know more first"
	case "error":
		return name + " gives no answer:\n"
	case "long answer":
		said = " answers at length"
	}
	if private {
		said += ", in secret"
	}
	return name + said + ":\n"
}
