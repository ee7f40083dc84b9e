package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"conclave/dice"
	"conclave/table"
	"conclave/table/story"
	"conclave/toolbox"
)

// gmDesk is what a GM's tools work on. All but roll are only checked when they
// are called: what they ask for is taken from the record when the turn has
// ended, so that a turn which was cut has done nothing. A program that was
// given up may still be calling when the next attempt begins: hence the mutex.
type gmDesk struct {
	c *cycle

	mu     sync.Mutex
	turn   string
	dice   map[string]int // equal rolls of the turn so far
	handed bool           // the players are to be asked: the turn is over
}

func (d *gmDesk) begin(turn string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turn, d.dice, d.handed = turn, map[string]int{}, false
}

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
		tool("narrate", "narrate to the party, or to some alone (to: their names; [\"gm\"] for a note to yourself). In a turn that narrates to the party with this tool, what you say in words beside it is told to nobody",
			obj(`"text"`, str("text", "the narrative")+`,"to":{"type":"array","items":{"type":"string"}}`)),
		tool("roll", "let dice fall; the result is told at once", obj(`"expr","who"`, str("expr", "as 1d20+3")+","+str("who", "a character, or gm")+","+str("purpose", "what for")+
			`,"dc":{"type":"integer"},"hide_dc":{"type":"boolean"},"advantage":{"type":"boolean"},"disadvantage":{"type":"boolean"},"visibility":{"type":"string","enum":["open","sealed","private"]}`)),
		tool("begin_scene", "begin a new scene", obj(`"title"`, str("title", "its title")+","+str("place", "place and time"))),
		tool("set_status", "say that a character is present, dead, retired, benched or absent", obj(`"character","status"`, str("character", "name")+","+str("status", "status"))),
		tool("await_players", "ask these characters when this turn has ended; their prompts must be written. Call it last: nothing behind it counts", obj(`"names"`, `"names":{"type":"array","items":{"type":"string"}}`)),
		tool("end_session", "the session is over after this turn", nil),
	}
}

// handle checks a call and says what will come of it. As nothing behind a
// signal counts, nothing is taken after await_players.
func (d *gmDesk) handle(name string, in json.RawMessage) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.handed {
		return "", errors.New("not taken: await_players was called, and nothing counts after it. Say nothing more and end the turn")
	}
	if name == "roll" {
		line, err := d.roll(in)
		if err != nil {
			return "", err
		}
		d.c.t.crash(fmt.Sprintf("rolled %d", line.N))
		return line.Told(dice.Viewer{GM: true}), nil
	}
	var o toolOutput
	o.take(toolCall{Tool: name, Input: in}, d.c)
	for _, fault := range d.c.checkFiles(o.Files) {
		o.Faults = append(o.Faults, fault)
	}
	if len(o.Faults) > 0 {
		return "", fmt.Errorf("%s", strings.Join(o.Faults, "; "))
	}
	switch name {
	case "narrate":
		if len(o.Blocks) == 0 {
			return "", errors.New("there is nothing to narrate: the text is empty")
		}
	case "write_prompt":
		if _, err := table.ParsePrompt([]byte(o.Files[0].Text), d.c.t.caps); err != nil {
			return "", fmt.Errorf("not taken: %w", err)
		}
	case "await_players":
		if _, bad := d.c.checkSignal(o.Signal); bad != nil {
			return "", fmt.Errorf("%s", bad.Repair())
		}
		d.handed = true
		return "They are asked when this turn has ended. Say nothing more and end it.", nil
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
	return d.c.t.rollDice(req, d.rollID(req), d.c.number())
}

// rollID is the same for the same roll of the same turn, however often the turn
// is asked and however the input is spelt: nobody gets another number by being
// killed.
func (d *gmDesk) rollID(req rollRequest) string {
	in, err := json.Marshal(req)
	if err != nil {
		panic(err) // it is plain data
	}
	d.dice[string(in)]++
	return fmt.Sprintf("%s %s tool %s %d", d.c.r.ID(), d.turn, table.Hash(in)[:16], d.dice[string(in)])
}

