package judging

import (
	"errors"
	"strings"

	"conclave/agent"
	"conclave/quest"
)

// Seat is where an evaluator sits, and how whoever asks takes its turns. A turn
// is false when there is no answer and will be none: the run has ended.
type Seat interface {
	// Assess takes the assessment in words.
	Assess(framing string) (agent.Reply, bool, error)
	// Submitted is what was handed in by the tool during the assessment, as the
	// record has it; nil means nothing.
	Submitted() ([]byte, error)
	// Request asks for a structured answer.
	Request(id, words string, schema []byte) (agent.Reply, bool, error)
}

// Judge takes the assessment in words and then the verdict: by the tool, with
// the words, or in a turn of its own. One repair, and then there is none.
func (c *Case) Judge(s Seat) error {
	reply, ok, err := s.Assess(c.Framing())
	if err != nil || !ok {
		return err
	}
	answer := Structured(reply)
	if answer == nil {
		if answer, err = s.Submitted(); err != nil {
			return err
		}
	}
	form := "\n\nThe form, as a JSON schema:\n" + string(c.Schema())
	if answer == nil {
		reply, ok, err = s.Request("verdict",
			"Now give your verdict in the structured form that is asked for, and nothing else."+form, c.Schema())
		if err != nil || !ok {
			return err
		}
		answer = AnswerIn(reply)
	}
	problem := c.decide(answer)
	if problem == nil {
		return nil
	}
	reply, ok, err = s.Request("repair", repairText(problem)+form, c.Schema())
	if err != nil || !ok {
		return err
	}
	var bad *quest.VerdictError
	if errors.As(c.decide(AnswerIn(reply)), &bad) {
		c.Problems = bad.Problems
	}
	return nil
}

func repairText(problem error) string {
	var bad *quest.VerdictError
	lines := []string{problem.Error()}
	if errors.As(problem, &bad) {
		lines = bad.Problems
	}
	return "Your answer could not be read as a verdict:\n\n- " + strings.Join(lines, "\n- ") +
		"\n\nGive the verdict once more, put right, as one JSON object in the form that is asked for. " +
		"Do not change your judgement to fit the form."
}

// AnswerIn is the structured part of a reply; without one its whole text has
// to be the answer.
func AnswerIn(reply agent.Reply) []byte {
	if s := Structured(reply); s != nil {
		return s
	}
	return []byte(reply.Text)
}

// Structured is the structured answer of a reply that may have been through
// the engine's database, where none became null.
func Structured(reply agent.Reply) []byte {
	if len(reply.Structured) == 0 || string(reply.Structured) == "null" {
		return nil
	}
	return reply.Structured
}
