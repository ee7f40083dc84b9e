package gm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"conclave/table"
)

// Huddle is a talk of some characters among themselves, which the game master
// lets them have: so many rounds, each speaking once in each. They hear each
// other, the game master hears all of it, and nobody else anything.
type Huddle struct {
	Names  []string `json:"names"`
	Topic  string   `json:"topic,omitempty"`
	Rounds int      `json:"rounds"`
}

// maxHuddle bounds the rounds of a talk.
const maxHuddle = 3

// parseHuddle reads "tilda-brannock, gideon | what to do about the bishop | rounds 2".
func parseHuddle(text string, roster table.Roster) (*Huddle, error) {
	parts := strings.Split(text, "|")
	h := &Huddle{Rounds: 2}
	names, bad := Signal{Found: true, Names: strings.FieldsFunc(parts[0], func(r rune) bool { return r == ',' || r == ' ' })}.
		Check(roster)
	if bad != nil {
		return nil, fmt.Errorf("%s", strings.Join(strings.Fields(bad.Repair()), " "))
	}
	if h.Names = names; len(names) < 2 {
		return nil, fmt.Errorf("who talks among themselves are two at least: [HUDDLE: a, b | what about]")
	}
	if len(parts) > 1 {
		h.Topic = Clip(strings.TrimSpace(parts[1]), 400)
	}
	for _, p := range parts[min(2, len(parts)):] {
		n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(p), "rounds")))
		if err != nil || n < 1 || n > maxHuddle {
			return nil, fmt.Errorf("%q is not rounds 1 to %d", Clip(strings.TrimSpace(p), 40), maxHuddle)
		}
		h.Rounds = n
	}
	return h, nil
}

func (o *Intent) addHuddle(text string, roster table.Roster) {
	h, err := parseHuddle(text, roster)
	switch {
	case err != nil:
		o.Faults = append(o.Faults, "HUDDLE: "+err.Error())
	case o.Huddle != nil:
		o.Faults = append(o.Faults, "HUDDLE: one talk a turn")
	default:
		o.Huddle = h
	}
}

// Audience are those who hear it.
func (h Huddle) Audience() table.Audience { return table.Audience{Names: slices.Clone(h.Names)} }

// Prompt is what one of them is asked, in a scene, after what was said.
func (h Huddle) Prompt(who, scene, said string, roster table.Roster) []byte {
	var others []string
	for _, n := range h.Names {
		if n != who {
			others = append(others, roster.NameOf(n))
		}
	}
	happened := said
	if happened == "" {
		happened = "You are among yourselves for a moment: you and " + strings.Join(others, ", ") + "."
	}
	about := ""
	if h.Topic != "" {
		about = " It is about this: " + h.Topic
	}
	return fmt.Appendf(nil, "---\nrequest_type: %s\n---\n\n## Scene\n%s\n\n## Just Happened\n%s\n\n## Request\n"+
		"You talk among yourselves, and nobody but %s hears it.%s Say to them what you say, in one to three sentences. "+
		"Nothing is decided or done here. Answer with a single dash if you have nothing to add.\n",
		table.QuickReaction, scene, happened, strings.Join(others, ", "), about)
}

// Spoken is what somebody said of an answer; "" for nothing.
func Spoken(text string) string {
	text = strings.TrimSpace(text)
	if strings.Trim(text, "-–—.… ") == "" {
		return ""
	}
	return text
}
