package quest

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"conclave/policy"
	"conclave/profile"
)

// Wish is what a person asked for in words of their own, without choosing from
// a list: to face the Dragon, to hear somebody, to leave.
type Wish struct {
	Action Action
	Who    policy.Role // of a consultation
	// Says that the words mean something to who is asked for: "what does the
	// Cat think of it?" is said to the Cat, "talk to the Cat" is not.
	Says bool
}

// Understand finds out whether words are a wish, and nothing but one. At a menu
// a mere "later" or a name is one too; in a talk it may be an answer to somebody.
// The faces tell by which names the cast goes; nil: undressed.
func Understand(text string, menu bool, face func(policy.Role) profile.Face) (Wish, bool) {
	if len(text) > 400 {
		return Wish{}, false // a text, not a word in passing
	}
	words, _ := saidWords(text)
	said := strings.Join(words, " ")
	if said == "" {
		return Wish{}, false
	}
	names := namesOf(face)
	for _, r := range wishRules() {
		if r.menu && !menu {
			continue
		}
		for _, who := range r.about() {
			if !names.mentioned(who, said) || !wishForm(r.form, names, who).MatchString(said) {
				continue
			}
			w := Wish{Action: r.do, Says: r.says, Who: r.who}
			if who != "" {
				w.Who = who
			}
			if w.Who == policy.Gandalf && w.Action == ActConsult {
				w.Action = ActGandalf
			}
			return w, true
		}
	}
	return Wish{}, false
}

// castNames are the names that the cast goes by, without articles.
type castNames map[policy.Role][]string

func namesOf(face func(policy.Role) profile.Face) castNames {
	names := castNames{}
	for _, a := range profile.Cast() {
		list := []string{a.ID}
		if face != nil {
			words, _ := saidWords(face(policy.Role(a.ID)).Name())
			if name := strings.TrimPrefix(strings.Join(words, " "), "the "); name != "" && name != a.ID {
				list = append(list, name)
			}
		}
		names[policy.Role(a.ID)] = list
	}
	return names
}

// mentioned says whether one of the names of who stands in what was said;
// nobody's always does.
func (n castNames) mentioned(who policy.Role, said string) bool {
	return who == "" || slices.ContainsFunc(n[who], func(name string) bool { return strings.Contains(said, name) })
}

func (n castNames) pattern(who policy.Role) string {
	var list []string
	for _, name := range n[who] {
		list = append(list, regexp.QuoteMeta(name))
	}
	return `(?:the |our |my )?(?:` + strings.Join(list, "|") + `)`
}

// wishRule is a form of words and what they ask for. In the form DRAGON and
// GUARDIAN stand for their names, WHO for that of an advisor, LEAD for "let us"
// and the like, READY for "I am ready".
type wishRule struct {
	do   Action
	form string
	who  policy.Role
	says bool
	menu bool // understood where a list is shown, and nowhere else
}

// about are those for whom the rule is tried.
func (r wishRule) about() []policy.Role {
	if !strings.Contains(r.form, "WHO") {
		return []policy.Role{""}
	}
	return append(policy.Animals(), policy.Gandalf, policy.Simon)
}

const (
	fightWords = `(?:face|fight|meet|confront|challenge|slay|battle|take on|stand before|go and face|go to)`
	gateWords  = `(?:(?:a|the|my|our|another|one more|the next) )?(?:(?:GUARDIAN|GUARDIAN's|stage|quality) )?(?:checkpoint|check point|gate)`
	workWords  = `(?:it|this|that|(?:my|our|the) (?:work|draft|stage)|this stage|what (?:i|we) have(?: so far)?)`
	talkWords  = `(?:ask|hear|consult|talk to|talk with|speak to|speak with|hear from|listen to|turn to|call|call for)`
	aboutWords = ` (?:about|of|on|whether|if|what|how|why|where|when|for|to|regarding|here) ?.*`
)

