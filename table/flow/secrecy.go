package flow

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"conclave/internal/markdown"
	"conclave/table"
	"conclave/table/story"
)

// What is secret in a cycle is decided here and nowhere else: whose words are
// whose, who has heard what, and who may therefore be told a text, wherever it
// comes from – narrative, prompts, files, titles, the purpose of a roll.

// isSecret: a request is private if it asks for a secret, or follows one that
// did.
func (c *cycle) isSecret(f frozen) bool { return c.secret[f.Character] || f.Type == table.SecretAction }

// learn notes the secrets among the answers, before anything is made of them.
func (c *cycle) learn(answers []answer) {
	for _, a := range answers {
		if !a.Private {
			c.spoken = append(c.spoken, a.Text)
			continue
		}
		parts := []string{a.Text, a.Notes, a.Discarded}
		for _, f := range a.Rolled {
			if !f.Asked {
				parts = append(parts, f.Purpose)
			}
		}
		if c.secrets == nil {
			c.since = len(c.blocks)
		}
		for _, p := range parts {
			if strings.TrimSpace(p) != "" {
				c.secrets = append(c.secrets, story.Secret{Who: a.Character, Text: p})
			}
		}
	}
}

// had is what a reader knows before a secret was told: the public words of this
// cycle and what it heard lately.
func (c *cycle) had(reader string) []string {
	out := append([]string{c.State.Common}, c.spoken...)
	for _, x := range c.State.Recap {
		if x.Input != nil {
			out = append(out, x.Input.Text)
		}
		out = append(out, table.TextFor(x.Blocks, reader))
	}
	for _, blocks := range append(slices.Clone(c.State.Rounds), c.blocks[:min(c.since, len(c.blocks))]) {
		out = append(out, table.TextFor(blocks, reader))
	}
	return append(out, c.asks[reader], c.latest[reader].Text)
}

// owners are the characters whose secrets a text would tell to these readers. It
// is held together with what they were told since: a secret in two halves is one.
func (c *cycle) owners(text string, readers []string) []string {
	found := map[string]bool{}
	for _, r := range readers {
		since := table.TextFor(c.blocks[min(c.since, len(c.blocks)):], r)
		all := strings.Join([]string{since, c.told[r], text}, "\n")
		var had []string
		check := func(s story.Secret, text string, older bool) {
			if s.Who == r || found[s.Who] {
				return
			}
			if had == nil {
				had = c.had(r)
			}
			found[s.Who] = table.Repeats(s.Text, text, older, had...) != ""
		}
		for _, s := range c.secrets {
			check(s, all, false)
		}
		for _, s := range c.State.Secrets {
			check(s, text, true)
		}
	}
	maps.DeleteFunc(found, func(_ string, yes bool) bool { return !yes })
	return slices.Sorted(maps.Keys(found))
}

// everybody are the readers of what is public.
func (c *cycle) everybody() []string { return append(c.Roster.Slugs(), table.SeatTable) }

// public says of a text for everybody whether it can be told; if not, the GM is.
func (c *cycle) public(what, text string) bool {
	owners := c.owners(text, c.everybody())
	if len(owners) > 0 {
		c.withheldFrom(what, owners, "was told to nobody")
	}
	return len(owners) == 0
}

func (c *cycle) withheldFrom(what string, owners []string, fate string) {
	note := fmt.Sprintf("%s repeats what %s said in secret, and %s; say it in other words", what, strings.Join(owners, " and "), fate)
	c.warn = append(c.warn, note)
	c.tell = append(c.tell, note)
}

