package profile

import (
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

// coreRule is one archetype's core as patterns over lower-case text in which
// runs of white space are single spaces.
type coreRule struct {
	contrary *regexp.Regexp // saying this negates the core
	core     *regexp.Regexp // denying this negates the core
}

const (
	neglect = `(?:ignor(?:e|es|ing)|dismiss(?:es|ing)?|disregard(?:s|ing)?|neglect(?:s|ing)?|overlook(?:s|ing)?|shrugs? off|brush(?:es)? off|brush(?:es)? aside|laughs? off|has no interest in|could not care less about|cares? nothing (?:for|about)|forgets? about|skips? over)`
	filler  = `(?: (?:the|a|an|any|all|every|each|its|his|her|their|your|our|about|of|whether|such|possible|obvious|big|bigger|long-term|agreed|real|own|project|party|team|quest))*`
)

func contrary(objects string, more ...string) *regexp.Regexp {
	patterns := append([]string{neglect + filler + ` (?:` + objects + `)\b`}, more...)
	return regexp.MustCompile(`\b(?:` + strings.Join(patterns, "|") + `)`)
}

func core(verbs, objects string, more ...string) *regexp.Regexp {
	patterns := append([]string{`(?:` + verbs + `)` + filler + ` (?:` + objects + `)\b`}, more...)
	return regexp.MustCompile(`\b(?:` + strings.Join(patterns, "|") + `)`)
}

const tend = `cares?(?: about| for)?|minds?|considers?|mentions?|thinks?(?: about| of)?|talks?(?: about| of)?|asks?(?: about| after)?|worr(?:y|ies) about|looks?(?: at| for| after)|tracks?|watch(?:es)?|raises?|names?|notices?|checks?|weighs?|assess(?:es)?|keeps?`

// coreRules are made at the first use: most commands never look at a profile.
var coreRules = sync.OnceValue(func() map[string]coreRule {
	return map[string]coreRule{
		"bear": {
			contrary(`visions?|directions?|purpose|goals?|picture`, `has no (?:vision|direction|sense of direction)\b`),
			core(tend+`|sets?|gives?|offers?|holds?|points? to|speaks? of`, `visions?|directions?|purpose|picture`),
		},
		"cat": {
			contrary(`risks?|dangers?|threats?|scope|warnings?|what (?:could|might|can) go wrong`, `welcomes? scope creep\b`,
				`lets? (?:the )?scope grow\b`),
			core(tend+`|flags?|spots?|warns?(?: of| about)?|questions?|points? out|examines?|judges?`,
				`risks?|dangers?|threats?|scope|what (?:could|might|can) go wrong`),
		},
		"owl": {
			contrary(`timelines?|deadlines?|process|progress|schedules?|milestones?|calendars?|sequence`),
			core(tend+`|plans?|measures?|follows?|orders?`, `timelines?|deadlines?|process|progress|schedules?|milestones?|calendars?|sequence`),
		},
		"puppy": {
			contrary(`morale|opportunit(?:y|ies)|momentum|spirits?`, `(?:crush(?:es)?|kills?|drains?|saps?|dampens?|destroys?)`+
				filler+` (?:morale|momentum|spirits?|hopes?|enthusiasm)\b`),
			core(tend+`|lifts?|boosts?|spots?|finds?|sees?|encourages?|celebrates?`, `morale|opportunit(?:y|ies)|momentum|spirits`),
		},
		"rabbit": {
			contrary(`resources?|stakeholders?|budgets?|costs?|capacity|supplies`),
			core(tend+`|counts?|maps?|lists?|coordinates?|manages?|gathers?`, `resources?|stakeholders?|budgets?|costs?|capacity|supplies`),
		},
		"wolf": {
			contrary(`cohesion|balance|participation|quiet voices?|quiet ones?|unity`, `(?:breaks?|undermines?|destroys?)`+
				filler+` (?:cohesion|balance|unity)\b`, `plays? favourites\b`, `silences? (?:the )?(?:quiet|weak)\w*`),
			core(tend+`|protects?|builds?|balances?|brings? in|includes?`, `cohesion|balance|participation|quiet voices?|unity`),
		},
		"gandalf": {
			contrary(`growth|learning`,
				`(?:solves?|fix(?:es)?|do(?:es)?|finish(?:es)?|completes?|handles?)(?: it| this| that| everything| all(?: of it)?|`+
					filler+` (?:work|problems?|quest|tasks?|criteria)) for (?:the (?:party|user|hero|person|team)|them|you|us|him|her)\b`,
				`rescues? (?:the (?:party|user|hero|person|team)|them|you|us|everyone)\b`,
				`takes? over the (?:quest|work|campaign)\b`,
				`does the work (?:himself|herself|itself|themselves)\b`,
				`hands? (?:over|out) the (?:answers?|solutions?)\b`),
			core(`mentors?|guides?|counsels?|teach(?:es)?`, `party|user|person|team|hero`),
		},
		"guardian": {
			contrary(`quality|standards?|gaps?|flaws?`,
				`always (?:approves?|says? yes|passes)\b`,
				`approves? (?:everything|anything|everyone|anyone|all work|whatever)\b`,
				`(?:waves?|lets?) (?:everything|anything|everyone|anyone|all work|whatever \w+)(?: \w+)? (?:through|pass|by)\b`,
				`(?:just|simply|only|flatly) says? ["“'‘]?no\b`,
				`says? ["“'‘]?no["”'’]? and nothing (?:more|else)\b`),
			core(tend+`|judges?|inspects?|examines?|gates?(?: on)?|tests?`, `quality|readiness|standards?`,
				`blocks?\b`, `holds? (?:back|up) (?:weak|poor|unready|bad) work\b`, `says? ["“'‘]?not yet\b`,
				`turns? (?:work|anyone|anything) (?:back|away)\b`),
		},
		"dragon": {
			contrary(`criteria|evidence|fairness`,
				`cheats?\b`, `(?:moves?|shifts?)`+filler+` goalposts?\b`,
				`(?:changes?|rewrites?|bends?)`+filler+` (?:criteria|rules)\b`,
				`(?:invents?|adds?|makes? up)(?: new| fresh| extra| its own| his own| her own| their own)* (?:criteria|criterion|demands|rules)\b`,
				`always (?:loses?|yields?|surrenders?|wins?|prevails?|refuses?)\b`,
				`goes? easy on\b`, `lets? (?:everyone|anyone|everything|anything|the party|the user) (?:win|pass|off)\b`,
				`judges? (?:by|on) (?:whim|mood|effort)\b`),
			core(`tests?|challenges?|confronts?|probes?|weighs?|asks? for`, `work|claims?|evidence|criteria|party|criterion`),
		},
		"simon": {
			contrary(`council|findings`),
			core(`synthesises?|synthesizes?|debriefs?|reflects?(?: on)?`, `council|quest|party|campaign|findings`),
		},
	}
})

// everyRule is the core of the whole cast: agents serve, the person decides.
var everyRule = coreRule{
	contrary: regexp.MustCompile(`\b(?:(?:advances?|moves?) the (?:campaign|quest|phase)(?: forward| on)? (?:by (?:itself|himself|herself|themselves)|without (?:asking|the user|being asked))\b|decides? for the (?:user|person)\b|overrules? the (?:user|person)\b)`),
}

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
	rule, ok := coreRules()[p.Archetype]
	if !ok {
		return
	}
	body, first := r.doc.Body()
	body = withoutComments(body)
	for _, s := range sentences(body) {
		found := findNegation(rule, s.text)
		if found == "" {
			found = findNegation(everyRule, s.text)
		}
		if found == "" {
			continue
		}
		a, _ := Lookup(p.Archetype)
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
func findNegation(rule coreRule, text string) string {
	for _, at := range rule.contrary.FindAllStringIndex(text, -1) {
		before := text[max(0, at[0]-60):at[0]]
		if !negator.MatchString(before) {
			return text[at[0]:at[1]]
		}
	}
	if rule.core == nil {
		return ""
	}
	for _, at := range rule.core.FindAllStringIndex(text, -1) {
		not := denied.FindStringIndex(text[:at[0]])
		if not == nil || narrowing.MatchString(text[not[0]:at[0]]) || behind.MatchString(text[at[1]:]) {
			continue
		}
		return text[not[0]:at[1]]
	}
	return ""
}
