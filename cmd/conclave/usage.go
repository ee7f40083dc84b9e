package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
)

func newUsageCommand(env *environment) *cobra.Command {
	var u app.UsageOf
	cmd := answer(env, &cobra.Command{
		Use:   "usage [PATH…]",
		Short: "Count tokens and their cost, each response once",
		Long: `Usage counts the tokens that the records of this workspace and the sessions of
agents' programs (docs/agents.md) tell of, subagents included. A response that several files
tell of (a session that was forked, a copy, a record) is counted once, under its own
day, directory and model, for the session that began first; a session whose files are
gone is counted as long as a record or the archive has it. A bundle can be named, too. An answer
that was cut off is not counted: Claude Code's own sums leave it out, too. What those
sums have beyond all answers, as for a compaction, counts as one more response of its
session, once it has been left. The role is that of the quest or table (owl, dragon,
player); a session of a program that has none of these is main, its subagents are
called as they were started. Days are
those of UTC. Costs follow what stands under prices in your own configuration
(docs/agents.md), and else the public list prices, with what an hour in the cache, a
search of the web and a very long prompt cost; models without a known price are named,
and a cost that lacks them has a question mark.`,
		Example: `  conclave usage
  conclave usage --by project --since 7d
  conclave usage --by model --json ~/.claude/projects`,
	}, func(ctx context.Context, args []string) (app.Used, error) {
		u.Paths = args
		return env.app().Usage(ctx, u)
	}, func(w *screen.Writer, used app.Used) error {
		return printUsage(w, u.By, used)
	})
	f := cmd.Flags()
	f.StringVar(&u.By, "by", "day", "sum by day, project, model, role or session")
	f.StringVar(&u.Since, "since", "", "only since this `TIME`: 2d, 2026-02-18")
	f.StringVar(&u.Until, "until", "", "only before this `TIME`")
	f.BoolVar(&u.NoCache, "no-cache", false, "read everything again")
	return cmd
}

func printUsage(out *screen.Writer, by string, u app.Used) error {
	w := out.Table(true)
	w.Printf("%s\tresponses\tinput\toutput\tcache read\tcache write\ttotal\tUSD\t\n", by)
	for _, g := range append(u.Groups, u.Total) {
		w.Printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", g.Name, thousands(int64(g.Responses)), thousands(g.Input),
			thousands(g.Output), thousands(g.CacheRead), thousands(g.CacheWrite), thousands(g.Total), cost(g))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if models := slices.DeleteFunc(slices.Clone(u.Unpriced), isEmpty); len(models) > 0 {
		out.Printf("no price is known for %s: set one under `prices` in your own configuration\n", strings.Join(models, ", "))
	}
	if slices.ContainsFunc(u.Unpriced, isEmpty) {
		out.Printf("some responses name no model, so that nobody knows their price\n")
	}
	for _, p := range u.Problems {
		out.Printf("could not read all of %s\n", p)
	}
	return nil
}

func isEmpty(name string) bool { return name == "" }

// cost is what a group cost; of a model without a price nobody knows.
func cost(g app.UsedGroup) string {
	switch {
	case g.Unpriced > 0 && g.Unpriced == g.Responses:
		return "?"
	case g.Unpriced > 0:
		return fmt.Sprintf("%.2f+?", g.CostUSD)
	}
	return fmt.Sprintf("%.2f", g.CostUSD)
}

// thousands writes 1234567 as 1,234,567.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
