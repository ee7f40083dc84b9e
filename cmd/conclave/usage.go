package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"conclave/archive"
	"conclave/internal/screen"
)

func newUsageCommand(env *environment) *cobra.Command {
	var o archive.UsageOptions
	var since, until string
	var asJSON, noCache bool
	cmd := &cobra.Command{
		Use:   "usage [PATH…]",
		Short: "Count tokens and their cost, each response once",
		Long: `Usage counts the tokens that the records of this workspace and the sessions of
Claude Code and Codex tell of, subagents included. A response that several files
tell of (a session that was forked, a copy, a record) is counted once. An answer
that was cut off is not counted: Claude Code's own sums leave it out, too. Days are
those of UTC. Costs follow the public list prices; models without a known price
are named, and a cost that lacks them has a question mark.`,
		Example: `  conclave usage
  conclave usage --by project --since 7d
  conclave usage --by model --json ~/.claude/projects`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if o.Since, err = pointInTime(since); err != nil {
				return usageError("--since: %w", err)
			}
			if o.Until, err = pointInTime(until); err != nil {
				return usageError("--until: %w", err)
			}
			if !noCache {
				o.Cache = filepath.Join(env.cacheDir(), "usage")
			}
			roots, err := env.sessionRoots(args)
			if err != nil {
				return err
			}
			u, err := archive.CountUsage(cmd.Context(), roots, o)
			if errors.Is(err, archive.ErrNoSuchGroup) {
				return usageError("--by: %w", err)
			}
			if err != nil {
				return environmentError("%w", err)
			}
			if asJSON {
				return env.Stdout.JSON(u)
			}
			return printUsage(env.Stdout, o.By, u)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.By, "by", "day", "sum by day, project, model, role or session")
	f.StringVar(&since, "since", "", "only since this `TIME`: 2d, 2026-02-18")
	f.StringVar(&until, "until", "", "only before this `TIME`")
	f.BoolVar(&noCache, "no-cache", false, "read everything again")
	f.BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func printUsage(out *screen.Writer, by string, u archive.Usage) error {
	w := out.Table(true)
	w.Printf("%s\tresponses\tinput\toutput\tcache read\tcache write\ttotal\tUSD\t\n", by)
	for _, g := range append(u.Groups, u.Total) {
		w.Printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", g.Name, thousands(int64(g.Responses)), thousands(g.Input), thousands(g.Output),
			thousands(g.CacheRead), thousands(g.CacheWrite), thousands(g.Total), cost(g))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(u.Unpriced) > 0 {
		out.Printf("no price is known for %s\n", strings.Join(u.Unpriced, ", "))
	}
	for _, p := range u.Problems {
		out.Printf("could not read all of %s\n", p)
	}
	return nil
}

// cost is what a group cost; of a model without a price nobody knows.
func cost(g archive.UsageGroup) string {
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
