package story

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"conclave/dice"
	"conclave/internal/markdown"
	"conclave/policy"
	"conclave/table"
)

// each walks through what happened. Events that a restore has undone are left
// out.
func each(root, campaign string, visit func(Event)) error {
	return walk(root, campaign, func(e Event, stands bool) error {
		if stands {
			visit(e)
		}
		return nil
	})
}

// Story is the campaign as a text in Markdown, as a seat knows it, without the
// dice: those are in PlayLog.
func Story(root, campaign, title, seat string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", title)
	session, scene, called := 0, 0, calledIn(root, campaign)
	err := each(root, campaign, func(e Event) {
		text := dice.ToldLine.ReplaceAllString(TextOf(e.Blocks, seat, called), "")
		text = strings.TrimSpace(gaps.ReplaceAllString(text, "\n\n"))
		if e.Kind != EventCommit || text == "" {
			return
		}
		if e.Session != session {
			session = e.Session
			fmt.Fprintf(&b, "\n## Session %d\n", session)
		}
		if e.Scene != nil && e.Scene.Number != scene {
			scene = e.Scene.Number
			fmt.Fprintf(&b, "\n### %s\n", e.Scene.Title)
			if e.Scene.Place != "" {
				fmt.Fprintf(&b, "\n*%s*\n", e.Scene.Place)
			}
		}
		b.WriteString("\n" + text + "\n")
	})
	return b.String(), err
}

var gaps = regexp.MustCompile(`\n{3,}`)

// PlayLog is the actual play: who said what to whom, cycle by cycle, as a seat
// saw it.
func PlayLog(root, campaign, title, seat string) (string, error) {
	gm, called := seat == string(policy.GM), calledIn(root, campaign)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: how it was played\n", title)
	err := each(root, campaign, func(e Event) {
		switch e.Kind {
		case EventSession:
			fmt.Fprintf(&b, "\n## Session %d\n", e.Session)
		case EventEnd:
			fmt.Fprintf(&b, "\nThe session ended.\n")
		case EventCommit:
			fmt.Fprintf(&b, "\n### Cycle %d\n", e.Cycle)
			if e.Input != nil && e.Input.Text != "" && (gm || e.Input.Who != string(policy.GM)) {
				fmt.Fprintf(&b, "\n**%s:** %s\n", e.Input.Who, oneParagraph(e.Input.Text))
			}
			for _, a := range e.Asked {
				if !gm && (a.Private && a.Character != seat || a.Outcome == OutcomeError) {
					continue
				}
				fmt.Fprintf(&b, "\n**%s** (%s, %s): %s\n",
					a.Character, cmp.Or(string(a.Type), "no request"), a.Outcome, oneParagraph(a.Response))
			}
			if text := TextOf(e.Blocks, seat, called); text != "" {
				b.WriteString("\n" + text + "\n")
			}
			for _, w := range e.Warnings {
				if gm {
					b.WriteString("\n> " + w + "\n")
				}
			}
		}
	})
	return b.String(), err
}

func oneParagraph(s string) string { return strings.Join(strings.Fields(s), " ") }

// PlayerEdition writes what a seat may keep of a campaign into an empty
// directory: the story, what the party knows, the world, and for a character
// its own sheet and journal. The GM's regions and tagged secrets are cut.
func PlayerEdition(root, campaign, title, seat, dir string) ([]string, error) {
	c, err := table.OpenCampaign(root, campaign)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("%s is not empty", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	text, err := Story(root, campaign, title, seat)
	if err != nil {
		return nil, err
	}
	files := map[string]string{"story.md": text, "story.html": HTML(title, text)}
	order := []string{"story.md", "story.html"}
	add := func(d *table.Dir, name, to string, cut func(string) string) {
		if data, err := d.Read(name, 0); err == nil {
			files[to] = cut(markdown.Normalise(string(data)))
			order = append(order, to)
		}
	}
	add(c.Root, "party-knowledge.md", "party-knowledge.md", table.ForEveryone)
	add(c.Root, "world-primer.md", "world-primer.md", table.ForEveryone)
	roster, err := table.LoadRoster(c.Party, nil, table.Caps{})
	if err != nil {
		return nil, err
	}
	if ch, ok := roster.Get(seat); ok {
		add(c.Party, table.SheetFile(ch.Slug), "sheet.md", table.RemoveGM)
		add(c.Party, table.JournalFile(ch.Slug), "journal.md", table.RemoveGM)
	}
	for _, name := range order {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(files[name]), 0o644); err != nil {
			return nil, err
		}
	}
	return order, nil
}
