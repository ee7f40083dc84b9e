package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
)

func newSearchCommand(env *environment) *cobra.Command {
	var s app.Search
	cmd := archiveFlag(answer(env, &cobra.Command{
		Use:   "search WORDS",
		Short: "Find what was said and done, in all records and sessions",
		Long: `Search finds entries that hold all the words, the best first: in the records of
this workspace and the sessions of agents' programs. "Words in quotes" stand
together, word* is the beginning of a word, and -word must not be there (put --
before a query that begins with it). Accents and case do not count.

It takes up what is new before it looks. Secrets are neither found nor shown.`,
		Example: `  conclave search dragon lair
  conclave search 'migrat* "foreign key"' --in tool_result --since 2d
  conclave search timeout --role cat --project myapp --context 2
  conclave search panic --json --limit 5`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return app.ErrNoWords
			}
			return nil
		},
	}, func(ctx context.Context, args []string) (app.Found, error) {
		s.Words = strings.Join(args, " ")
		return env.app().Search(ctx, s)
	}, printHits), &s.At)
	f := cmd.Flags()
	f.BoolVar(&s.At.NoRefresh, "no-refresh", false, "use the archive as it is")
	f.StringSliceVar(&s.Types, "in", nil,
		"only entries of this `TYPE` (user_message, assistant_message, tool_use, tool_result, thinking, error)")
	f.StringVar(&s.Role, "role", "", "only entries of this role: cat, main, Explore")
	f.StringVar(&s.Project, "project", "", "only projects whose directory holds this `PART`")
	f.StringVar(&s.Since, "since", "", "only entries since this `TIME`: 2d, 3h, 2026-02-18, 2026-02-18T14:00:00Z")
	f.StringVar(&s.Until, "until", "", "only entries before this `TIME`")
	f.IntVar(&s.Limit, "limit", 20, "at most this many")
	f.IntVarP(&s.Context, "context", "C", 0, "show so many entries before and after")
	return cmd
}

func printHits(w *screen.Writer, res app.Found) error {
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
		verb := "export"
		if h.Kind == "record" {
			verb = "record show"
		}
		w.Printf("  %s\n", screen.Dim(screen.Sprintf("conclave %s %s   # entry %d of %s", verb, h.Run, h.Seq, h.Source)))
	}
	switch {
	case len(res.Hits) == 0:
		w.Printf("nothing found\n")
	case res.More:
		w.Printf("\n%s\n", screen.Dim("there is more: --limit, or say more words"))
	}
	return nil
}

func printLines(w *screen.Writer, lines []app.FoundLine) {
	for _, l := range lines {
		w.Printf("  %s\n", screen.Dim(screen.Sprintf("#%d %s %s %s", l.Seq, l.Type, l.Tool, l.Text)))
	}
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
