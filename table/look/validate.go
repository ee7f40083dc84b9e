package look

import (
	"errors"
	"os"
	"slices"
	"strings"

	"conclave/internal/shingle"
	"conclave/table"
	"conclave/table/rolls"
	"conclave/table/story"
)

// Validate says what is wrong with a campaign directory. problems keep it from
// being played as it is meant; warnings do not. With try it also writes where a cycle
// will, for a moment.
func Validate(workspace, campaign string, caps table.Caps, try bool) (problems, warnings []string, err error) {
	c, err := table.OpenCampaign(workspace, campaign)
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	roster, err := table.LoadRoster(c.Party, nil, caps)
	if err != nil {
		return []string{err.Error()}, nil, nil
	}
	problems, warnings = roster.Problems, roster.Warnings
	if len(roster.Characters) == 0 {
		problems = append(problems, "party/: no characters: write a sheet party/{character}.md")
	}
	watch := c.NewWatch(caps, shingle.NewPrinter())
	for _, ch := range roster.Characters {
		if _, err := c.PlayerContext(ch.Slug, nil, table.ContextOptions{Caps: caps}); err != nil {
			problems = append(problems, err.Error())
		}
		_, skipped, err := watch.From(ch.Slug)
		if err != nil {
			problems = append(problems, err.Error())
		}
		for _, s := range skipped {
			if !slices.Contains(warnings, s) {
				warnings = append(warnings, s)
			}
		}
	}
	findings, err := c.Findings(caps)
	if err != nil {
		problems = append(problems, err.Error())
	}
	for _, f := range findings {
		problems = append(problems, f.String())
	}
	for _, name := range []string{"story-state.md", "party-knowledge.md", "overview.md"} {
		f, err := c.Root.Open(name)
		if errors.Is(err, os.ErrNotExist) {
			warnings = append(warnings, name+" is missing: the table plays without it")
		} else if err == nil {
			f.Close()
		}
	}
	s, err := story.Load(workspace, campaign)
	if err != nil {
		problems = append(problems, err.Error())
	}
	blocks, closed := s.Scene.Ways(c, roster)
	if try {
		blocks = append(blocks, s.Scene.Try(c)...)
	}
	for _, o := range blocks {
		problems = append(problems, o.Error())
	}
	for _, o := range closed {
		warnings = append(warnings, o.Error())
	}
	report, err := rolls.Verify(workspace, campaign)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		problems = append(problems, rolls.Way(campaign, err).Error())
	}
	for _, b := range report.Breaks {
		warnings = append(warnings, table.DiceLogFile+": "+b.String())
	}
	problems = distinct(campaign, problems, nil)
	return problems, distinct(campaign, warnings, problems), nil
}

// distinct leaves out what is said before, however much of the path it names.
func distinct(campaign string, list, before []string) []string {
	said := map[string]bool{}
	short := func(s string) string { return strings.TrimPrefix(s, "campaigns/"+campaign+"/") }
	for _, s := range before {
		said[short(s)] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool {
		again := said[short(s)]
		said[short(s)] = true
		return again
	})
}

// Findings are what the files of a campaign say about secrets that they should
// not: tags that are not clear, secrets that stand where others read them.
func Findings(workspace, campaign string, caps table.Caps) ([]table.Finding, error) {
	c, err := table.OpenCampaign(workspace, campaign)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Findings(caps)
}
