package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"conclave/app"
)

type searchIn struct {
	Words   string   `json:"words" jsonschema:"all have to be there; word* begins so, -word is not there"`
	Role    string   `json:"role,omitempty" jsonschema:"who was speaking: cat, gandalf …"`
	Types   []string `json:"types,omitempty" jsonschema:"of entries: user_message, assistant_message, tool_use …"`
	Since   string   `json:"since,omitempty" jsonschema:"2d, 3h, 2026-02-18"`
	Until   string   `json:"until,omitempty"`
	Limit   int      `json:"limit,omitempty" jsonschema:"at most so many, up to 100; 20 if not said"`
	Context int      `json:"context,omitempty" jsonschema:"entries before and after, up to 5"`
}

type line struct {
	Seq  int64  `json:"sequence_number"`
	Type string `json:"entry_type"`
	Text string `json:"text"`
}

type hit struct {
	Run     string `json:"run" jsonschema:"the resource conclave://run/ID"`
	Seq     int64  `json:"sequence_number"`
	Type    string `json:"entry_type"`
	Role    string `json:"role,omitempty"`
	Tool    string `json:"tool_name,omitempty"`
	Time    string `json:"timestamp,omitempty"`
	Snippet string `json:"snippet"`
	Before  []line `json:"before,omitempty"`
	After   []line `json:"after,omitempty"`
}

type searchOut struct {
	answer
	Hits []hit `json:"hits,omitempty" jsonschema:"the best first"`
	More bool  `json:"more,omitempty"`
}

type queryIn struct {
	SQL  string `json:"sql" jsonschema:"one SELECT, in SQLite's words"`
	Rows int    `json:"rows,omitempty" jsonschema:"at most so many, up to 1000; 200 if not said"`
}

type queryOut struct {
	answer
	Columns   []string `json:"columns,omitempty"`
	Rows      [][]any  `json:"rows,omitempty"`
	Truncated bool     `json:"truncated,omitempty" jsonschema:"there were more rows, or they were too long"`
}

// outputs are the schemas of answers that their types do not tell: what a row holds.
var outputs = map[string]json.RawMessage{"query": json.RawMessage(`{
	"type": "object", "required": ["exit"], "additionalProperties": false,
	"properties": {
		"exit": {"type": "integer", "description": "0 done, 2 a wrong query, 3 something is missing here"},
		"error": {"type": "string", "description": "what went wrong, and what to do about it"},
		"warnings": {"type": "array", "items": {"type": "string"}, "description": "what the person should hear of"},
		"columns": {"type": "array", "items": {"type": "string"}},
		"rows": {"type": "array", "items": {"type": "array", "items": {"type": ["string", "number", "boolean", "null"]}}},
		"truncated": {"type": "boolean", "description": "there were more rows, or they were too long"}
	}
}`)}

type schemaOut struct {
	answer
	Schema any `json:"schema,omitempty" jsonschema:"tables with their columns, and queries that serve as examples"`
}

type usageIn struct {
	By    string `json:"by,omitempty" jsonschema:"day, project, model, role or session; day if not said"`
	Since string `json:"since,omitempty" jsonschema:"2d, 2026-02-18"`
	Until string `json:"until,omitempty"`
}

type usageGroup struct {
	Name      string  `json:"name"`
	Responses int     `json:"responses"`
	Input     int64   `json:"input_tokens"`
	Output    int64   `json:"output_tokens"`
	Total     int64   `json:"total_tokens"`
	CostUSD   float64 `json:"cost_usd"`
}

type usageOut struct {
	answer
	Groups   []usageGroup `json:"groups,omitempty"`
	Total    *usageGroup  `json:"total,omitempty"`
	Unpriced []string     `json:"unpriced_models,omitempty" jsonschema:"the cost does without them"`
	Scope    string       `json:"scope,omitempty" jsonschema:"what was counted"`
}

// What the tools of the archive answer from.
const (
	ownScope = "this workspace's records of the party and of sessions; evaluators, gates and tables are not among them"
	allScope = "the person's whole archive, by their word: every workspace and every room"
)

func (s *Server) scope() string {
	if s.app.Remote.WholeArchive {
		return allScope
	}
	return ownScope
}

