package sql

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"conclave/archive"
	"conclave/internal/sqlite"
)

// Table describes a table or view that a query may read.
type Table struct {
	Name    string   `json:"name"`
	About   string   `json:"description,omitempty"`
	Columns []Column `json:"columns"`
	Rows    int64    `json:"row_count"`
}

// Column is a column of a table.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type,omitempty"`
}

// Schema is what there is to query, for an agent to start from.
type Schema struct {
	Tables []Table `json:"tables"`
	Hints  Hints   `json:"hints"`
}

// Hints are queries that serve as examples.
type Hints struct {
	JSON    []string          `json:"json_extraction"`
	Queries map[string]string `json:"common_queries"`
	Notes   []string          `json:"notes"`
}

// description is what a query's author is told of a table.
type description struct{ name, about string }

// described are the tables in the order in which they are worth reading.
var described = []description{
	{"manifest", "one row per bundle, record or session"},
	{"transcript", "every entry: columns, and context as JSON with the same keys"},
	{"transcript_entries", "the transcript without JSON"},
	{"logs", "every log record; seq is the entry's number"},
	{"tool_calls", "each call of a tool with its result"},
	{"tool_timeline", "tool calls by time"},
	{"native_tool_calls", "tool calls as the agents' programs wrote them, each once"},
	{"transcript_flow", "the conversation in previews"},
	{"transcript_tools", "tool calls beside their results, by the name that the program wrote"},
	{"transcript_thinking", "thinking in previews, with its length"},
	{"transcript_agents", "main and subagents, and how much each did"},
	{"errors", "from logs, error.json, the transcript and failed tool calls; source says which"},
	{"error_summary", "errors, short"},
	{"turns", "from one message to the next"},
	{"usage", "tokens and cost of each response, counted once"},
	{"cost", "usage by model; cost_usd is NULL where a price is not known"},
	{"leaks", "what the audit of a record found"},
	{"verbatim", "whether what was said stands in the transcript word for word"},
	{"session_slices", "state items"},
	{"files", "the snapshot of the workspace"},
	{"config", "configuration"}, {"metrics", "timing and tokens"}, {"run_context", "ids"},
	{"prompt_overrides", ""}, {"eval", ""}, {"environment", "the machine"},
	{"env_system", "the machine: system, processor, memory"}, {"env_git", "the repository: commit, branch, remotes"},
	{"env_python", "Python, where that ran"}, {"env_container", "the container, if any"},
	{"env_vars", "variables, filtered"},
	{"request", "what was asked, what came back"},
	{"sources", "the files behind it all"},
}

// Describe says what there is to query.
func Describe(ctx context.Context, a *archive.Archive) (Schema, error) {
	db := sqlite.Open(a.Path(), sqlite.Options{Pragmas: []string{readCache}, Functions: functions(a)})
	defer db.Close()
	db.SetMaxOpenConns(1)
	list := described[:len(described):len(described)]
	rows, err := db.QueryContext(ctx, `SELECT name FROM sqlite_schema
		WHERE substr(name, 1, ?) = ? AND type = 'view' ORDER BY name`, len(archive.SlicePrefix), archive.SlicePrefix)
	if err != nil {
		return Schema{}, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return Schema{}, err
		}
		list = append(list, description{name, "state items of one type"})
	}
	if err := rows.Err(); err != nil {
		return Schema{}, err
	}
	s := Schema{Hints: hints}
	for _, d := range list {
		t, err := describe(ctx, db, d.name)
		if err != nil {
			return s, fmt.Errorf("describe %s: %w", d.name, err)
		}
		t.About = d.about
		s.Tables = append(s.Tables, t)
	}
	return s, nil
}

func describe(ctx context.Context, db *sql.DB, name string) (Table, error) {
	t := Table{Name: name}
	quoted := `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	rows, err := db.QueryContext(ctx, "SELECT name, type FROM pragma_table_info(?)", name)
	if err != nil {
		return t, err
	}
	defer rows.Close()
	for rows.Next() {
		var c Column
		if err := rows.Scan(&c.Name, &c.Type); err != nil {
			return t, err
		}
		t.Columns = append(t.Columns, c)
	}
	if err := rows.Err(); err != nil {
		return t, err
	}
	return t, db.QueryRowContext(ctx, "SELECT count(*) FROM "+quoted).Scan(&t.Rows)
}

var hints = Hints{
	JSON: []string{
		"of an entry, context->>'entry_type' and the column entry_type are the same; " +
			"so are source (transcript_source), sequence_number, prompt_name, adapter, session_id",
		"context->'$.detail' is the adapter's own payload; parsed is the source line as JSON, raw_json as text",
		"tool_calls.params->>'$.command' is what a shell was called with",
		"transcript.content is what the original system's reader makes of an entry; said is its words alone",
	},
	Queries: map[string]string{
		"what happened": "SELECT entry_type, count(*) AS n FROM transcript GROUP BY 1 ORDER BY 2 DESC",
		"the conversation": "SELECT transcript_source, sequence_number, entry_type, tool_name, " +
			"substr(content, 1, 300) AS text FROM transcript " +
			"WHERE entry_type IN ('user_message', 'assistant_message', 'tool_use', 'tool_result') " +
			"ORDER BY timestamp, sequence_number",
		"errors": "SELECT source, error_type, message FROM errors",
		"slowest tools": "SELECT tool_name, count(*) AS n, round(avg(duration_ms)) AS ms FROM tool_calls " +
			"GROUP BY 1 ORDER BY 3 DESC",
		"cost by day":  "SELECT day, sum(total) AS tokens, sum(cost_usd) AS usd FROM usage GROUP BY 1",
		"leaks":        "SELECT * FROM leaks",
		"not verbatim": "SELECT bundle, turn, what, substr(text, 1, 200) FROM verbatim WHERE NOT found",
	},
	Notes: []string{
		"bundle names the bundle, run or session that a row is of",
		"secrets are replaced by [redacted:…] before a query sees them",
		"long columns (content, context, raw_json, parsed, params, result) are read when they are asked for: " +
			"name the columns, and filter by the short ones",
	},
}
