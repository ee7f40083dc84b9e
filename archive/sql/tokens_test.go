package sql

import (
	"strings"
	"testing"
)

func TestSpell(t *testing.T) {
	for in, want := range map[string]string{
		"SELECT context->>'entry_type' FROM transcript":      "SELECT CASE WHEN entry_type <> '' THEN entry_type ELSE context->>'entry_type' END FROM transcript",
		`SELECT "context" ->> '$.sequence_number' FROM logs`: "SELECT CASE WHEN sequence_number <> 0 THEN sequence_number ELSE context->>'$.sequence_number' END FROM logs",
		// What may mean something else stays as it is.
		"SELECT t.context->>'source' FROM transcript":                               "",
		"SELECT context->>'source' FROM transcript t":                               "",
		"SELECT context->>'source' FROM t":                                          "",
		"SELECT context->>'adapter'":                                                "",
		"SELECT context->>'source' FROM (SELECT context FROM transcript)":           "",
		"SELECT context->>'source' FROM transcript, logs":                           "",
		"WITH transcript AS (VALUES (1)) SELECT context->>'source' FROM transcript": "",
		"SELECT context->>'detail' FROM transcript":                                 "",
		"SELECT context->'entry_type' FROM transcript":                              "",
		"SELECT 'context->>''entry_type''' FROM transcript":                         "",
		"SELECT /* context->>'source' */ 1 FROM transcript":                         "",
		"SELECT context->> FROM transcript":                                         "",
	} {
		if want == "" {
			want = in
		}
		if got := spell(in); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

func FuzzTokens(f *testing.F) {
	for _, s := range []string{"SELECT 1", `a "b" 'c''d' [e] -- x`, "/* open", "'open", "\xff'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b strings.Builder
		for _, tok := range tokens(s) {
			b.WriteString(tok.text)
		}
		if b.String() != s {
			t.Fatalf("%q became %q", s, b.String())
		}
	})
}