func (s *Server) addArchive() {
	from := " Answers from " + s.scope() + ". Secrets are taken out."
	add(s, "search", "Search what was said", "Finds entries of records by their words."+from, looks, search)
	add(s, "query", "Ask in SQL",
		"Answers one SELECT over what was recorded. query_schema lists the tables; the most useful are transcript(bundle, "+
			"timestamp, entry_type, tool_name, content, role, seat), tool_calls(bundle, tool_name, params, result, success), "+
			"errors, usage and manifest. bundle is the run."+from, looks, query)
	add(s, "query_schema", "What can be asked in SQL", "Lists the tables and columns for query, with examples.",
		looks, querySchema)
	add(s, "usage", "Tokens and cost", "Counts tokens and cost, each response once. Counted is "+s.scope()+".", looks,
		func(ctx context.Context, a *app.App, in usageIn, out *usageOut) (string, error) {
			out.Scope = s.scope()
			return usage(ctx, a, in, out)
		})
}

func search(ctx context.Context, a *app.App, in searchIn, out *searchOut) (string, error) {
	q := app.Search{Types: in.Types, Since: in.Since, Until: in.Until}
	q.Words, q.Role, q.Limit, q.Context = in.Words, in.Role, clamp(in.Limit, 20, 100), clamp(in.Context, 0, 5)
	found, err := a.Search(ctx, q)
	var b strings.Builder
	for _, h := range found.Hits {
		x := hit{Run: h.Run, Seq: h.Seq, Type: string(h.Type), Role: h.Role, Tool: h.Tool, Snippet: h.Snippet,
			Before: linesOf(h.Before), After: linesOf(h.After)}
		if !h.Time.IsZero() {
			x.Time = h.Time.Format(time.RFC3339)
		}
		out.Hits = append(out.Hits, x)
		fmt.Fprintf(&b, "%s %s %s: %s\n", x.Time, x.Role, x.Type, x.Snippet)
	}
	out.More = found.More
	if app.Said(err) {
		b.WriteString("nothing was found")
	}
	return b.String(), err
}

func linesOf(list []app.FoundLine) (out []line) {
	for _, l := range list {
		out = append(out, line{l.Seq, string(l.Type), l.Text})
	}
	return out
}

func clamp(n, usual, most int) int {
	if n <= 0 {
		return usual
	}
	return min(n, most)
}

// maxAnswer bounds the rows of a query, as JSON.
const maxAnswer = 1 << 20

func query(ctx context.Context, a *app.App, in queryIn, out *queryOut) (string, error) {
	rows, err := a.Query(ctx, in.SQL, app.Query{Rows: clamp(in.Rows, 200, 1000), Time: 20 * time.Second})
	if err != nil {
		return "", err
	}
	out.Columns, out.Truncated = rows.Columns, rows.Truncated
	size := 0
	for _, r := range rows.Rows.Rows {
		text, err := json.Marshal(r)
		if err != nil {
			return "", app.ErrorOf(app.Usage, "a number in the answer has no form in JSON: %w", err)
		}
		if size += len(text); size > maxAnswer {
			out.Truncated = true
			break
		}
		out.Rows = append(out.Rows, r)
	}
	more := ""
	if out.Truncated {
		more = ", and there are more"
	}
	return fmt.Sprintf("%d rows%s", len(out.Rows), more), nil
}

func querySchema(ctx context.Context, a *app.App, _ nothing, out *schemaOut) (string, error) {
	schema, err := a.QuerySchema(ctx, app.Query{})
	out.Schema = schema
	return "the schema", err
}

func usage(ctx context.Context, a *app.App, in usageIn, out *usageOut) (string, error) {
	used, err := a.Usage(ctx, app.UsageOf{By: in.By, Since: in.Since, Until: in.Until})
	if err != nil {
		return "", err
	}
	sum := func(g app.UsedGroup) usageGroup {
		return usageGroup{g.Name, g.Responses, g.Input, g.Output, g.Total, g.CostUSD}
	}
	for _, g := range used.Groups {
		out.Groups = append(out.Groups, sum(g))
	}
	total := sum(used.Total)
	out.Total, out.Unpriced = &total, used.Unpriced
	return fmt.Sprintf("%d responses, %d tokens, $%.2f", total.Responses, total.Total, total.CostUSD), nil
}
