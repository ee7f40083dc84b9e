package flow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"conclave/agent"
	"conclave/engine"
	"conclave/policy"
	"conclave/quest"
	"conclave/record"
)

// verdict is what an evaluator has decided: nothing, or one of the two.
type verdict struct {
	guardian *quest.GuardianVerdict
	dragon   *quest.DragonVerdict
}

// reading is what an answer was read as.
type reading struct {
	answer string
	verdict
	err error
}

// read reads an answer as a verdict and holds it against the criteria: once,
// when it comes in. What the tool has taken is carried from there to where the
// record says that it was handed in.
func (v *evaluation) read(answer []byte) (verdict, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.last.answer == "" || v.last.answer != string(answer) {
		v.last = v.parse(answer)
	}
	return v.last.verdict, v.last.err
}

func (v *evaluation) parse(answer []byte) reading {
	if v.in.Role == policy.Dragon {
		d, err := quest.ParseDragonVerdict(answer, v.q.Test(v.checks))
		return reading{string(answer), verdict{dragon: &d}, err}
	}
	g, err := quest.ParseGuardianVerdict(answer)
	return reading{string(answer), verdict{guardian: &g}, err}
}

// decide takes an answer as the verdict, if it is one.
func (v *evaluation) decide(answer []byte) error {
	read, err := v.read(answer)
	if err == nil {
		v.verdict = read
	}
	return err
}

// decided says that there is a verdict: an answer may say that there is none.
func (v *evaluation) decided() bool {
	return v.guardian != nil && v.guardian.Decided() || v.dragon != nil && v.dragon.Decided()
}

// judge takes the assessment in words and then the verdict: by the tool, with
// the words, or in a turn of its own. One repair, and then there is none.
func (v *evaluation) judge() error {
	reply, ok, err := v.t.say(v.framing(), v.in.Words)
	if err != nil || !ok {
		return err
	}
	answer, err := v.submitted(reply)
	if err != nil {
		return err
	}
	if answer == nil {
		reply, ok, err = v.t.request("verdict", "Now give your verdict in the structured form that is asked for, and nothing else.\n\nThe form, as a JSON schema:\n"+string(v.schema()), v.schema())
		if err != nil || !ok {
			return err
		}
		answer = answerIn(reply)
	}
	problem := v.decide(answer)
	if problem == nil {
		return nil
	}
	reply, ok, err = v.t.request("repair", repairText(problem)+"\n\nThe form, as a JSON schema:\n"+string(v.schema()), v.schema())
	if err != nil || !ok {
		return err
	}
	var bad *quest.VerdictError
	if errors.As(v.decide(answerIn(reply)), &bad) {
		v.problems = bad.Problems
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
		"\n\nGive the verdict once more, put right, as one JSON object in the form that is asked for. Do not change your judgement to fit the form."
}

// answerIn is the structured part of a reply; without one its whole text has
// to be the answer.
func answerIn(reply agent.Reply) []byte {
	if s := structured(reply); s != nil {
		return s
	}
	return []byte(reply.Text)
}

// structured is the structured answer of a reply that may have been through
// the engine's database, where none became null.
func structured(reply agent.Reply) []byte {
	if len(reply.Structured) == 0 || string(reply.Structured) == "null" {
		return nil
	}
	return reply.Structured
}

// submitted is the verdict that was handed in with the assessment, as the
// record has it; nil means none.
func (v *evaluation) submitted(reply agent.Reply) ([]byte, error) {
	if s := structured(reply); s != nil {
		return s, nil
	}
	return engine.Do(v.r, "submitted", func(context.Context) ([]byte, error) {
		past, err := v.h.seats.History(v.e.Opening.Run)
		if err != nil {
			return nil, engine.Halt(err)
		}
		for _, c := range slices.Backward(past.Turn(v.t.turns[0]).Calls) {
			if c.Tool == toolName && !c.Failed {
				return []byte(c.Input), nil
			}
		}
		return nil, nil
	})
}

// lastVerdict is the outcome of the last evaluation by a role, from its
// record: the file may hold any heading.
func (h *House) lastVerdict(role policy.Role) ([]byte, error) {
	list, err := record.List(record.Dir(h.opts.Root))
	if err != nil {
		return nil, err
	}
	want := quest.PurposeCheckpoint
	if role == policy.Dragon {
		want = quest.PurposeConfrontation
	}
	for _, info := range slices.Backward(list) {
		rec, err := readRecord(info.Path)
		if err != nil {
			continue // `conclave audit` speaks of damaged records
		}
		if rec.filed != nil && rec.Header.Attributes["role"] == string(role) && rec.filed.Purpose == want {
			return []byte(rec.filed.Outcome + "\n"), nil
		}
	}
	why := "no checkpoint was held here yet"
	if role == policy.Dragon {
		why = "the Dragon has not been faced here yet"
	}
	return nil, fmt.Errorf("there is no verdict of the %s to discuss: %s", role, why)
}