// toolOutput is what the calls of a turn ask for.
type toolOutput struct {
	output
	fallen []uint64
	placed []placed
	handed int  // how much of the text was said before await_players
	quiet  bool // the party is narrated to by a tool
}

// placed is what a call says, and where in the text.
type placed struct {
	said   int
	blocks []table.Block
}

// among puts what the calls say between the words.
func (o *toolOutput) among(text string) []spoken {
	var out []spoken
	from := 0
	for _, p := range o.placed {
		at := min(max(p.said, from), len(text))
		out = append(out, spoken{text: text[from:at]}, spoken{blocks: p.blocks})
		from = at
	}
	return append(out, spoken{text: text[from:]})
}

// size is how much the calls say.
func (o *toolOutput) size() int64 {
	var n int64
	for _, p := range o.placed {
		for _, b := range p.blocks {
			n += int64(len(b.Text))
		}
	}
	return n
}

// fromTools reads the calls of a turn that has ended.
func (c *cycle) fromTools(calls []toolCall) toolOutput {
	var o toolOutput
	again := gmDesk{c: c}
	again.begin(fmt.Sprintf("t%d", c.turns))
	for _, call := range calls {
		before, handed := len(o.Blocks), o.Signal.Found
		if call.Tool == "roll" {
			// It fell during the turn; asking again by the same id reads it.
			if line, err := again.roll(call.Input); err == nil {
				o.fell(line)
			}
		} else {
			o.take(call, c)
		}
		if o.Signal.Found && !handed {
			o.handed = call.Said
		}
		if len(o.Blocks) > before {
			o.placed = append(o.placed, placed{call.Said, o.Blocks[before:]})
		}
	}
	return o
}

// fell tells of a roll what each may know of it.
func (o *toolOutput) fell(line dice.Line) {
	if line.Event == dice.EventVoid {
		return
	}
	o.fallen = append(o.fallen, line.N)
	o.Blocks = append(o.Blocks, table.Block{Audience: table.Audience{Party: true}, Text: line.Told(dice.Viewer{})})
	if line.Visibility == dice.Private && line.Who != "gm" {
		o.Blocks = append(o.Blocks, table.Block{Audience: table.Audience{Names: []string{line.Who}}, Text: line.Told(dice.Viewer{Name: line.Who})})
	}
}

// take reads one call.
func (o *toolOutput) take(call toolCall, c *cycle) {
	var err error
	switch call.Tool {
	case "write_prompt":
		var in promptInput
		if err = json.Unmarshal(call.Input, &in); err == nil {
			o.addFile(fileWrite{Path: "tmp/" + table.PromptFile(in.Character), Text: fileText(in.Text)}, c.Roster)
		}
	case "write_context":
		var in textInput
		if err = json.Unmarshal(call.Input, &in); err == nil {
			o.addFile(fileWrite{Path: "tmp/" + table.GMContextFile, Text: fileText(in.Text)}, c.Roster)
		}
	case "update_state":
		var in fileWrite
		if err = json.Unmarshal(call.Input, &in); err == nil {
			in.Text = fileText(in.Text)
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
			o.Scene = &story.Scene{Title: clip(in.Title, table.MaxTitle), Place: clip(in.Place, 200)}
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

// fileText is a file as its text form would have made it: whole lines.
func fileText(text string) string {
	return strings.TrimSuffix(cleanWords(text), "\n") + "\n"
}

func (o *toolOutput) narrate(in narrateInput, c *cycle) {
	text := strings.TrimSpace(cleanWords(in.Text))
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
	blocks, faults := table.ParseNarrative(text, c.Roster)
	o.Faults = append(o.Faults, prefixed("narrate: ", faults)...)
	for _, b := range blocks {
		o.Blocks = append(o.Blocks, table.Block{Audience: within(b.Audience, a), Text: b.Text})
	}
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
	return table.Audience{Names: slices.DeleteFunc(slices.Clone(marked.Names), func(n string) bool { return !slices.Contains(given.Names, n) })}
}
