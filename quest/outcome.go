package quest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"conclave/policy"
	"conclave/profile"
)

// Outcome renders the verdict for a conversation file.
func (v GuardianVerdict) Outcome() string {
	var b strings.Builder
	if !v.Decided() {
		fmt.Fprintf(&b, "%s\n\n%s\n", noVerdict, strings.TrimSpace(v.Summary))
		writeList(&b, "Not judged", v.Gaps)
		return strings.TrimSpace(b.String())
	}
	fmt.Fprintf(&b, "**Verdict:** %s\n\n%s\n", v.Verdict, strings.TrimSpace(v.Summary))
	writeList(&b, "Gaps", v.Gaps)
	writeList(&b, "Conditions", v.Conditions)
	return strings.TrimSpace(b.String())
}

func writeList(b *strings.Builder, title string, items []string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "\n**%s:**\n\n", title)
	for _, item := range items {
		fmt.Fprintf(b, "- %s\n", oneLine(item))
	}
}

// told is the verdict under the name that the Dragon goes by: Dragon Slain, or
// Heffalump is slain (Dragon Slain).
func (o DragonOutcome) told(dragon profile.Face) string {
	_, did, _ := strings.Cut(strings.ToLower(string(o)), " ")
	switch {
	case dragon.Skin == "":
		return string(o)
	case o == DragonSlain:
		did = "is slain"
	}
	return fmt.Sprintf("%s %s (%s)", dragon.Skin, did, o)
}

// Outcome renders the verdict of whoever is the Dragon, criterion by criterion,
// for a conversation file.
func (v DragonVerdict) Outcome(dragon profile.Face, t verdictTest) string {
	var b strings.Builder
	if v.Decided() {
		fmt.Fprintf(&b, "**Verdict:** %s\n\n%s\n\n", v.Verdict.told(dragon), strings.TrimSpace(v.Summary))
	} else {
		fmt.Fprintf(&b, "%s\n\n%s\n\n", noVerdict, strings.TrimSpace(v.Summary))
	}
	for _, f := range v.Criteria {
		fmt.Fprintf(&b, "%d. **%s** – %s", f.Number, f.Status, oneLine(f.Evidence))
		for _, c := range t.Checks {
			if c.Number != f.Number {
				continue
			}
			fmt.Fprintf(&b, " (check %s", c.State)
			if c.Note != "" {
				fmt.Fprintf(&b, ": %s", oneLine(c.Note))
			}
			b.WriteString(")")
		}
		if !t.Mode.requires(t.sortOf(f.Number)) {
			b.WriteString(" *(noted, not required)*")
		}
		b.WriteString("\n")
	}
	return strings.TrimSpace(b.String())
}

// judged is a line that DragonVerdict.Outcome has written of a criterion.
var judged = regexp.MustCompile(`(?m)^(\d{1,4})\. \*\*([a-z ]+)\*\* – (.*)$`)

// Findings are what a conversation's outcome says of each criterion, as a
// Dragon's verdict was rendered into it; none for any other conversation.
func (t Transcript) Findings() []finding {
	at := strings.LastIndex(string(t.Data), "\n"+outcomeHeading+"\n")
	if at < 0 || t.Kind != policy.ConversationOf(string(policy.Dragon)) {
		return nil
	}
	var out []finding
	for _, m := range judged.FindAllStringSubmatch(string(t.Data[at:]), -1) {
		n, _ := strconv.Atoi(m[1])
		out = append(out, finding{Number: n, Status: Status(m[2]), Evidence: m[3]})
	}
	return out
}

func (t verdictTest) sortOf(number int) Sort {
	for _, c := range t.Criteria {
		if c.Number == number {
			return c.Sort
		}
	}
	return ""
}

// Recommended is the outcome of a conversation in which something was
// recommended; empty when nothing was.
func Recommended(list []string) string {
	var b strings.Builder
	for i, text := range list {
		fmt.Fprintf(&b, "%d. %s\n", i+1, oneLine(text))
	}
	if b.Len() == 0 {
		return ""
	}
	return "**Recommendations:**\n\n" + strings.TrimSpace(b.String())
}

// How the engine's own sentences in an outcome begin: they are nobody's words.
const (
	noVerdict      = "**No verdict.**"
	noAnswer       = " The answer was not one, and a verdict is never guessed: "
	endedEarlyHead = "ended early:"
	noteHead       = "> **Note:**"
	definedHead    = "Quest defined:"
)

// Outcome is that of a quest's definition.
func (d Definition) Outcome(agreed []Criterion) string {
	return definedHead + " " + oneLine(d.Title) + "\n\n" + strings.TrimSpace(CriteriaText(agreed))
}

// NoVerdict is the outcome when the repair turn did not help either.
func NoVerdict(problems []string) string {
	return noVerdict + noAnswer + oneLine(strings.Join(problems, "; "))
}

// EndedEarly is the outcome of a conversation that was abandoned, killed or
// stopped.
func EndedEarly(reason string) string {
	if reason = oneLine(reason); reason == "" {
		reason = "unknown"
	}
	return endedEarlyHead + " " + reason
}

// Stamped adds to an outcome what every reader must know about it: a lowered
// room, context that the person accepted.
func Stamped(outcome string, stamps ...string) string {
	for _, s := range stamps {
		if s = oneLine(s); s != "" {
			outcome = strings.TrimRight(outcome, "\n") + "\n\n" + noteHead + " " + s
		}
	}
	return strings.TrimLeft(outcome, "\n")
}
