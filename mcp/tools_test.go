package mcp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"conclave/app"
)

// once is one call of every tool with real work; TestEveryTool holds it against
// what the server lists.
var once = map[string]struct {
	args any
	exit int
	want string // in the text
}{
	"consult":      {args{"who": "cat", "message": "What is missing in the report?"}, 0, ""},
	"council":      {args{"message": "Look at the report."}, 0, "Consensus"},
	"checkpoint":   {args{"stage": "draft", "expect": "there is a report", "work": []string{"work"}}, 1, ""},
	"confront":     {args{"work": []string{"work"}}, 0, "met"},
	"gate":         {args{"work": []string{"work"}}, 0, "MET – criteria: the quest's"},
	"quest_status": {args{}, 0, "Checked: phase"},
	"quest_log":    {args{"text": "first draft"}, 0, "first draft, by an agent over MCP"},
	"search":       {args{"words": "report"}, 0, "report"},
	"query":        {args{"sql": "SELECT bundle, entry_type FROM transcript"}, 0, "rows"},
	"query_schema": {args{}, 0, "schema"},
	"usage":        {args{"by": "role"}, 0, "tokens"},
	"room_show":    {args{"role": "dragon", "work": []string{"work"}}, 0, "dragon (room: at least sealed for a program; now in this process)"},
	"audit":        {args{}, 0, "clean"},
	"table_status": {args{}, 0, "no tables here"},
}

func TestEveryTool(t *testing.T) {
	p := newPlace(t)
	p.trust()
	c := connect(t, p.server(app.Remote{}))
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if tool.Description == "" || tool.InputSchema == nil || tool.OutputSchema == nil {
			t.Errorf("%s has no description or no schemas", tool.Name)
		}
		if anything(tool.OutputSchema) {
			t.Errorf("the schema of what %s answers lets pass anything: %v", tool.Name, tool.OutputSchema)
		}
	}
	for name := range once {
		if !slices.Contains(names, name) {
			t.Errorf("the server has no tool %s", name)
		}
	}
	// Who talks comes before who looks at what was said.
	slices.SortFunc(names, func(a, b string) int {
		order := []string{"quest_status", "consult", "council", "quest_log", "checkpoint", "confront"}
		x, y := slices.Index(order, a), slices.Index(order, b)
		if x < 0 {
			x = len(order)
		}
		if y < 0 {
			y = len(order)
		}
		return x - y
	})
	for _, name := range names {
		call, ok := once[name]
		if !ok {
			t.Errorf("%s is never called", name)
			continue
		}
		s := c.call(name, call.args)
		if s.Exit != call.exit || s.IsError || !strings.Contains(s.Text, call.want) {
			t.Errorf("%s: exit %d (error %q, failed %v), want %d with %q in\n%s", name, s.Exit, s.Error, s.IsError, call.exit, call.want, s.Text)
		}
	}
	if len(c.heard) == 0 {
		t.Error("no progress was heard")
	}
}

// TestResources reads what the server names, and what it gives names for.
func TestResources(t *testing.T) {
	p := newPlace(t)
	c := connect(t, p.server(app.Remote{}))
	s := c.call("consult", args{"who": "cat", "message": "What is missing?"})
	var talk struct{ Conversation string }
	if err := json.Unmarshal(s.raw, &talk); err != nil {
		t.Fatal(err)
	}
	runs, err := p.me.Records()
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	for uri, want := range map[string]string{
		"conclave://quest": "Success Criteria",
		"conclave://conversation/" + talk.Conversation: "by an agent over MCP",
		"conclave://run/" + runs[0].Run:                "What is missing?",
	} {
		if got := c.read(uri); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in %.600s", uri, want, got)
		}
	}
	for _, uri := range []string{
		"conclave://conversation/none.md", "conclave://conversation/..%2Fquest.md", "conclave://run/none",
		"conclave://run/..%2F..%2Fx", "conclave://elsewhere", "file:///etc/passwd",
	} {
		if got := c.read(uri); got != "" {
			t.Errorf("%s is there: %.200s", uri, got)
		}
	}
}

// TestCallerOnTheRecord: what an agent says is not the person's.
func TestCallerOnTheRecord(t *testing.T) {
	p := newPlace(t)
	c := connect(t, p.server(app.Remote{}))
	c.call("consult", args{"who": "owl", "message": "Is it in order?"})
	runs, err := p.me.Records()
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	rows, err := p.me.Query(t.Context(), `SELECT context ->> '$.parts[1].origin', context ->> '$.parts[1].text' FROM logs
		WHERE event = 'turn.message'`, app.Query{Names: []string{runs[0].Run}})
	if err != nil || len(rows.Rows.Rows) != 1 || rows.Rows.Rows[0][0] != "agent" || rows.Rows.Rows[0][1] != "Is it in order?" {
		t.Fatal(rows, err)
	}
	rows, err = p.me.Query(t.Context(), `SELECT header ->> '$.attributes.caller' FROM sources`, app.Query{Names: []string{runs[0].Run}})
	if err != nil || len(rows.Rows.Rows) != 1 || rows.Rows.Rows[0][0] != "mcp probe 1" {
		t.Fatal(rows, err)
	}
	if _, err := p.me.VerifyConversations(nil); err != nil {
		t.Fatal(err)
	}
}

// anything says whether a schema has an item or a property that may be anything.
func anything(schema any) bool {
	m, ok := schema.(map[string]any)
	if !ok {
		return schema == true
	}
	if items, ok := m["items"]; ok && anything(items) {
		return true
	}
	properties, _ := m["properties"].(map[string]any)
	for _, p := range properties {
		if anything(p) {
			return true
		}
	}
	return false
}
