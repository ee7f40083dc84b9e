package judging

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"conclave/policy"
	"conclave/quest"
	"conclave/toolbox"
)

// Case is what is put before an evaluator. It is used by pointer, and keeps the
// verdict that stands.
type Case struct {
	Role policy.Role // policy.Guardian or policy.Dragon
	// Quest has the mode and the criteria.
	Quest  *quest.Quest
	Stage  string              // of the Guardian's; empty where it is no stage of a quest
	Expect string              // what ready means, for the Guardian
	Checks []quest.CheckResult // of the criteria's own, for the Dragon
	Change string              // the name of the file that shows the change; empty for none

	Verdict           // the one that stands
	Problems []string // of an answer that was no verdict

	mu   sync.Mutex // tools are called while a turn goes on
	last reading
}

// Verdict is what an evaluator has decided: nothing, or one of the two.
type Verdict struct {
	Guardian *quest.GuardianVerdict
	Dragon   *quest.DragonVerdict
}

// Decided says that there is a verdict: an answer may say that there is none.
func (v Verdict) Decided() bool {
	return v.Guardian != nil && v.Guardian.Decided() || v.Dragon != nil && v.Dragon.Decided()
}

// reading is what an answer was read as.
type reading struct {
	answer string
	Verdict
	err error
}

// Assessed are the criteria that the mode lets the Dragon look at.
func (c *Case) Assessed() []quest.Criterion {
	return slices.DeleteFunc(slices.Clone(c.Quest.Criteria),
		func(k quest.Criterion) bool { return !c.Quest.Mode.Assesses(k.Sort) })
}

// Schema is the form of the verdict.
func (c *Case) Schema() []byte {
	if c.Role == policy.Dragon {
		return quest.DragonSchema()
	}
	return quest.GuardianSchema()
}

// ToolName is the tool by which a verdict can be handed in.
const ToolName = "submit_verdict"

// Tool is that tool.
func (c *Case) Tool() toolbox.Tool {
	return toolbox.Tool{
		Name: ToolName, Description: "Hand in your verdict, once your assessment is written.", Schema: c.Schema(),
		Handle: func(_ context.Context, input json.RawMessage) (string, error) {
			if _, err := c.read(input); err != nil { // the record decides, not this call
				return "", err
			}
			return "The verdict is noted.", nil
		},
	}
}

// read reads an answer as a verdict and holds it against the criteria: once,
// when it comes in. What the tool has taken is carried from there to where the
// record says that it was handed in.
func (c *Case) read(answer []byte) (Verdict, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.answer == "" || c.last.answer != string(answer) {
		c.last = c.parse(answer)
	}
	return c.last.Verdict, c.last.err
}

func (c *Case) parse(answer []byte) reading {
	if c.Role == policy.Dragon {
		d, err := quest.ParseDragonVerdict(answer, c.Quest.Test(c.Checks))
		return reading{string(answer), Verdict{Dragon: &d}, err}
	}
	g, err := quest.ParseGuardianVerdict(answer)
	return reading{string(answer), Verdict{Guardian: &g}, err}
}

// decide takes an answer as the verdict, if it is one.
func (c *Case) decide(answer []byte) error {
	read, err := c.read(answer)
	if err == nil {
		c.Verdict = read
	}
	return err
}

// Framing is all that an evaluator is told: what lies where, and what to do.
func (c *Case) Framing() string {
	var b strings.Builder
	if c.Role == policy.Dragon {
		c.frameDragon(&b)
	} else {
		c.frameGuardian(&b)
	}
	b.WriteString("\n\nAfter that, hand in the verdict with the tool " + ToolName +
		" if you have it; otherwise you will be asked for it.")
	return b.String()
}

func (c *Case) frameDragon(b *strings.Builder) {
	b.WriteString("The criteria are in quest/criteria.md, the final work is in work/. " +
		"The mode is in quest/mode.txt.\n\n")
	c.frameChange(b)
	b.WriteString(quest.CriteriaText(c.Assessed()))
	if len(c.Checks) > 0 {
		b.WriteString("\nThe criteria's own checks were run over the work. " +
			"A failed check forbids \"met\"; one that could not run is no evidence either way.\n\n")
		b.Write(c.ChecksText())
	}
	b.WriteString("\nTest the work against each of these criteria and nothing else. Speak to the person in words, " +
		"criterion by criterion, with evidence from the work cited as `path:line`.")
}

func (c *Case) frameGuardian(b *strings.Builder) {
	if c.Stage != "" {
		fmt.Fprintf(b, "The stage is %q; its work is in work/. The mode is in quest/mode.txt, "+
			"the quest's name in quest/title.txt.\n", c.Stage)
	} else {
		b.WriteString("The stage's work is in work/. The mode is in quest/mode.txt.\n")
	}
	c.frameChange(b)
	if c.Expect != "" {
		b.WriteString("What ready means for this stage:\n\n" + c.Expect + "\n")
	}
	b.WriteString("\nIs this stage's work ready to advance? Speak to the person in words, with evidence from the work " +
		"cited as `path:line`. What is missing is said as \"not yet\", with what would make it ready.")
}

func (c *Case) frameChange(b *strings.Builder) {
	if c.Change != "" {
		fmt.Fprintf(b, "What was changed to come to this work is in %s. The work is judged, not the change alone.\n\n",
			c.Change)
	}
}
