package search

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"conclave/archive/index"
)

// term is one thing to look for: a word, or words that stand together.
type term struct {
	words  []string
	prefix bool // the last word is how a word begins
	not    bool
}

// parseTerms reads what a person typed.
func parseTerms(s string) ([]term, error) {
	var terms []term
	positive := false
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		var t term
		if len(s) > 1 && s[0] == '-' {
			t.not, s = true, s[1:]
		}
		var text string
		if s[0] == '"' {
			text, s, _ = strings.Cut(s[1:], `"`)
		} else if i := strings.IndexAny(s, " \t\n\""); i >= 0 {
			text, s = s[:i], s[i:]
		} else {
			text, s = s, ""
		}
		t.prefix = strings.HasSuffix(text, "*")
		if t.words = index.Of(text); len(t.words) == 0 {
			continue
		}
		positive = positive || !t.not
		terms = append(terms, t)
	}
	if !positive {
		return nil, ErrNoWords
	}
	return terms, nil
}

// matchExpression is what the index is asked; "" when nothing can match.
func matchExpression(ctx context.Context, db *sql.DB, terms []term, q Query) (string, error) {
	var all, none []string
	for _, t := range terms {
		if t.not {
			if len(t.words) == 1 {
				none = append(none, quoteWord(t, 0))
			}
			continue
		}
		for i := range t.words {
			all = append(all, quoteWord(t, i))
		}
	}
	if len(q.In) > 0 {
		var types []string
		for _, t := range q.In {
			types = append(types, index.OfType(t))
		}
		all = append(all, anyOf(types))
	}
	if q.Role != "" {
		all = append(all, anyOf([]string{index.OfRole(q.Role)}))
	}
	if q.Project != "" {
		marks, err := projects(ctx, db, q.Project)
		if err != nil || len(marks) == 0 {
			return "", err
		}
		all = append(all, anyOf(marks))
	}
	slices.Sort(all)
	expr := strings.Join(slices.Compact(all), " AND ")
	if len(none) > 0 {
		expr = "(" + expr + ") NOT (" + strings.Join(none, " OR ") + ")"
	}
	return expr, nil
}

func quoteWord(t term, i int) string {
	w := `"` + t.words[i] + `"`
	if t.prefix && i == len(t.words)-1 {
		w += " *"
	}
	return w
}

func anyOf(words []string) string { return `("` + strings.Join(words, `" OR "`) + `")` }

// projects are the marks of the projects whose directory holds part.
func projects(ctx context.Context, db *sql.DB, part string) ([]string, error) {
	rows, err := db.QueryContext(ctx, `SELECT DISTINCT project FROM origins
		WHERE instr(lower(project), lower(?)) > 0 ORDER BY project LIMIT 500`, part)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var marks []string
	for rows.Next() {
		var p string
		if err := rows.Scan(&p); err != nil {
			return nil, err
		}
		marks = append(marks, index.OfProject(p))
	}
	return marks, rows.Err()
}