func wishRules() []wishRule {
	return []wishRule{
		{do: ActReadiness, form: `(?:am i|are we)(?: ADV)* ready(?: (?:to ` + fightWords + ` DRAGON|for DRAGON|yet))*`, who: policy.Gandalf, says: true},
		{do: ActReadiness, form: `(?:should (?:i|we)|is it time to) ` + fightWords + ` DRAGON(?: yet)?`, who: policy.Gandalf, says: true},
		{do: ActReadiness, form: `do you think (?:i am|we are)(?: ADV)* ready(?: (?:to ` + fightWords + ` DRAGON|for DRAGON))?`, who: policy.Gandalf, says: true},

		{do: ActConfront, form: `(?:LEAD )?` + fightWords + ` DRAGON`},
		{do: ActConfront, form: `READY for (?:DRAGON|the (?:final )?(?:confrontation|test|battle|fight))`},
		{do: ActConfront, form: `(?:bring on|bring me|bring out|show me|summon|call) DRAGON`},
		{do: ActConfront, form: `(?:LEAD )?(?:begin|start|have) the (?:final )?confrontation`},
		{do: ActConfront, form: `all (?:of )?(?:(?:the|my|our) )?(?:success )?criteria are met`},
		{do: ActConfront, form: `(?:the|my|our) (?:success )?criteria are all met`},

		{do: ActCheckpoint, form: `READY for ` + gateWords},
		{do: ActCheckpoint, form: `READY for GUARDIAN`},
		{do: ActCheckpoint, form: `(?:LEAD )?(?:hold|have|do|take|call|call for|pass|go through|run|make|face|ask for|request) ` + gateWords},
		{do: ActCheckpoint, form: `(?:i|we) (?:want|need|would like) ` + gateWords},
		{do: ActCheckpoint, form: `(?:time for |it is time for )?` + gateWords},
		{do: ActCheckpoint, form: `(?:LEAD )?(?:ask|call|see|face|meet|go to|turn to) GUARDIAN(?: to (?:look at|check|judge|evaluate|review|see) ` + workWords + `)?`},
		{do: ActCheckpoint, form: `(?:LEAD )?(?:let|have) GUARDIAN (?:look at|check|judge|evaluate|review|see) ` + workWords},

		{do: ActCouncil, form: `(?:LEAD )?(?:hold|have|call|convene|summon|gather|ask|hear|consult|call for) (?:a|the|another) council`},
		{do: ActCouncil, form: `(?:i|we) (?:want|need|would like) (?:a|the|another) council`},
		{do: ActCouncil, form: `(?:time for a )?council`},
		{do: ActCouncil, form: `what (?:does|would) (?:everyone|everybody|the (?:whole )?(?:party|council)) (?:think|say|see)(?:` + aboutWords + `)?`, says: true},
		{do: ActCouncil, form: `(?:LEAD )?(?:ask|hear|gather|consult) (?:everyone|everybody|all of them|all six|the (?:whole )?party)`},

		{do: ActConsult, form: `what (?:does|would|will|might|did|do you think|does our) WHO (?:think|say|see|make)(?:` + aboutWords + `)?`, says: true},
		{do: ActConsult, form: `how (?:does|would) WHO see (?:it|this|that)`, says: true},
		{do: ActConsult, form: `(?:LEAD )?` + talkWords + ` WHO(?: first| next| again| instead)?`},
		{do: ActConsult, form: `(?:LEAD )?` + talkWords + ` WHO` + aboutWords, says: true},
		{do: ActConsult, form: `(?:i|we) (?:want|need|would like) (?:to ` + talkWords + ` )?WHO(?:'s (?:view|opinion|advice|counsel|perspective|help|take))?`},
		{do: ActConsult, form: `(?:what about|how about) WHO`, menu: true},
		{do: ActConsult, form: `WHO`, menu: true},
		{do: ActGandalf, form: `(?:i|we) need (?:some |your )?(?:counsel|advice|guidance)`, who: policy.Gandalf, says: true},

		{do: ActDebrief, form: `(?:LEAD )?(?:debrief|look back|reflect|(?:have|begin|start|hold|do) (?:a|the|our) debrief)(?: on (?:it|this|the quest|our quest))?`},
		{do: ActDebrief, form: `READY for (?:a|the|our) debrief`},

		{do: ActWork, form: `(?:LEAD )?(?:get |go )?back to (?:the )?work`},
		{do: ActWork, form: `(?:LEAD )?(?:continue|go on|carry on|keep|keep on|begin|start|get) (?:working|to work|with (?:the|my|our) work)`},
		{do: ActReturn, form: `(?:LEAD )?(?:continue|resume|return to|go back to|get back to|go on with) (?:the|my|our) quest`},
		{do: ActReview, form: `(?:LEAD )?(?:show me|see|review|read|look at|show) (?:the|my|our) (?:quest|criteria)(?: again)?`},
		{do: ActReview, form: `where (?:do (?:i|we) stand|are we|am i)`},
		{do: ActStart, form: `(?:LEAD )?(?:start|begin|define|make) (?:a|another|a new|the next|my|our) quest`},

		{do: ActDone, form: `(?:i am|we are)(?: ADV)* (?:done|finished|through)(?: here)?(?: for (?:now|today))?`},
		{do: ActDone, form: `that (?:is|will be|was) all(?: for (?:now|today))?`},
		{do: ActDone, form: `(?:good ?bye|bye|bye bye|good night|see you(?: later| tomorrow| soon| then)?|quit|exit)`},
		{do: ActDone, form: `enough for (?:now|today)`},
		{do: ActDone, form: `(?:i|we) (?:have to|must|need to) (?:go|leave)`},
		{do: ActDone, form: `(?:done|finished|enough|later|not now|nothing|no|no thank you|no thanks|nothing (?:more|else)|leave|stop|stop here|end)(?: for (?:now|today))?`, menu: true},
	}
}

