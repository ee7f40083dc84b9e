package quest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"conclave/policy"
)

// lens is what calls for an animal: a reason in plain words, and the words by
// which it is recognised, each in every form that counts. A word that only
// begins like one of them is another word: a plane is no plan.
type lens struct {
	who    policy.Role
	reason string
	words  string
}

func lenses() []lens {
	return []lens{
		{policy.Cat, "it speaks of risk or uncertainty", "risk risks risky riskier riskiest uncertain uncertainty " +
			"uncertainties unsure danger dangers dangerous threat threats threaten threatens fail fails failed failing " +
			"failure failures unknown unknowns scope creep vulnerability vulnerabilities vulnerable insecure worry worries " +
			"worried worrying afraid assumption assumptions"},
		{policy.Owl, "it speaks of time or order", "deadline deadlines schedule schedules scheduled scheduling timeline " +
			"timelines late overdue delay delays delayed sequence sequences sequencing milestone milestones week weeks month " +
			"months tomorrow"},
		{policy.Bear, "it speaks of direction", "direction directions vision unclear purpose purposes strategy strategies " +
			"strategic priority priorities prioritise prioritize goal goals focus vague"},
		{policy.Puppy, "it speaks of energy, or of something daunting", "daunting daunted overwhelmed overwhelming tired exhausted " +
			"exhausting stuck morale motivation motivate motivated unmotivated energy bored boring discouraged discouraging " +
			"momentum"},
		{policy.Rabbit, "it speaks of constraints or dependencies", "constraint constraints constrained dependency " +
			"dependencies dependent budget budgets resource resources cost costs costly money capacity supplier suppliers " +
			"shortage shortages"},
		{policy.Wolf, "it speaks of those who have a stake", "stakeholder stakeholders team teams conflict conflicts disagree " +
			"disagrees disagreement disagreements consensus everyone customer customers community communities " +
			"collaborate collaborates collaboration quarrel quarrels"},
	}
}

// FirstAdvisor recommends whom to ask first, by what the quest says. The one
// whose words occur most leads; without any it is Bear, for direction.
func FirstAdvisor(texts ...string) Suggestion {
	best, n := strongest(wordsOf(ownWords(strings.Join(texts, "\n"))), nil)
	if n == 0 {
		return Suggestion{Who: policy.Bear, Reason: "a first look at the direction"}
	}
	return best
}

// fallback is the next perspective when nothing that was said calls for one.
func fallback(after policy.Role) []policy.Role {
	angles := map[policy.Role][]policy.Role{
		policy.Bear:   {policy.Cat, policy.Owl},
		policy.Cat:    {policy.Owl, policy.Rabbit},
		policy.Owl:    {policy.Bear, policy.Rabbit},
		policy.Puppy:  {policy.Cat, policy.Wolf},
		policy.Rabbit: {policy.Owl, policy.Wolf},
		policy.Wolf:   {policy.Bear, policy.Puppy},
	}
	if next, ok := angles[after]; ok {
		return next
	}
	return []policy.Role{policy.Bear, policy.Cat}
}

// NextPerspective suggests whom to hear after a consultation. An animal that
// the person named comes first, then one that the advisor sent them to, then the
// one whose words the person used most; only then the fallback, where someone not
// heard yet is preferred. It is never the one who just spoke. What a person
// quotes, pastes in a fence or pipes in as a diff is not what they said.
func NextPerspective(after policy.Role, said, advised string, heard []policy.Role) Suggestion {
	said = ownWords(said)
	words := wordsOf(said)
	for _, w := range words {
		if who := policy.Role(w); who != after && who != policy.Bear && slices.Contains(policy.Animals(), who) {
			return Suggestion{Who: who, Reason: "you named it"}
		}
	}
	for _, text := range []string{said, advised} {
		if who := sentTo(text, after); who != "" {
			return Suggestion{Who: who, Reason: "it was named in what was said"}
		}
	}
	if best, n := strongest(words, []policy.Role{after}); n > 0 {
		return best
	}
	next := fallback(after)
	unheard := slices.IndexFunc(next, func(who policy.Role) bool { return !slices.Contains(heard, who) })
	return Suggestion{Who: next[max(unheard, 0)], Reason: "another angle on the same question"}
}

// sending is how somebody is named as one to turn to. A verb that is spelt like
// an animal ("bear in mind") is none.
var sending = regexp.MustCompile(`(?i)\b(?:ask|hear|consult|talk to|speak to|speak with|talk with)\s+(?:the\s+)?(` +
	roleWords(policy.Animals()) + `)\b`)

func roleWords(roles []policy.Role) string {
	var list []string
	for _, r := range roles {
		list = append(list, string(r))
	}
	return strings.Join(list, "|")
}

// sentTo is the first animal but one that a text sends the person to.
func sentTo(text string, but policy.Role) policy.Role {
	for _, m := range sending.FindAllStringSubmatch(text, -1) {
		if who := policy.Role(strings.ToLower(m[1])); who != but {
			return who
		}
	}
	return ""
}

func strongest(words []string, but []policy.Role) (Suggestion, int) {
	var best Suggestion
	most := 0
	for _, l := range lenses() {
		if slices.Contains(but, l.who) {
			continue
		}
		n, seen := l.count(words)
		if n > most {
			most, best = n, Suggestion{Who: l.who, Reason: fmt.Sprintf("%s (%q)", l.reason, seen)}
		}
	}
	return best, most
}

// count counts the words that call for the animal and returns the first.
func (l lens) count(words []string) (n int, first string) {
	calling := strings.Fields(l.words)
	for _, w := range words {
		if !slices.Contains(calling, w) {
			continue
		}
		if n++; n == 1 {
			first = w
		}
	}
	return n, first
}

func wordsOf(texts ...string) []string {
	return strings.FieldsFunc(strings.ToLower(strings.Join(texts, " ")), func(r rune) bool {
		return !unicode.IsLetter(r) && r != '\''
	})
}
