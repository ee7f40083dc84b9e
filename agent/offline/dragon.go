package offline

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

const (
	met       = "met"
	notMet    = "not met"
	notJudged = "not judged"
)

// assessment is what a check or a fact says about one criterion.
type assessment struct {
	c        criterion
	status   string
	evidence string
}

type dragonVerdict struct {
	Verdict  string          `json:"verdict"`
	Summary  string          `json:"summary"`
	Criteria []dragonFinding `json:"criteria"`
}

type dragonFinding struct {
	Number   int    `json:"number"`
	Status   string `json:"status"`
	Evidence string `json:"evidence"`
}

const dragonOpening = "I have no model behind me. I look, I do not reason: I believe a check that ran, and an " +
	"exact fact that I can look up. Of everything else I say that I have not judged it."

// dragon tests the criteria one by one.
func dragon(t *turn) error {
	t.say(t.opening(dragonOpening))
	if t.read(verdictFile) != "" {
		return t.discuss()
	}
	list := readCriteria(t.read(criteriaFile))
	if len(list) == 0 {
		t.say("There are no criteria before me, so there is nothing that I could test.")
		return nil
	}
	tree, err := t.named()
	if err != nil {
		return err
	}
	checks := readChecks(t.read(checksFile))
	if len(checks) > 0 {
		err := t.look("read", map[string]any{"path": checksFile}, func() (string, error) {
			return count(len(checks),
				"result"), nil
		})
		if err != nil {
			return err
		}
	}
	var all []assessment
	for _, c := range list {
		a, err := t.assess(c, checks[c.number], tree)
		if err != nil {
			return err
		}
		all = append(all, a)
	}
	v := concluded(all, t.mode())
	if t.form == nil || len(t.before) == 0 {
		t.say(confrontation(all), t.aloud(v.Verdict)+". "+v.Summary, wayOut(all, v.Verdict))
	} else {
		t.say("In the form that was asked for: " + t.aloud(v.Verdict) + ". " + v.Summary)
	}
	t.answerWith(fill(t.form, map[string]any{"verdict": v.Verdict, "summary": v.Summary, "criteria": v.Criteria}))
	return nil
}

// named is the work that was named, on the record; nil when there is none.
func (t *turn) named() (fs.FS, error) {
	var tree fs.FS
	err := t.look("survey", map[string]any{"path": "work"}, func() (string, error) {
		if tree = t.room("work"); tree == nil {
			return "", errors.New("no work was put into this room")
		}
		n := 0
		err := fs.WalkDir(tree, ".", func(_ string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				n++
			}
			return t.Alive()
		})
		return count(n, "file"), err
	})
	return tree, err
}

// assess judges one criterion by its check, or else by what it says if that is
// a fact from its first word to its last. What is neither is not judged: that
// words of it stand in the work shows nothing.
func (t *turn) assess(c criterion, check checkResult, tree fs.FS) (assessment, error) {
	switch check.state {
	case passed:
		return assessment{c, met, "its check passed: " + c.command()}, nil
	case failed:
		return assessment{c, notMet, "its check failed: " + c.command()}, nil
	}
	if tree != nil {
		proofs, known := facts{tree, t.opts.fileSize}.verify(c.text)
		if known {
			return t.judged(c, proofs, tree)
		}
	}
	a := assessment{c, notJudged, "no check shows it, and it is no fact that I could look up"}
	if check.state == notRun {
		a.evidence = "its check could not run, which is evidence of nothing: " + c.command()
	} else if c.check != "" {
		a.evidence = "its check has not run: " + c.command()
	}
	return a, nil
}

// judged joins proofs: all have to hold, and what they cite has to be there.
func (t *turn) judged(c criterion, proofs []proof, tree fs.FS) (assessment, error) {
	good, evidence, err := t.weigh(proofs, tree)
	if good {
		return assessment{c, met, evidence}, err
	}
	return assessment{c, notMet, evidence}, err
}

func (t *turn) weigh(proofs []proof, tree fs.FS) (bool, string, error) {
	var good, bad []string
	for _, p := range proofs {
		ok, err := t.verified(tree, observation{cites: p.cites})
		if err != nil {
			return false, "", err
		}
		text := p.evidence
		if len(proofs) > 1 {
			text = "“" + clip(p.clause, 80) + "”: " + text
		}
		if p.holds && ok {
			good = append(good, text)
		} else {
			bad = append(bad, text)
		}
	}
	if len(bad) > 0 {
		return false, strings.Join(bad, "; "), nil
	}
	return true, strings.Join(good, "; "), nil
}

// concluded draws the verdict: one criterion that is not met decides; what the
// mode requires and nobody judged leaves it open.
func concluded(all []assessment, mode string) dragonVerdict {
	v := dragonVerdict{Verdict: "Dragon Slain"}
	var open, unjudged []int
	for _, a := range all {
		v.Criteria = append(v.Criteria, dragonFinding{a.c.number, a.status, a.evidence})
		switch {
		case a.c.grow && mode != modeGrow:
		case a.status == notMet:
			open = append(open, a.c.number)
		case a.status == notJudged:
			unjudged = append(unjudged, a.c.number)
		}
	}
	switch {
	case len(open) > 0:
		v.Verdict, v.Summary = "Dragon Prevails", ofCriteria(open, "is not met", "are not met")
		if len(unjudged) > 0 {
			v.Summary += " " + ofCriteria(unjudged, "was not judged", "were not judged")
		}
	case len(unjudged) > 0:
		v.Verdict, v.Summary = "No verdict", ofCriteria(unjudged, "was not judged", "were not judged")
	default:
		v.Summary = "Every criterion that counts here is shown to be met, by its check or by a fact in the work."
	}
	return v
}

// ofCriteria is a sentence about criteria by their numbers.
func ofCriteria(list []int, one, more string) string {
	if len(list) == 1 {
		return fmt.Sprintf("Criterion %d %s.", list[0], one)
	}
	var words []string
	for _, n := range list {
		words = append(words, number(n))
	}
	last := len(words) - 1
	return "Criteria " + strings.Join(words[:last], ", ") + " and " + words[last] + " " + more + "."
}

// seatModel is how a model is put into a seat.
const seatModel = "put a model into this seat, in `conclave.yaml`: `agents: {%s: {agent: claude, model: …}}` " +
	"(docs/agents.md of Conclave says more)"

// wayOut says what would let the open criteria be judged.
func wayOut(all []assessment, verdict string) string {
	for _, a := range all {
		if a.status == notJudged && verdict != "Dragon Slain" {
			return "What was not judged can be: give the criterion a command that shows it, as (check: `command`) behind " +
				"its words in `.campaign/quest.md`; or " +
				fmt.Sprintf(seatModel, "dragon") + "."
		}
	}
	return ""
}

func confrontation(all []assessment) string {
	var b strings.Builder
	for _, a := range all {
		fmt.Fprintf(&b, "%d. **%s**: %s: %s.\n", a.c.number, a.status, clip(a.c.text, 160), strings.TrimSuffix(a.evidence,
			"."))
	}
	return b.String()
}
