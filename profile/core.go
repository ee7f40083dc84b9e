package profile

import (
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// The compatibility rule: no profile negates the core of its archetype. Two
// shapes of a negation can be found by rules. A contrary says the opposite
// outright ("ignores risk", "always approves") and is harmless behind a
// negation ("never ignores risk"). A denial puts a negation before the core
// itself ("does not assess risk", "never blocks") and is harmless if it is
// narrowed ("never blocks without a reason", "does not merely assess risk").
// Everything subtler is on the checklist of the review.

const (
	neglect = `(?:ignor(?:e|es|ing)|dismiss(?:es|ing)?|disregard(?:s|ing)?|neglect(?:s|ing)?|overlook(?:s|ing)?|shrugs? off|brush(?:es)? off|brush(?:es)? aside|laughs? off|has no interest in|could not care less about|cares? nothing (?:for|about)|forgets? about|skips? over)`
	filler  = `(?: (?:the|a|an|any|all|every|each|its|his|her|their|your|our|about|of|whether|such|possible|obvious|big|bigger|long-term|agreed|real|own|project|party|team|quest))*`
)

const tend = `cares?(?: about| for)?|minds?|considers?|mentions?|thinks?(?: about| of)?|talks?(?: about| of)?|asks?(?: about| after)?|worr(?:y|ies) about|looks?(?: at| for| after)|tracks?|watch(?:es)?|raises?|names?|notices?|checks?|weighs?|assess(?:es)?|keeps?`

//go:embed core.txt
var coreTable string

// coreRules are the patterns of core.txt over lower-case text in which runs of
// white space are single spaces: saying what stands under "cat contrary" negates
// the core of the Cat, and so does denying what stands under "cat core". What is
// said of everyone is the core of the whole cast: agents serve, the person
// decides. They are made at the first use: most commands never look at a profile.
var coreRules = sync.OnceValue(func() map[string]*regexp.Regexp {
	patterns := map[string][]string{}
	for line := range strings.Lines(strings.NewReplacer("{neglect}", neglect, "{filler}", filler, "{tend}", tend).Replace(coreTable)) {
		name, pattern, _ := strings.Cut(strings.TrimSpace(line), ": ")
		patterns[name] = append(patterns[name], pattern)
	}
	rules := map[string]*regexp.Regexp{}
	for name, list := range patterns {
		rules[name] = regexp.MustCompile(`\b(?:` + strings.Join(list, "|") + `)`)
	}
	return rules
})

var (
	// negator is what turns a sentence round.
	negator = regexp.MustCompile(`(?:\b(?:never|not|no|nor|neither|cannot|without|refuses? to|rather than|instead of|nothing|nobody|hardly|rarely|fails? to|stops? short of|far from)\b|n['’]t\b)`)
	// denied is a negation right before the core, with at most two words between.
	denied = regexp.MustCompile(`\b(?:never|(?:(?:do|does|did|will|would|can|could) )?not|cannot|no longer|refuses to|refuse to|stops|stopped|forgets to|\w+n['’]t)(?: \w+){0,2} $`)
	// narrowed words between or behind make a denial a matter of degree.
	narrowing = regexp.MustCompile(`\b(?:just|merely|simply|only|alone|lightly|blindly|always|fail|fails|forget|forgets|stop|stops|hesitate|hesitates|hide|hides|once|need|needs)\b`)
	behind    = regexp.MustCompile(`^[^.!?;]{0,40}?\b(?:without|unless|until|except|for its own sake|alone|lightly|out of|because|as a|to please|just|only|by itself|before|twice|at the expense|in order)\b`)
	clause    = regexp.MustCompile(`[.!?;:](?:\s|$)|\n\s*\n|\n\s*[-*] `)
)

// checkCore looks for negations of the core in everything a profile says.
func (r *reader) checkCore(p *Profile) {
	a, ok := Lookup(p.Archetype)
	if !ok {
		return
	}
	body, first := r.doc.Body()
	body = withoutComments(body)
	for _, s := range sentences(body) {
		found := cmp.Or(findNegation(a.ID, s.text), findNegation("everyone", s.text))
		if found == "" {
			continue
		}
		line := first + s.line + s.lineOf(found)
		r.fault(line, "core-negated", fmt.Sprintf("%q negates the core of the %s: %s", found, a.ID, a.Core),
			"keep the core and change how it is shown; say \"never …\" if the opposite is meant")
	}
}

// sentence is one sentence of a body, flattened, with the line it starts on.
type sentence struct {
	text string // lower case, single spaces
	line int    // from 0
	raw  string
}

func sentences(body string) []sentence {
	var all []sentence
	start := 0
	add := func(end int) {
		raw := body[start:end]
		trimmed := strings.TrimLeft(raw, " \t\r\n")
		if trimmed != "" {
			line := strings.Count(body[:end-len(trimmed)], "\n")
			all = append(all, sentence{flatten(trimmed), line, trimmed})
		}
	}
	for _, at := range clause.FindAllStringIndex(body, -1) {
		add(at[0])
		start = at[0] + 1
	}
	add(len(body))
	return all
}

func flatten(text string) string {
	text = strings.NewReplacer("*", "", "_", "", "`", "").Replace(text)
	return strings.Join(strings.Fields(strings.ToLower(text)), " ")
}

// lineOf is how many lines into the sentence a phrase of it begins.
func (s sentence) lineOf(phrase string) int {
	before := s.text[:max(strings.Index(s.text, phrase), 0)]
	words := len(strings.Fields(before))
	line := 0
	for text := range strings.SplitAfterSeq(s.raw, "\n") {
		n := len(strings.Fields(text))
		if words < n {
			break
		}
		words -= n
		line++
	}
	return line
}

// findNegation returns the phrase that negates the core, or nothing.
func findNegation(who, text string) string {
	for _, at := range coreRules()[who+" contrary"].FindAllStringIndex(text, -1) {
		before := text[max(0, at[0]-60):at[0]]
		if !negator.MatchString(before) {
			return text[at[0]:at[1]]
		}
	}
	core := coreRules()[who+" core"]
	if core == nil {
		return ""
	}
	for _, at := range core.FindAllStringIndex(text, -1) {
		not := denied.FindStringIndex(text[:at[0]])
		if not == nil || narrowing.MatchString(text[not[0]:at[0]]) || behind.MatchString(text[at[1]:]) {
			continue
		}
		return text[not[0]:at[1]]
	}
	return ""
}
