package flow

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"conclave/dice"
	"conclave/table"
	"conclave/toolbox"
)

// gmDesk is what a GM's tools work on. All but roll are only checked when they
// are called: what they ask for is taken from the record when the turn has
// ended, so that a turn which was cut has done nothing.
type gmDesk struct {
	c    *cycle
	turn string
	dice map[string]int // equal rolls of the turn so far
}

func (d *gmDesk) begin(turn string) { d.turn, d.dice = turn, map[string]int{} }

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

func (d *gmDesk) tools() []toolbox.Tool {
	obj := func(required, props string) json.RawMessage {
		return json.RawMessage(`{"type":"object","required":[` + required + `],"properties":{` + props + `}}`)
	}
	str := func(name, what string) string {
		return fmt.Sprintf(`%q:{"type":"string","description":%q}`, name, what)
	}
	tool := func(name, what string, schema json.RawMessage) toolbox.Tool {
		return toolbox.Tool{Name: name, Description: what, Schema: schema, Handle: func(_ context.Context, in json.RawMessage) (string, error) {
			return d.handle(name, in)
		}}
	}
	return []toolbox.Tool{
		tool("write_prompt", "write the prompt of a character: front matter with request_type, then ## Scene, ## Just Happened, ## Request",
			obj(`"character","text"`, str("character", "name as in the roster")+","+str("text", "the whole file"))),
		tool("write_context", "write gm-context.md, your own notes for when you are resumed", obj(`"text"`, str("text", "five to ten lines"))),
		tool("update_state", "write or add to one of your files: story-state.md, party-knowledge.md, beats/…, npcs/…",
			obj(`"path","text"`, str("path", "the file")+","+str("text", "the text")+`,"append":{"type":"boolean"}`)),
		tool("narrate", "narrate to the party, or to some alone", obj(`"text"`, str("text", "the narrative")+`,"to":{"type":"array","items":{"type":"string"}}`)),
		tool("roll", "let dice fall; the result is told at once", obj(`"expr","who"`, str("expr", "as 1d20+3")+","+str("who", "a character, or gm")+","+str("purpose", "what for")+
			`,"dc":{"type":"integer"},"hide_dc":{"type":"boolean"},"advantage":{"type":"boolean"},"disadvantage":{"type":"boolean"},"visibility":{"type":"string","enum":["open","sealed","private"]}`)),
		tool("begin_scene", "begin a new scene", obj(`"title"`, str("title", "its title")+","+str("place", "place and time"))),
		tool("set_status", "say that a character is present, dead, retired, benched or absent", obj(`"character","status"`, str("character", "name")+","+str("status", "status"))),
		tool("await_players", "ask these characters when this turn has ended; their prompts must be written", obj(`"names"`, `"names":{"type":"array","items":{"type":"string"}}`)),
		tool("end_session", "the session is over after this turn", nil),
	}
}

// handle checks a call and says what will come of it.
func (d *gmDesk) handle(name string, in json.RawMessage) (string, error) {
	if name == "roll" {
		line, err := d.roll(in)
		if err != nil {
			return "", err
		}
		return rollLine(line, dice.Viewer{GM: true}), nil
	}
	var o toolOutput
	o.take(toolCall{name, in}, d.c)
	if len(o.Faults) > 0 {
		return "", fmt.Errorf("%s", strings.Join(o.Faults, "; "))
	}
	switch name {
	case "write_prompt":
		if _, err := table.ParsePrompt([]byte(o.Files[0].Text), d.c.t.caps); err != nil {
			return "", fmt.Errorf("not taken: %w", err)
		}
	case "await_players":
		if _, bad := d.c.checkSignal(o.Signal); bad != nil {
			return "", fmt.Errorf("%s", bad.Repair())
		}
		return "they are asked when this turn has ended: stop here", nil
	}
	return "taken when this turn has ended", nil
}

func (d *gmDesk) roll(in json.RawMessage) (dice.Line, error) {
	var req rollRequest
	if err := json.Unmarshal(in, &req); err != nil {
		return dice.Line{}, err
	}
	if _, err := dice.Parse(req.Expr); err != nil {
		return dice.Line{}, err
	}
	if err := req.check(d.c.Roster); err != nil {
		return dice.Line{}, err
	}
	return d.c.t.rollDice(req, d.rollID(string(in)), d.c.number())
}