// keepSecrets takes every block for those who may read it. A passage that repeats
// the secret of one character is that character's alone, if it was for it at all;
// one that repeats several is nobody's but the GM's. In a cycle of nothing but
// secrets what is not marked is the outcome of one: of the only one who acted, or
// unclear.
func (c *cycle) keepSecrets(blocks []table.Block) (faults []string) {
	if len(c.secret) > 0 {
		blocks, faults = c.unmarked(blocks)
	}
	for _, b := range blocks {
		readers := b.Audience.Names
		if b.Audience.Party {
			readers = c.everybody()
		}
		owners := c.owners(b.Text, readers)
		switch {
		case len(owners) == 0:
		case len(owners) == 1 && b.Audience.May(owners[0]):
			b.Audience = table.Audience{Names: owners}
			c.withheldFrom("a passage", owners, "went to "+owners[0]+" alone")
		default:
			b.Audience = table.Audience{}
			c.withheldFrom("a passage", owners, "went to nobody but you")
		}
		c.blocks = append(c.blocks, b) // one by one: the next is held together with it
	}
	return faults
}

// unmarked decides about public blocks of a cycle of nothing but secrets, in
// which no block is marked for somebody who acted.
func (c *cycle) unmarked(blocks []table.Block) ([]table.Block, []string) {
	marked := slices.ContainsFunc(blocks, func(b table.Block) bool {
		return !b.Audience.Party && slices.ContainsFunc(b.Audience.Names, func(n string) bool { return c.secret[n] })
	})
	public := slices.ContainsFunc(blocks, func(b table.Block) bool { return b.Audience.Party })
	if marked || !public || slices.ContainsFunc(c.asked, func(a story.Asked) bool { return !a.Private }) {
		return blocks, nil
	}
	names := slices.Sorted(maps.Keys(c.secret))
	if len(names) == 1 {
		c.warn = append(c.warn, "a cycle of secret actions: unmarked narrative went to "+names[0]+" alone")
		return table.Private(blocks, names), nil
	}
	c.warn = append(c.warn, "a cycle of secret actions of several: unmarked narrative went to nobody but the GM")
	return table.Private(blocks, nil), []string{fmt.Sprintf("%s acted in secret, and what you said is marked for none of them: it was kept for you alone. Say it again, each part between [TO: …] and [/TO]",
		strings.Join(names, " and "))}
}

// guardControls takes out of an output what would be told beside the narrative.
func (c *cycle) guardControls(o *output) {
	for i := range o.Rolls {
		if p := o.Rolls[i].Purpose; p != "" && !c.public("the purpose of a roll", p) {
			o.Rolls[i].Purpose = ""
		}
	}
	if o.Scene != nil && !c.public("the title of the scene", o.Scene.Title+" "+o.Scene.Place) {
		o.Scene.Title, o.Scene.Place = "A new scene", ""
	}
}

// guardFile says why a file that others read cannot be written.
func (c *cycle) guardFile(f fileWrite) string {
	class := table.Classify(f.Path)
	readers := c.everybody()
	switch class.Kind {
	case table.KindPartyKnowledge, table.KindWorldPrimer:
	case table.KindSheet:
		readers = []string{class.Character}
	default:
		return ""
	}
	if owners := c.owners(f.Text, readers); len(owners) > 0 {
		return fmt.Sprintf("%s was not written: others read it, and it repeats what %s said in secret", f.Path, strings.Join(owners, " and "))
	}
	return ""
}

// sent notes what a reader was told beside the narrative.
func (c *cycle) sent(text string, readers ...string) {
	for _, r := range readers {
		c.told[r] += "\n" + text
	}
}

// maxCommon bounds in bytes how much of what everybody can read is remembered.
const maxCommon = 64 << 10

// common is what everybody at the table can read, and the names of the party.
func (t *Table) common(roster table.Roster) string {
	var parts []string
	for _, ch := range roster.Characters {
		parts = append(parts, ch.Name, ch.Slug)
	}
	for _, name := range []string{"party-knowledge.md", "world-primer.md"} {
		if data, err := t.campaign.Root.Read(name, t.caps.PartyKnowledge); err == nil {
			parts = append(parts, table.ForEveryone(markdown.Normalise(string(data))))
		}
	}
	all := strings.ToValidUTF8(strings.Join(parts, "\n"), "")
	return strings.ToValidUTF8(all[:min(len(all), maxCommon)], "")
}
