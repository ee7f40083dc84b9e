package quest

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"conclave/policy"
)

// lens is what calls for an animal: a reason in plain words, and the words by
// whose beginnings it is recognised.
type lens struct {
	who    policy.Role
	reason string
	stems  string
}

func lenses() []lens {
	return []lens{
		{policy.Cat, "there is risk or uncertainty in it", "risk* uncertain* unsure danger* threat* fail* unknown* scope* creep vulnerab* secur* worr* assum*"},
		{policy.Owl, "time or sequence is tight", "deadline* schedul* timelin* late overdue delay* sequenc* milestone* week* month* tomorrow process* plan*"},
		{policy.Bear, "the direction is unclear", "direction* vision* unclear purpose* strateg* priorit* goal* focus* vague why"},
		{policy.Puppy, "it is daunting, or energy is low", "daunt* overwhelm* tired exhaust* stuck morale motivat* energ* bored* boring discourag* momentum fun"},
		{policy.Rabbit, "constraints or dependencies weigh on it", "constrain* dependen* budget* resourc* cost* money capacit* tool* supplier* licen* shortage*"},
		{policy.Wolf, "many people have a stake in it", "stakeholder* team* conflict* disagree* align* consensus everyone customer* communit* collaborat* quarrel*"},
	}
}

// FirstAdvisor recommends whom to ask first, by what the quest says. The one
// whose words occur most leads; without any it is Bear, for direction.
func FirstAdvisor(texts ...string) Suggestion {
	best, n := strongest(wordsOf(texts...), nil)
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
// was named comes first, then the one whose words were used most; only then
// the fallback, where someone not heard yet is preferred. It is never the one
// who just spoke.
func NextPerspective(after policy.Role, said string, heard []policy.Role) Suggestion {
	words := wordsOf(said)
	for _, w := range words {
		if who := policy.Role(w); who != after && slices.Contains(policy.Animals(), who) {
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
	stems := strings.Fields(l.stems)
	for _, w := range words {
		for _, s := range stems {
			stem, open := strings.CutSuffix(s, "*")
			if w == stem || open && strings.HasPrefix(w, stem) {
				if n++; n == 1 {
					first = w
				}
				break
			}
		}
	}
	return n, first
}

func wordsOf(texts ...string) []string {
	return strings.FieldsFunc(strings.ToLower(strings.Join(texts, " ")), func(r rune) bool {
		return !unicode.IsLetter(r) && r != '\''
	})
}