// rollID is the same for the same roll of the same turn, however often the turn
// is asked: nobody gets another number by being killed.
func (d *gmDesk) rollID(in string) string {
	d.dice[in]++
	return fmt.Sprintf("%s %s tool %s %d", d.c.r.ID(), d.turn, table.Hash([]byte(in))[:16], d.dice[in])
}

// toolOutput is what the calls of a turn ask for.
type toolOutput struct {
	output
	fallen []uint64
}

// fromTools reads the calls of a turn that has ended.
func (c *cycle) fromTools(calls []toolCall) toolOutput {
	var o toolOutput
	again := gmDesk{c: c}
	again.begin(fmt.Sprintf("t%d", c.turns))
	for _, call := range calls {
		if call.Tool != "roll" {
			o.take(call, c)
			continue
		}
		// It fell during the turn; asking again by the same id reads it.
		if line, err := again.roll(call.Input); err == nil && line.Event != dice.EventVoid {
			o.fallen = append(o.fallen, line.N)
			o.Blocks = append(o.Blocks, table.Block{Audience: table.Audience{Party: true}, Text: rollLine(line, dice.Viewer{})})
			if line.Visibility == dice.Private && line.Who != "gm" {
				o.Blocks = append(o.Blocks, table.Block{Audience: table.Audience{Names: []string{line.Who}}, Text: rollLine(line, dice.Viewer{Name: line.Who})})
			}
		}
	}
	return o
}

// take reads one call.
func (o *toolOutput) take(call toolCall, c *cycle) {
	var err error
	switch call.Tool {
	case "write_prompt":
		var in promptInput
		if err = json.Unmarshal(call.Input, &in); err == nil {
			o.addFile(fileWrite{Path: "tmp/" + table.PromptFile(in.Character), Text: in.Text}, c.Roster)
		}
	case "write_context":
		var in textInput
		if err = json.Unmarshal(call.Input, &in); err == nil {
			o.addFile(fileWrite{Path: "tmp/" + table.GMContextFile, Text: in.Text}, c.Roster)
		}
	case "update_state":
		var in fileWrite
		if err = json.Unmarshal(call.Input, &in); err == nil {
			o.addFile(in, c.Roster)
		}
	case "narrate":
		var in narrateInput
		if err = json.Unmarshal(call.Input, &in); err == nil {
			o.narrate(in, c)
		}
	case "begin_scene":
		var in sceneInput
		if err = json.Unmarshal(call.Input, &in); err == nil {
			o.Scene = &Scene{Title: clip(in.Title, table.MaxTitle), Place: clip(in.Place, 200)}
		}
	case "set_status":
		var in statusChange
		if err = json.Unmarshal(call.Input, &in); err == nil {
			o.addStatus(in.Character, string(in.Status), c.Roster)
		}
	case "await_players":
		var in namesInput
		if err = json.Unmarshal(call.Input, &in); err == nil && !o.Signal.Found {
			// The text form is the contract: names are read from it.
			o.Signal = table.ParseSignal(table.FormatSignal(in.Names))
			o.Signal.Found, o.Signal.Before, o.Signal.After = true, "", ""
		}
	case "end_session":
		o.End = true
	}
	if err != nil {
		o.Faults = append(o.Faults, call.Tool+": "+err.Error())
	}
}

func (o *toolOutput) narrate(in narrateInput, c *cycle) {
	text := strings.TrimSpace(markForm.ReplaceAllString(in.Text, ""))
	a := table.Audience{Party: len(in.To) == 0}
	for _, n := range in.To {
		switch ch, ok := c.Roster.Get(n); {
		case n == "party":
			a.Party = true
		case n == "gm" && len(in.To) == 1:
		case !ok:
			o.Faults = append(o.Faults, fmt.Sprintf("narrate: %q is nobody here: %s", clip(n, 80), strings.Join(c.Roster.Slugs(), ", ")))
			return
		case !slices.Contains(a.Names, ch.Slug):
			a.Names = append(a.Names, ch.Slug)
		}
	}
	if text != "" {
		o.Blocks = append(o.Blocks, table.Block{Audience: a, Text: text})
	}
}
