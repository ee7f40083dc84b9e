package offline

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

const (
	met          = "met"
	partiallyMet = "partially met"
	notMet       = "not met"
)

// assessment is what looking says about one criterion.
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

const dragonOpening = "I have no model behind me. I look, I do not reason: I believe a check that passed and what I can verify with my own eyes, and nothing else."

// dragon tests the criteria one by one.
func dragon(t *turn) error {
	t.say(t.opening(dragonOpening))
	if t.read(verdictFile) != "" {
		return t.discuss()
	}
	list := readCriteria(t.read(criteriaFile))
	if len(list) == 0 {
		t.say("I was given no criteria, so there is nothing I could test and nothing that could be met.")
		return nil
	}
	w, err := t.openWork()
	if err != nil {
		return err
	}
	checks := readChecks(t.read(checksFile))
	if len(checks) > 0 {
		err := t.look("read", map[string]any{"path": checksFile}, func() (string, error) { return count(len(checks), "result"), nil })
		if err != nil {
			return err
		}
	}
	var all []assessment
	for _, c := range list {
		a, err := t.assess(c, checks[c.number], w)
		if err != nil {
			return err
		}
		all = append(all, a)
	}
	v := concluded(all, t.mode())
	if t.form == nil || len(t.before) == 0 {
		t.say(confrontation(all), v.Verdict+". "+v.Summary)
	} else {
		t.say("In the form that was asked for: " + v.Verdict + ". " + v.Summary)
	}
	t.answerWith(fill(t.form, map[string]any{"verdict": v.Verdict, "summary": v.Summary, "criteria": v.Criteria}))
	return nil
}

// openWork reads the named work, on the record; nil when there is none.
func (t *turn) openWork() (*work, error) {
	var w *work
	err := t.look("survey", map[string]any{"path": "work"}, func() (string, error) {
		tree := t.room("work")
		if tree == nil {
			return "", errors.New("no work was put into this room")
		}
		var err error
		if w, err = openWork(tree, t.opts, t.Alive); err != nil {
			return "", err
		}
		return count(len(w.files), "file"), nil
	})
	if w != nil && len(w.files) == 0 {
		w = nil
	}
	return w, err
}

// assess judges one criterion: its check first, then what can be verified, and
// then whether there is a trace at all.
func (t *turn) assess(c criterion, check checkResult, w *work) (assessment, error) {
	a := assessment{c: c, status: notMet}
	switch check.state {
	case passed:
		a.status, a.evidence = met, "its check passed: "+check.cite().String()
		return a, nil
	case failed:
		a.evidence = "its check failed: " + check.cite().String()
		return a, nil
	}
	if w == nil {
		a.evidence = "there is no work in this room to look at"
		return a, nil
	}
	claims, known := w.verify(c.text)
	ok, evidence, err := t.weigh(claims, w.tree)
	if err != nil {
		return a, err
	}
	switch {
	case !ok:
		a.evidence = evidence
	case known:
		a.status, a.evidence = met, evidence
	case len(claims) > 0:
		a.status, a.evidence = partiallyMet, evidence+"; the rest of it is nothing that I can verify by looking"
	default:
		if a.status, a.evidence, err = t.trace(c, w); err != nil {
			return a, err
		}
	}
	if check.state == notRun {
		a.evidence += "; its check could not run, which is evidence of nothing"
	} else if a.status != met && ok && c.check == "" {
		a.evidence += "; " + wantCheck
	}
	return a, nil
}

const wantCheck = "no check I could run shows it; give the criterion a (check: `command`)"

// weigh joins claims: all have to hold, and what they cite has to be there.
func (t *turn) weigh(claims []claim, tree fs.FS) (bool, string, error) {
	var good, bad []string
	for _, c := range claims {
		ok, err := t.verified(tree, observation{cites: c.cites})
		if err != nil {
			return false, "", err
		}
		if text := "“" + clip(c.clause, 80) + "”: " + c.evidence; c.holds && ok {
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

// trace looks for words of a criterion. Words are a trace of the thing and not
// the thing: they never show more than a part.
func (t *turn) trace(c criterion, w *work) (status, evidence string, err error) {
	words := slices.DeleteFunc(searchWords(c.text), w.names)
	if len(words) == 0 {
		return notMet, "it has no word that I could look for", nil
	}
	var hits []cite
	var missing []string
	err = t.look("search", map[string]any{"path": "work", "words": words}, func() (string, error) {
		for _, word := range words {
			if at, ok := w.find(word); ok {
				hits = append(hits, at)
			} else {
				missing = append(missing, word)
			}
		}
		return fmt.Sprintf("%d of %s found", len(hits), count(len(words), "word")), nil
	})
	if err != nil {
		return notMet, "", err
	}
	if len(hits)*2 < len(words) || len(hits) == 0 {
		return notMet, "I looked for " + quotedList(words) + " in " + count(len(w.files), "file") + " and did not find " + quotedList(missing), nil
	}
	ok, err := t.verified(w.tree, observation{cites: hits[:min(2, len(hits))]})
	if err != nil || !ok {
		return notMet, "what I found was gone when I read it again", err
	}
	text := "there is a trace, " + hits[0].String()
	if len(hits) > 1 && hits[1] != hits[0] {
		text += " and " + hits[1].String()
	}
	return partiallyMet, text + ", which shows that it is spoken of and not that it is so", nil
}

// names says whether a word is the name of a file: that the file is there is
// no trace of what is said about it.
func (w *work) names(word string) bool {
	return strings.ContainsAny(word, "./") && slices.ContainsFunc(w.files, func(f *workFile) bool {
		return strings.EqualFold(f.path, word) || strings.EqualFold(path.Base(f.path), word)
	})
}

// find is the best line of the work that bears a word, documents first.
func (w *work) find(word string) (cite, bool) {
	ok := wholeWord(strings.ToLower(word))
	var best cite
	rank := 0
	for _, f := range w.files {
		r := int(kindByName(f.path)) + 1
		if kindByName(f.path) == doc {
			r = 0
		}
		if best.path != "" && r >= rank || !strings.Contains(strings.ToLower(f.text), strings.ToLower(word)) {
			continue
		}
		for n, line := range numbered(f.text) {
			if ok(line) && quote(line) != "" {
				best, rank = f.at(hit{line: n, text: line}), r
				break
			}
		}
	}
	return best, best.path != ""
}

// concluded draws the verdict: every criterion that the mode requires has to
// be met, and partially met is not met.
func concluded(all []assessment, mode string) dragonVerdict {
	v := dragonVerdict{Verdict: "Dragon Slain"}
	var open []string
	for _, a := range all {
		v.Criteria = append(v.Criteria, dragonFinding{a.c.number, a.status, a.evidence})
		if a.status != met && (!a.c.grow || mode == modeGrow) {
			open = append(open, fmt.Sprintf("criterion %d is %s", a.c.number, a.status))
		}
	}
	v.Summary = "Every criterion that counts here is shown to be met, by checks or by what stands in the work."
	if len(open) > 0 {
		v.Verdict, v.Summary = "Dragon Prevails", strings.ToUpper(open[0][:1])+open[0][1:]
		if len(open) > 1 {
			v.Summary += ", " + strings.Join(open[1:], ", ")
		}
		v.Summary += "."
	}
	return v
}

func confrontation(all []assessment) string {
	var b strings.Builder
	for _, a := range all {
		fmt.Fprintf(&b, "%d. **%s**: %s: %s.\n", a.c.number, a.status, clip(a.c.text, 160), strings.TrimSuffix(a.evidence, "."))
	}
	return b.String()
}
