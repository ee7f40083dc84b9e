package offline

import (
	"fmt"
	"slices"
	"strings"
)

// readiness holds each criterion against what can be found in the workspace,
// as a sceptic would.
func (t *turn) readiness() error {
	if len(t.before) > 0 {
		return t.counsel()
	}
	list := readCriteria(t.read(criteriaFile))
	if len(list) == 0 {
		t.say("The quest has no criteria that I could hold against anything. Agree on some first; then ask me again.")
		return nil
	}
	tree := t.room("workspace")
	var w *work
	if tree != nil {
		err := t.look("survey", map[string]any{"path": "workspace"}, func() (string, error) {
			var err error
			w, err = openWork(tree, t.opts, t.Alive)
			if err != nil {
				return "", err
			}
			w.files = slices.DeleteFunc(w.files, func(f *workFile) bool { return passedBy(f.path) || !citable(f.path) })
			return count(len(w.files), "file"), nil
		})
		if err != nil {
			return err
		}
	}
	var b strings.Builder
	thin := 0
	for _, c := range list {
		a, err := t.assess(c, checkResult{}, w)
		if err != nil {
			return err
		}
		word := map[string]string{met: "a sceptic would believe it", partiallyMet: "thin", notMet: "a sceptic would not believe it yet"}[a.status]
		if a.status != met {
			thin++
		}
		if c.check != "" {
			a.evidence += "; its check `" + c.check + "` runs when you face the Dragon: run it yourself first"
		}
		fmt.Fprintf(&b, "%d. %s: %s: %s.\n", c.number, clip(c.text, 120), word, strings.TrimSuffix(a.evidence, "."))
	}
	t.say("I have held each criterion against what I can see in the workspace.", b.String())
	end := "All of them could be shown as they stand. Whether you go is for you to say."
	if thin > 0 {
		end = fmt.Sprintf("%d of %s would not stand before somebody who believes only what he can check. Close those first, or go knowing it: the choice is yours. Ask the Cat which of them is the weakest.", thin, criteriaCount(len(list)))
	}
	t.say(end)
	return nil
}

func passedBy(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		if slices.Contains(skippedDirs, part) {
			return true
		}
	}
	return false
}

// advisors are called by the beginnings of words.
var advisors = []struct{ who, why, stems string }{
	{"the Cat", "there is risk in what you say", "risk uncertain unsure danger fail scope worr assum secur"},
	{"the Owl", "it is a matter of time and order", "deadline schedul late delay sequenc milestone week month plan process order"},
	{"the Bear", "the direction is not settled", "direction vision unclear purpose strateg priorit goal why"},
	{"the Puppy", "it sounds daunting", "daunt overwhelm tired exhaust stuck morale motivat energ bored"},
	{"the Rabbit", "something is needed that is not there yet", "constrain depend budget resourc cost money capacit tool licen"},
	{"the Wolf", "others have a say in it", "stakeholder team conflict disagree align everyone customer communit people"},
}

// counsel looks for the person's words in the quest, in earlier conversations
// and in the workspace, and asks the next question.
func (t *turn) counsel() error {
	words := ownWords(t.text)
	t.hearProgress()
	var rows []string
	err := t.look("search", map[string]any{"path": "quest", "words": searchWords(words)}, func() (string, error) {
		for _, name := range []string{criteriaFile, "quest/narrative.md", "quest/anticipated-dragon.md", "quest/progress.md"} {
			if at, ok := bearing(name, t.read(name), searchWords(words)); ok {
				rows = append(rows, "- "+at.String())
			}
		}
		return count(len(rows), "line"), nil
	})
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		t.say("Your own quest already speaks of that:\n\n" + strings.Join(rows, "\n"))
	}
	if tree := t.room("workspace"); tree != nil {
		if err := t.searchFor(tree, len(rows) == 0 && len(t.before) > 0); err != nil {
			return err
		}
	}
	who, why := advisor(words)
	ask := "Two ways lie open to anyone who is stuck. You can make the step smaller, which costs you the satisfaction of the whole; or you can ask for help with it, which costs you the waiting. Which of the two have you not tried?"
	if len(t.before) > 0 {
		ask = "What would have to be true for you to be able to decide this alone? Say it in one sentence, and then look whether it is."
	}
	t.say(ask, fmt.Sprintf("When you have answered that, hear %s: %s.", who, why))
	return nil
}

// bearing is the first line of a text that bears one of the words.
func bearing(name, text string, words []string) (cite, bool) {
	for n, line := range numbered(text) {
		for _, w := range words {
			if wholeWord(strings.ToLower(w))(line) && quote(line) != "" {
				return cite{path: name, line: n, quote: quote(line)}, true
			}
		}
	}
	return cite{}, false
}

// advisor names the animal whose words were used most.
func advisor(words string) (who, why string) {
	who, why = "the Bear", "a first look at the direction never hurts"
	most := 0
	list := strings.Fields(strings.ToLower(words))
	for _, a := range advisors {
		n := 0
		for _, w := range list {
			if slices.ContainsFunc(strings.Fields(a.stems), func(s string) bool { return strings.HasPrefix(strings.Trim(w, ".,!?\"'"), s) }) {
				n++
			}
		}
		if n > most {
			most, who, why = n, a.who, a.why
		}
	}
	return who, why
}
