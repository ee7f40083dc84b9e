package flow

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"conclave/engine"
	"conclave/table"
	"conclave/table/gm"
	"conclave/table/story"
)

// barrier makes the answers known: to the files, and by them to the GM. Before
// it nobody has seen one.
func (c *cycle) barrier(answers []answer) error {
	for _, a := range answers {
		c.count(a)
		for _, r := range a.Remarks {
			c.Remark(r)
		}
	}
	err := c.writeAnswers(answers, c.noteFiles(answers))
	for _, a := range answers {
		c.known[table.ResponseFile(a.Character)] = table.Hash(a.File)
	}
	return err
}

// noteFiles keeps the notes of answers for their journals.
func (c *cycle) noteFiles(answers []answer) (changes []engine.Change) {
	for _, a := range answers {
		if a.Outcome == story.OutcomeError {
			continue
		}
		notes := a.Notes
		if notes == "" && c.Persons[a.Character] && a.Outcome == story.OutcomeAnswer {
			notes = a.Text
		}
		before := len(c.notes[a.Character])
		c.note(a.Character, notes)
		if data := c.notes[a.Character]; len(data) != before {
			file := c.t.file("tmp/" + table.NotesFile(a.Character))
			changes = append(changes, engine.Change{Op: engine.Write, Path: file, Data: data})
		}
	}
	return changes
}

// writeAnswers writes the response files, and what goes with them.
func (c *cycle) writeAnswers(answers []answer, more []engine.Change) error {
	var edited *engine.EditedError
	for try := 1; ; try++ {
		var way cleared
		step, err := fmt.Sprintf("barrier %d", c.turns), error(nil)
		if !c.first {
			step += fmt.Sprintf(" %d", try)
			if way, err = c.clearWay(answers, try); err != nil {
				return err
			}
		}
		for _, r := range way.Remarks {
			c.Remark(r)
		}
		var changes []engine.Change
		for _, a := range answers {
			file := c.t.file("tmp/" + table.ResponseFile(a.Character))
			changes = append(changes, engine.Change{Op: engine.Write, Path: file, Data: a.File, Before: way.Before[a.Character]})
		}
		err = c.t.commit(c.r, step, append(changes, more...))
		if !errors.As(err, &edited) || c.first || try == 3 {
			return err
		}
	}
}

func (c *cycle) count(a answer) {
	if c.first {
		c.calls++ // it counted requests
	} else {
		c.calls += a.Calls
	}
	c.asked = append(c.asked, a.Asked)
	c.latest[a.Character] = a
	if !slices.Contains(c.order, a.Character) {
		c.order = append(c.order, a.Character)
	}
	switch {
	case a.Outcome == story.OutcomeVeto:
		c.vetoes[a.Character]++
	case a.Outcome == story.OutcomeError && a.Type == "": // the prompt was missing or malformed
		c.broken[a.Character]++
	}
}

// responses is what the GM is told when it is resumed: its notes, then all the
// answers of the cycle, the newest of each character, until the commit.
func (c *cycle) responses(rolls []string) (string, []table.Source) {
	var b strings.Builder
	var about []table.Source
	if notes := strings.TrimSpace(c.context); notes != "" {
		c.recalled = c.context
		b.WriteString("# Your notes\n\n" + notes + "\n\n# The answers\n")
		about = append(about, table.Source{Path: "tmp/" + table.GMContextFile, SHA256: table.Hash([]byte(c.context)),
			Bytes: int64(len(c.context))})
	}
	if len(rolls) > 0 {
		told := "\n" + strings.Join(rolls, "\n") + "\n"
		b.WriteString(told)
		about = append(about, gm.EngineSource("engine:rolls", told))
	}
	for _, who := range c.order {
		a := c.latest[who]
		b.WriteString(c.answerText(who, a))
		about = append(about, table.Source{Path: "tmp/" + table.ResponseFile(who), SHA256: table.Hash(a.File),
			Bytes: int64(len(a.File))})
		if dice := a.diceLines(); dice != "" {
			about = append(about, gm.EngineSource("engine:dice of "+who, dice))
		}
	}
	b.WriteString(c.advice())
	return b.String(), about
}

// answerText is one answer as the GM reads it. What a player said is quoted,
// what the engine says of it is not.
func (c *cycle) answerText(who string, a answer) string {
	var b strings.Builder
	outcome := a.Outcome
	if a.Long {
		outcome = "long answer"
	}
	if a.Private {
		outcome += ", private"
	}
	fmt.Fprintf(&b, "\nAnswer of %s (%s): %s\n", who, cmp.Or(string(a.Type), "no request"), outcome)
	if a.Outcome == story.OutcomeError {
		for line := range strings.Lines(string(a.File)) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '>' {
				b.WriteString("Note: " + line + "\n")
			}
		}
		if a.Discarded != "" {
			b.WriteString(table.QuoteForGM(c.Delimiter, who, "veto that could not stand", a.Discarded))
		}
	} else {
		b.WriteString(table.QuoteForGM(c.Delimiter, who, outcome, string(a.File)))
		for _, l := range table.LintResponse(a.Text, who, c.Roster, c.rolled) {
			fmt.Fprintf(&b, "Note: %s: %s\n", l.Kind, l.Text)
		}
	}
	b.WriteString(a.diceLines())
	return b.String()
}

// advice says what the answers ask of the GM.
func (c *cycle) advice() string {
	var b strings.Builder
	for _, who := range c.order {
		a := c.latest[who]
		switch {
		case a.Outcome == story.OutcomeVeto:
			fmt.Fprintf(&b, "\nNote: %s vetoed: write a FULL_CONTEXT prompt for it and signal it alone.\n", who)
		case a.Outcome == story.OutcomeError && a.Type == "" && c.broken[who] <= c.t.caps.Repairs:
			fmt.Fprintf(&b, "\nNote: the prompt of %s was not sent; write it again and signal it, or go on without.\n", who)
		}
	}
	return b.String()
}

func (c *cycle) rolled(n uint64) bool { return slices.Contains(c.rolls, n) }

// sitOut decides about characters whose prompts were broken too often: a person
// is asked; without one they sit out.
func (c *cycle) sitOut() error {
	for _, who := range c.order {
		if c.broken[who] <= c.t.caps.Repairs || c.out[who] {
			continue
		}
		choice := "sit out"
		if !c.Auto {
			var err error
			choice, err = engine.Ask(c.r, fmt.Sprintf("sit out %s %d", who, c.broken[who]), engine.Question{
				Text: fmt.Sprintf("The GM's prompts for %s were malformed %d times. What now?", who, c.broken[who]),
				Options: []engine.Option{{Label: "sit out", Hint: "the cycle goes on without this character"},
					{Label: "try again", Hint: "the GM may write it once more"}},
				Default: "sit out",
			})
			if err != nil {
				return err
			}
		}
		if choice == "try again" {
			c.broken[who] = c.t.caps.Repairs
			continue
		}
		c.out[who] = true
		c.Warn = append(c.Warn, fmt.Sprintf("%s sits out cycle %d: its prompts were malformed %d times",
			who, c.Cycle, c.broken[who]))
		c.Tell = append(c.Tell, who+" sits out this cycle: its prompts were malformed too often")
	}
	return nil
}