const (
	advWords  = `(?:now|finally|really|quite|all|so|just|already|more than|at last|truly)`
	readyForm = `(?:(?:i am|i feel|i think i am|we are|we feel|i believe i am|i believe we are|i think we are)(?: ADV)* )?(?:ready|prepared|all set)`
	leadForm  = `(?:(?:i|we) (?:ADV )?(?:want|wish|need|have|would like|would love|mean|plan) to|(?:i|we) (?:will|shall|must|would)(?: ADV)?|` +
		`READY to|(?:i am|we are)(?: ADV)* (?:going|about) to|let us(?: ADV)?|let me|let us go and|(?:it is )?time to|(?:can|could|may|shall) (?:i|we)|please)`
	beforeForm = `(?:(?:ok|well|so|now|right|then|yes|great|good|all right|fine|and|oh|ah|please|hi|hello|hey|i think|i guess|i believe|thanks|thank you|gandalf|cat|owl|bear|puppy|rabbit|wolf) )*`
	afterForm  = `(?: (?:now|please|then|today|at last|already|finally|gandalf|thanks|thank you|next|first|again|after all|myself|ourselves|together|i think))*`
)

var wishForms sync.Map // what was compiled, by its pattern

func wishForm(form string, names castNames, who policy.Role) *regexp.Regexp {
	form = strings.ReplaceAll(form, "LEAD", leadForm)
	form = strings.ReplaceAll(form, "READY", readyForm)
	form = strings.NewReplacer("ADV", advWords, "DRAGON", names.pattern(policy.Dragon),
		"GUARDIAN", names.pattern(policy.Guardian), "WHO", names.pattern(who)).Replace(form)
	pattern := "^" + beforeForm + "(?:" + form + ")" + afterForm + "$"
	if r, ok := wishForms.Load(pattern); ok {
		return r.(*regexp.Regexp)
	}
	r := regexp.MustCompile(pattern)
	wishForms.Store(pattern, r)
	return r
}
