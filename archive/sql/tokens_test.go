package sql

import (
	"strings"
	"testing"
)

func TestSpell(t *testing.T) {
	for in, want := range map[string]string{
		"SELECT context->>'entry_type' FROM transcript": "SELECT entry_type FROM transcript",
		"SELECT t.context ->> '$.source' FROM t":        "SELECT t.transcript_source FROM t",
		`SELECT "context"->>'adapter'`:                  "SELECT adapter",
		"SELECT context->>'detail'":                     "SELECT context->>'detail'",
		"SELECT context->'entry_type'":                  "SELECT context->'entry_type'",
		"SELECT 'context->>''entry_type'''":             "SELECT 'context->>''entry_type'''",
		"SELECT /* context->>'source' */ 1":             "SELECT /* context->>'source' */ 1",
		"SELECT context":                                "SELECT context",
		"SELECT context->>":                             "SELECT context->>",
	} {
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
