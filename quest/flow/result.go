package flow

import (
	"cmp"
	"slices"
	"strings"

	"conclave/policy"
	"conclave/profile"
	"conclave/quest"
	"conclave/record"
)

// Result is what an interaction came to: for the person who asked for it, and
// as JSON for scripts.
type Result struct {
	Flow string      `json:"flow"`
	Who  policy.Role `json:"who,omitempty"`
	Name string      `json:"name,omitempty"` // the name it goes under
	// Said is what the agent said, in order.
	Said         []string `json:"said,omitempty"`
	Conversation string   `json:"conversation,omitempty"` // the file's name
	Runs         []string `json:"runs,omitempty"`         // records
	EndedEarly   string   `json:"ended_early,omitempty"`
	// Wish is what the person said in place of an answer: they ask for something
	// else (quest.Understand).
	Wish string `json:"wish,omitempty"`
	// Exchange is every message in order, the person's too, and Files are what
	// was written: Retold adds them.
	Exchange []Said   `json:"exchange,omitempty"`
	Files    []string `json:"files,omitempty"`

	Verdict  string                 `json:"verdict,omitempty"` // empty: none
	Outcome  string                 `json:"outcome,omitempty"` // as the file has it
	Guardian *quest.GuardianVerdict `json:"guardian,omitempty"`
	Dragon   *quest.DragonVerdict   `json:"dragon,omitempty"`
	Checks   []quest.CheckResult    `json:"checks,omitempty"`
	// Unverified are citations of a council that did not check out.
	Unverified []string       `json:"unverified,omitempty"`
	Council    *CouncilResult `json:"council,omitempty"`
	// Recommendations are those that the agent handed in; Logged are the lines
	// that it added to the quest's log.
	Recommendations []string `json:"recommendations,omitempty"`
	Logged          []string `json:"logged,omitempty"`

	// Leaks are passages for which an evaluation was refused; nothing else is
	// in such a result.
	Leaks []quest.Leak `json:"leaks,omitempty"`

	// Notes are what the person must know beside that.
	Notes    []string       `json:"notes,omitempty"`
	Phase    quest.Phase    `json:"phase,omitempty"`
	Boundary quest.Boundary `json:"boundary,omitempty"`
	Offers   []quest.Offer  `json:"offers,omitempty"`
}

// Said is one message of a conversation.
type Said struct {
	Speaker string `json:"speaker"` // as the file has it: User, or emoji and name
	Text    string `json:"text"`    // word for word
}

// Retold is a result with what its record tells besides: every message of the
// conversation, and the outcome. They are what the file was written from.
func (h *House) Retold(res Result) Result {
	if res.Conversation == "" {
		return res
	}
	res.Files = append(res.Files, quest.ConversationsDir+"/"+res.Conversation)
	if res.Council != nil && res.Council.Report != "" {
		res.Files = append(res.Files, res.Council.Report)
	}
	for _, run := range slices.Backward(res.Runs) {
		c, filed, err := fromRecords(record.Dir(h.opts.Root), run)
		if err != nil || filed.Lead != "" {
			continue // it leads no conversation
		}
		for _, m := range c.Exchange {
			name := strings.TrimSuffix(strings.TrimPrefix(m.Speaker, "**"), ":**")
			res.Exchange = append(res.Exchange, Said{name, m.Text})
		}
		res.Outcome = cmp.Or(res.Outcome, c.Outcome)
		break
	}
	return res
}

// result is what a conversation came to so far.
func (t *dialogue) result(file string) Result {
	res := Result{
		Flow: t.o.Flow, Who: t.o.Role, Name: t.o.face(t.o.Role).Name(), Said: t.said, Conversation: file,
		Runs: []string{t.o.Run}, EndedEarly: t.ended, Wish: t.wish, Phase: t.o.Phase, Recommendations: t.recommended,
	}
	for _, e := range t.logged {
		res.Logged = append(res.Logged, e.Text)
	}
	res.note(t.notes...)
	return res
}

// at sets the boundary and its offers.
func (res *Result) at(b quest.Boundary, o Opening, s quest.Suggestion) {
	res.Boundary = b
	res.Offers = quest.Offers(b, quest.OfferContext{Suggested: s, InQuest: o.Quest != nil,
		Face: func(who policy.Role) profile.Face { return o.face(who) }})
}

func (res *Result) note(texts ...string) {
	for _, s := range texts {
		if s = strings.TrimSpace(s); s != "" {
			res.Notes = append(res.Notes, s)
		}
	}
}

// OffersFor lists the next steps where a person who comes back stands.
func (h *House) OffersFor(q *quest.Quest) (Result, error) {
	o, err := h.readOpening(policy.Bear, "quest", "", true)
	if err != nil {
		return Result{}, err
	}
	res := Result{Flow: "quest", Phase: q.Phase}
	res.Boundary, res.Offers = q.Offers(func(who policy.Role) profile.Face { return o.face(who) })
	return res, nil
}
