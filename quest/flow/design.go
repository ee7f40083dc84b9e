package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"conclave/engine"
	"conclave/policy"
	"conclave/profile"
	"conclave/quest/judging"
)

// characters are profiles in writing, as Gandalf proposes them.
type characters struct {
	Theme    string          `json:"theme"`
	Profiles []profile.Draft `json:"profiles"`
}

// pack is what was proposed, checked like any pack.
func (c characters) pack() *profile.Pack { return profile.Compose(c.Theme, c.Profiles) }

// charactersSchema is the form of characters. It names the archetypes of the
// cast, so that it is made and not written.
func charactersSchema() []byte {
	var ids []string
	for _, a := range dressable() {
		ids = append(ids, a.ID)
	}
	text := func(what string) map[string]any { return map[string]any{"type": "string", "description": what} }
	one := map[string]any{
		"archetype": map[string]any{"type": "string", "enum": ids},
		"name":      text("the character's name: at most 64 characters, without any of / \\ : * ? \" < > | ( )"),
		"emoji":     text("exactly one emoji, or empty for the archetype's own"),
		"concept":   text("who this is, and how what the archetype is for shows in them: a paragraph or two"),
		"voice":     text("how they speak: rhythm, words, images, and three or four lines that they would really say"),
		"modifiers": text("for animals only, and empty where nothing is tuned: a list of what is tuned and which way"),
	}
	schema := map[string]any{
		"type": "object", "additionalProperties": false, "required": []string{"theme", "profiles"},
		"properties": map[string]any{
			"theme": text("the world they come from, in a few words in title case"),
			"profiles": map[string]any{"type": "array", "items": map[string]any{
				"type": "object", "additionalProperties": false, "properties": one,
				"required": []string{"archetype", "name", "emoji", "concept", "voice", "modifiers"},
			}},
		},
	}
	data, err := json.Marshal(schema)
	if err != nil {
		panic(err) // it is made of texts
	}
	return data
}

// design lets the person and Gandalf think characters up: all nine, some, or the
// one that is named. It is true when the party wears them.
func (s *setupRun) design(who string) (bool, error) {
	gandalf := s.t.o.face(policy.Gandalf)
	question := "What world shall they come from, or which character do you see? Say it in your own words"
	if a, ok := profile.Lookup(who); ok {
		question = "Who shall " + s.t.o.face(policy.Role(a.ID)).MenuName() + " be? Say it in your own words"
	}
	words, err := s.t.message(question + " (empty to go back).")
	framing := s.designFraming(who)
	for err == nil && words != "" && s.t.ended == "" {
		_, ok, failed := s.t.say(framing, words)
		if failed != nil || !ok {
			return false, failed
		}
		framing = ""
		c, problem, failed := s.writtenDown(who)
		if failed != nil || s.t.ended != "" {
			return false, failed
		}
		if problem != nil {
			s.notes = append(s.notes, gandalf.Name()+" has proposed no characters that could be worn: "+strings.Join(strings.Fields(problem.Error()), " "),
				"Whoever wants to write them: conclave pack new NAME makes nine templates.")
			return false, nil
		}
		var done, worn bool
		if worn, words, done, err = s.agreeTo(c, gandalf); done {
			return worn, err
		}
	}
	return false, err
}

func (s *setupRun) designFraming(who string) string {
	var b strings.Builder
	b.WriteString("The person dresses the party of this quest: each may wear a character with a name, an emoji, a story and a " +
		"way of speaking, and what the archetype is for shows in it. They tell you which world or which character they have in mind. ")
	if who != "" {
		fmt.Fprintf(&b, "It is about the %s alone. ", who)
	}
	b.WriteString("Propose in a few words who is who, one a line, and ask at most one question. Nothing is worn before they agree.\n\n" +
		"The cast, and what no character may negate:\n")
	for _, a := range dressable() {
		fmt.Fprintf(&b, "- %s: %s\n", a.ID, a.Core)
	}
	return b.String()
}

// writtenDown asks for the proposal in writing; one repair. A problem is why
// there is none.
func (s *setupRun) writtenDown(who string) (c characters, problem, err error) {
	s.asked++
	schema := charactersSchema()
	ask := "Write the characters down now, in the structured form that is asked for: all nine, unless fewer were asked for, of one " +
		"world and no two alike.\n\nThe form, as a JSON schema:\n" + string(schema)
	for _, id := range []string{fmt.Sprintf("characters %d", s.asked), fmt.Sprintf("characters %d again", s.asked)} {
		reply, ok, err := s.t.request(id, ask, schema)
		if err != nil || !ok {
			return c, nil, err
		}
		c = characters{}
		if problem = c.read(judging.AnswerIn(reply), who); problem == nil {
			return c, nil, nil
		}
		ask = fmt.Sprintf("That could not be worn (%v). Give it once more, whole, as one JSON object in the form that is asked "+
			"for.\n\n%s", problem, schema)
	}
	return c, problem, nil
}

var errNoCharacters = errors.New("nothing was written down")

func (c *characters) read(answer []byte, who string) error {
	if len(strings.TrimSpace(string(answer))) == 0 {
		return errNoCharacters
	}
	if err := strictJSON(answer, c); err != nil {
		return errNoCharacters
	}
	if who != "" && (len(c.Profiles) != 1 || c.Profiles[0].Archetype != who) {
		return fmt.Errorf("it was to be the %s alone", who)
	}
	if p := c.pack(); len(p.Faults) > 0 {
		return &profile.FaultsError{What: "the proposal", Faults: p.Faults}
	}
	return nil
}

// agreeTo shows what is proposed. Words of the person's own go back to Gandalf.
func (s *setupRun) agreeTo(c characters, gandalf profile.Face) (worn bool, words string, done bool, err error) {
	pack := c.pack()
	options := []engine.Option{{Label: "Yes, install them"}, {Label: "Show me every word"}, {Label: "No, back to the others"}}
	shown := table(pack)
	for {
		answer, err := s.t.choose("designed", pack.Theme+"\n\n"+shown+"\n\nThese? Your own words go to "+gandalf.Name()+" as changes.",
			options, options[2].Label, true)
		if err != nil || s.t.ended != "" {
			return false, "", true, err
		}
		switch chosen(options, answer) {
		case 0:
			name := fmt.Sprintf("%s:%s %d", pack.Origin, pack.Name, s.asked)
			worn, err := s.install(name, pack.Theme, func() (*profile.Pack, error) { return c.pack(), nil })
			return worn, "", true, err
		case 1:
			var texts []string
			for _, q := range pack.Profiles {
				texts = append(texts, string(q.Bytes()))
			}
			shown = strings.Join(texts, "\n")
		case 2:
			return false, "", true, nil
		default:
			return false, answer.Free, false, nil
		}
	}
}
