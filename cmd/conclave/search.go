package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"conclave/archive/search"
	"conclave/internal/screen"
	"conclave/transcript"
)

func newSearchCommand(env *environment) *cobra.Command {
	var flags archiveFlags
	var q search.Query
	var in []string
	var since, until string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "search WORDS",
		Short: "Find what was said and done, in all records and sessions",
		Long: `Search finds entries that hold all the words, the best first: in the records of
this workspace and the sessions of Claude Code and Codex. "Words in quotes" stand
together, word* is the beginning of a word, and -word must not be there (put --
before a query that begins with it). Accents and case do not count.

It takes up what is new before it looks. Secrets are neither found nor shown.`,
		Example: `  conclave search dragon lair
  conclave search 'migrat* "foreign key"' --in tool_result --since 2d
  conclave search timeout --role cat --project myapp --context 2
  conclave search panic --json --limit 5`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("%s: %w\ntry: %[1]s --help", cmd.CommandPath(), search.ErrNoWords)
			}
			q.Words = strings.Join(args, " ")
			var err error
			if q.In, err = entryTypes(in); err != nil {
				return err
			}
			if q.Since, err = pointInTime(since); err != nil {
				return usageError("--since: %w", err)
			}
			if q.Until, err = pointInTime(until); err != nil {
				return usageError("--until: %w", err)
			}
			a, err := env.openArchive(cmd.Context(), flags)
			if err != nil {
				return err
			}
			defer a.Close()
			res, err := search.Find(cmd.Context(), a, q)
			if errors.Is(err, search.ErrNoWords) {
				return usageError("%w", err)
			}
			if err != nil {
				return environmentError("%w", err)
			}
			if asJSON {
				err = env.Stdout.JSON(res)
			} else {
				printHits(env.Stdout, res)
			}
			if err == nil && len(res.Hits) == 0 {
				return saidNo()
			}
			return err
		},
	}
	flags.addRefresh(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&in, "in", nil, "only entries of this `TYPE` (user_message, assistant_message, tool_use, tool_result, thinking, error)")
	f.StringVar(&q.Role, "role", "", "only entries of this role: cat, main, Explore")
	f.StringVar(&q.Project, "project", "", "only projects whose directory holds this `PART`")
	f.StringVar(&since, "since", "", "only entries since this `TIME`: 2d, 3h, 2026-02-18, 2026-02-18T14:00:00Z")
	f.StringVar(&until, "until", "", "only entries before this `TIME`")
	f.IntVar(&q.Limit, "limit", 20, "at most this many")
	f.IntVarP(&q.Context, "context", "C", 0, "show so many entries before and after")
	f.BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func entryTypes(names []string) ([]transcript.Type, error) {
	var list []transcript.Type
	for _, n := range names {
		t := transcript.Type(n)
		if !t.Valid() {
			return nil, usageError("--in: there is no entry type %q: want one of %v", n, transcript.Types())
		}
		list = append(list, t)
	}
	return list, nil
}

// pointInTime reads a time, or how long ago: 2d, 90m, 2026-02-18.
func pointInTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if n := len(s) - 1; n > 0 && (s[n] == 'd' || s[n] == 'w') {
		if days, err := strconv.ParseFloat(s[:n], 64); err == nil && days >= 0 {
			if s[n] == 'w' {
				days *= 7
			}
			return time.Now().Add(-time.Duration(days * 24 * float64(time.Hour))), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return time.Now().Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time: say 2d, 3h, 2026-02-18 or 2026-02-18T14:00:00Z", s)
}

func printHits(w *screen.Writer, res search.Result) {
	for i, h := range res.Hits {
		if i > 0 {
			w.Printf("\n")
		}
		head := []string{string(h.Type)}
		if h.Tool != "" {
			head[0] += " " + h.Tool
		}
		if !h.Time.IsZero() {
			head = append(head, h.Time.Format("2006-01-02 15:04"))
		}
		for _, part := range []string{h.Role, h.Project} {
			if part != "" {
				head = append(head, part)
			}
		}
		w.Printf("%s  %s\n", screen.Bold(h.ID), screen.Dim(strings.Join(head, " · ")))
		printLines(w, h.Before)
		w.Printf("  %s\n", markText(h.Snippet, h.Marks))
		printLines(w, h.After)
		w.Printf("  %s\n", screen.Dim(jump(h)))
	}
	switch {
	case len(res.Hits) == 0:
		w.Printf("nothing found\n")
	case res.More:
		w.Printf("\n%s\n", screen.Dim("there is more: --limit, or say more words"))
	}
}

func printLines(w *screen.Writer, lines []search.Line) {
	for _, l := range lines {
		w.Printf("  %s\n", screen.Dim(screen.Sprintf("#%d %s %s %s", l.Seq, l.Type, l.Tool, l.Text)))
	}
}

// jump says how to see the entry where it stands.
func jump(h search.Hit) string {
	if h.Kind == "record" {
		return fmt.Sprintf("conclave record show %s   # entry %d of %s", h.Run, h.Seq, h.Source)
	}
	return fmt.Sprintf("conclave export %s   # entry %d of %s", h.Run, h.Seq, h.Source)
}

func markText(text string, marks [][2]int) screen.Text {
	var parts []screen.Text
	at := 0
	for _, m := range marks {
		parts = append(parts, screen.Line(text[at:m[0]]), screen.Bold(text[m[0]:m[1]]))
		at = m[1]
	}
	return screen.Join(append(parts, screen.Line(text[at:])), "")
}
