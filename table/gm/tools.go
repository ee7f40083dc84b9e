package gm

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"conclave/dice"
	"conclave/policy"
	"conclave/table"
	"conclave/toolbox"
)

// The inputs of the tools.
type (
	promptInput struct {
		Character string `json:"character"`
		Text      string `json:"text"`
	}
	textInput    struct{ Text string }
	narrateInput struct {
		To   []string `json:"to"` // names; empty for the party; ["gm"] for nobody else
		Text string   `json:"text"`
	}
	namesInput struct {
		Names []string `json:"names"`
	}
	sceneInput struct{ Title, Place string }
)

// Tools are a game master's. handle answers a call while the turn goes on.
func Tools(handle func(name string, input json.RawMessage) (string, error)) []toolbox.Tool {
	obj := func(required, props string) json.RawMessage {
		return json.RawMessage(`{"type":"object","required":[` + required + `],"properties":{` + props + `}}`)
	}
	str := func(name, what string) string {
		return fmt.Sprintf(`%q:{"type":"string","description":%q}`, name, what)
	}
	tool := func(name, what string, schema json.RawMessage) toolbox.Tool {
		return toolbox.Tool{Name: name, Description: what, Schema: schema,
			Handle: func(_ context.Context, in json.RawMessage) (string, error) { return handle(name, in) }}
	}
	return []toolbox.Tool{
		tool("write_prompt", "write the prompt of a character: front matter with request_type, "+
			"then ## Scene, ## Just Happened, ## Request",
			obj(`"character","text"`, str("character", "name as in the roster")+","+str("text", "the whole file"))),
		tool("write_context", "write gm-context.md, your own notes for when you are resumed",
			obj(`"text"`, str("text", "five to ten lines"))),
		tool("update_state", "write or add to one of your files: story-state.md, party-knowledge.md, beats/…, npcs/…",
			obj(`"path","text"`, str("path", "the file")+","+str("text", "the text")+`,"append":{"type":"boolean"}`)),
		tool("narrate", "narrate to the party, or to some alone (to: their names; [\"gm\"] for a note to yourself). "+
			"In a turn that narrates to the party with this tool, what you say in words beside it is told to nobody",
			obj(`"text"`, str("text", "the narrative")+`,"to":{"type":"array","items":{"type":"string"}}`)),
		tool("roll", "let dice fall; the result is told at once",
			obj(`"expr","who"`, str("expr", "as 1d20+3")+","+str("who", "a character, or gm")+","+str("purpose", "what for")+
				`,"dc":{"type":"integer"},"hide_dc":{"type":"boolean"},"advantage":{"type":"boolean"},`+
				`"disadvantage":{"type":"boolean"},"visibility":{"type":"string","enum":["open","sealed","private"]}`)),
		tool("begin_scene", "begin a new scene",
			obj(`"title"`, str("title", "its title")+","+str("place", "place and time"))),
		tool("set_status", "say that a character is present, dead, retired, benched or absent",
			obj(`"character","status"`, str("character", "name")+","+str("status", "status"))),
		tool("combat", "change a fight: start NAME BONUS, NAME BONUS; next; join; leave; delay; ready; condition; "+
			"concentrate; damage; down; save; stabilise; heal; reveal; end. The dice it needs fall by themselves",
			obj(`"command"`, str("command", "as: start tilda-brannock +2, goblins +1 surprised"))),
		tool("huddle", "let characters talk among themselves, two rounds or as you say; nobody else hears it, and what "+
			"they said is told to you when this turn has ended",
			obj(`"names"`, `"names":{"type":"array","items":{"type":"string"}},`+str("topic", "what about")+
				`,"rounds":{"type":"integer","minimum":1,"maximum":3}`)),
		tool("await_players", "ask these characters when this turn has ended; their prompts must be written. "+
			"Call it last: nothing behind it counts",
			obj(`"names"`, `"names":{"type":"array","items":{"type":"string"}}`)),
		tool("end_session", "the session is over after this turn", nil),
	}
}

// called is what the calls of a turn ask for.
type called struct {
	Intent
	Reader
	placed []placed
	handed int  // how much of the text was said before await_players
	quiet  bool // the party is narrated to by a tool
}

// placed is what a call says, and where in the text.
type placed struct {
	said int
	told []Passage
}

// size is how much the calls say.
func (o *called) size() (n int64) {
	for _, p := range o.Told {
		n += int64(len(p.Text(nil)))
	}
	return n
}

// calls reads the calls of a turn that has ended.
func (r Reader) calls(list []Call) *called {
	o := &called{Reader: r}
	for _, call := range list {
		before, handed := len(o.Told), o.Signal.Found
		if call.Tool != "roll" {
			o.take(call)
		} else if line, err := r.Rolled(call.Input); err == nil {
			o.fell(line)
		}
		if o.Signal.Found && !handed {
			o.handed = call.Said
		}
		if len(o.Told) > before {
			o.placed = append(o.placed, placed{call.Said, o.Told[before:]})
		}
	}
	return o
}

