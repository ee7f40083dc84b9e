package gm

import (
	"encoding/json"
	"testing"

	"conclave/table"
	"conclave/table/story"
)

// Whoever the game master is, the same wish is the same Intent.
func TestOneIntent(t *testing.T) {
	typed, err := Typist{Roster: duo(), Lately: func(string) string { return "" }}.Forms(
		"Rain.\n/tell tilda: Psst.\n/note the key is false\n/scene The Cellar | at night\n/status gideon-harrowmoor absent\n/end")
	ok(t, err)
	turns := map[string]Turn{
		"forms": {Text: "Rain.\n[TO: tilda-brannock]\nPsst.\n[/TO]\n[FILE+: story-state.md]\n- the key is false\n[/FILE]\n" +
			"[SCENE: The Cellar | at night]\n[STATUS: gideon-harrowmoor absent]\n[END_SESSION]\n"},
		"slash lines": {Text: typed},
		"tools": {Calls: []Call{
			{Tool: "narrate", Input: json.RawMessage(`{"text":"Rain."}`)},
			{Tool: "narrate", Input: json.RawMessage(`{"to":["tilda-brannock"],"text":"Psst."}`)},
			{Tool: "update_state", Input: json.RawMessage(`{"path":"story-state.md","text":"- the key is false","append":true}`)},
			{Tool: "begin_scene", Input: json.RawMessage(`{"title":"The Cellar","place":"at night"}`)},
			{Tool: "set_status", Input: json.RawMessage(`{"character":"gideon-harrowmoor","status":"absent"}`)},
			{Tool: "end_session", Input: json.RawMessage(`{}`)},
		}},
	}
	type wish struct {
		Blocks   []table.Block
		Files    []File
		Scene    *story.Scene
		Statuses []StatusChange
		End      bool
		Faults   []string
	}
	want := ""
	for _, by := range []string{"forms", "slash lines", "tools"} {
		o := Reader{Roster: duo(), Caps: table.Caps{}.WithDefaults()}.Read(turns[by])
		got, err := json.Marshal(wish{o.Blocks(), o.Files, o.Scene, o.Statuses, o.End, o.Faults})
		ok(t, err)
		if want == "" {
			want = string(got)
			has(t, want, `"Psst."`)
			has(t, want, "the key is false")
		}
		eq(t, by, string(got), want)
	}
}