// fell tells of a roll what each may know of it.
func (o *called) fell(line dice.Line) {
	if line.Event == dice.EventVoid {
		return
	}
	o.Fallen = append(o.Fallen, line.N)
	open := table.Block{Audience: table.Audience{Party: true}, Text: line.Told(dice.Viewer{})}
	o.Told = append(o.Told, plain(append([]table.Block{open}, rolledAlone(line)...))...)
}

// rolledAlone is a private roll for whoever rolled it.
func rolledAlone(line dice.Line) []table.Block {
	if line.Visibility != dice.Private || line.Who == string(policy.GM) {
		return nil
	}
	text := line.Told(dice.Viewer{Name: line.Who})
	return []table.Block{{Audience: table.Audience{Names: []string{line.Who}}, Text: text}}
}

// take reads one call.
func (o *called) take(call Call) {
	var err error
	switch call.Tool {
	case "write_prompt":
		var in promptInput
		if err = json.Unmarshal(call.Input, &in); err == nil {
			o.addFile(File{Path: "tmp/" + table.PromptFile(in.Character), Text: fileText(in.Text)}, o.Roster)
		}
	case "write_context":
		var in textInput
		if err = json.Unmarshal(call.Input, &in); err == nil {
			o.addFile(File{Path: "tmp/" + table.GMContextFile, Text: fileText(in.Text)}, o.Roster)
		}
	case "update_state":
		var in File
		if err = json.Unmarshal(call.Input, &in); err == nil {
			in.Text = fileText(in.Text)
			o.addFile(in, o.Roster)
		}
	case "narrate":
		var in narrateInput
		if err = json.Unmarshal(call.Input, &in); err == nil {
			o.narrate(in)
		}
	case "begin_scene":
		var in sceneInput
		if err = json.Unmarshal(call.Input, &in); err == nil {
			o.Scene = newScene(in.Title, in.Place)
		}
	case "set_status":
		var in StatusChange
		if err = json.Unmarshal(call.Input, &in); err == nil {
			o.AddStatus(in.Character, string(in.Status), o.Roster)
		}
	case "combat":
		var in struct{ Command string }
		if err = json.Unmarshal(call.Input, &in); err == nil {
			o.AddCombat(clean(in.Command))
		}
	case "huddle":
		var in Huddle
		if err = json.Unmarshal(call.Input, &in); err == nil {
			o.addHuddle(fmt.Sprintf("%s | %s | rounds %d", strings.Join(in.Names, ", "),
				strings.ReplaceAll(clean(in.Topic), "|", "/"), cmp.Or(in.Rounds, 2)), o.Roster)
		}
	case "await_players":
		var in namesInput
		if err = json.Unmarshal(call.Input, &in); err == nil && !o.Signal.Found {
			// The text form is the contract: names are read from it.
			names, fault, _ := readSignal(strings.Split(clean(FormatSignal(in.Names)), "\n"))
			o.Signal = Signal{Found: true, Names: names, Fault: fault}
		}
	case "end_session":
		o.End = true
	}
	if err != nil {
		o.Faults = append(o.Faults, call.Tool+": "+err.Error())
	}
}

// fileText is a file as its text form would have made it: whole lines.
func fileText(text string) string {
	return strings.TrimSuffix(clean(text), "\n") + "\n"
}

func (o *called) narrate(in narrateInput) {
	text := strings.TrimSpace(clean(in.Text))
	a := table.Audience{Party: len(in.To) == 0}
	for _, n := range in.To {
		switch ch, ok := o.Roster.Get(n); {
		case n == "party":
			a.Party = true
		case n == "gm" && len(in.To) == 1:
		case !ok:
			o.Faults = append(o.Faults,
				fmt.Sprintf("narrate: %q is nobody here: %s", Clip(n, 80), strings.Join(o.Roster.Slugs(), ", ")))
			return
		case !slices.Contains(a.Names, ch.Slug):
			a.Names = append(a.Names, ch.Slug)
		}
	}
	blocks, faults := table.ParseNarrative(text, o.Roster)
	for _, f := range faults {
		o.Faults = append(o.Faults, "narrate: "+f)
	}
	for i := range blocks {
		blocks[i].Audience = within(blocks[i].Audience, a)
	}
	o.Told = append(o.Told, plain(blocks)...)
	o.quiet = o.quiet || a.Party && text != ""
}

// within is an audience that a text marks for itself inside one that it was
// given: never more than either.
func within(marked, given table.Audience) table.Audience {
	switch {
	case marked.Party:
		return given
	case given.Party:
		return marked
	}
	return table.Audience{Names: slices.DeleteFunc(slices.Clone(marked.Names), func(n string) bool {
		return !slices.Contains(given.Names, n)
	})}
}
