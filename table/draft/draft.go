// Package draft is a campaign before it is one: what somebody has said of it so
// far, in talk, and what becomes of that. It knows which questions make a
// campaign, what an agent is asked for in their place, how a draft reads, and
// which files it gives – the same that a table plays, valid by its own rules.
//
// A draft is kept between two sittings in the stored form of Draft; the caller
// keeps it. Whatever an agent said goes through Check before anything is made of
// it, and names become files by package table's rule for slugs alone.
package draft

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"conclave/internal/markdown"
	"conclave/table"
)

// Version is that of the stored form.
const Version = 1

// Draft is a campaign as far as it was told.
type Draft struct {
	V          int         `json:"v"`
	About      string      `json:"about"`  // the overview: the game master's
	Known      string      `json:"known"`  // what the party knows
	Hidden     string      `json:"hidden"` // the story state: what nobody knows yet
	World      string      `json:"world"`  // what everybody knows of the world
	Characters []Character `json:"characters"`
	// Answered are the questions that were put and answered, also with nothing.
	Answered []string `json:"answered,omitempty"`
}

// Character is a sheet as far as it was told.
type Character struct {
	Name   string `json:"name"`
	Slug   string `json:"slug"`
	Who    string `json:"who"`
	Bond   string `json:"bond"`
	Flaw   string `json:"flaw"`
	Ideal  string `json:"ideal"`
	Secret string `json:"secret"`
	// Triggers make it act in secret.
	Triggers string `json:"triggers"`
}

// Schema is what an agent is asked for.
var Schema = func() []byte {
	text := map[string]string{"type": "string"}
	props := func(names ...string) map[string]any {
		out := map[string]any{}
		for _, n := range names {
			out[n] = text
		}
		return out
	}
	character := props("name", "slug", "who", "bond", "flaw", "ideal", "secret", "triggers")
	whole := props("about", "known", "hidden", "world")
	whole["characters"] = map[string]any{"type": "array", "minItems": 1, "maxItems": table.Caps{}.WithDefaults().Party,
		"items": map[string]any{"type": "object", "properties": character, "additionalProperties": false,
			"required": []string{"name", "slug", "who", "bond", "flaw", "ideal", "secret", "triggers"}}}
	data, err := json.Marshal(map[string]any{"type": "object", "properties": whole, "additionalProperties": false,
		"required": []string{"about", "known", "hidden", "world", "characters"}})
	if err != nil {
		panic(err) // it is plain data
	}
	return data
}()

// Instructions are those of an agent that makes a campaign of what it is told.
//
//go:embed instructions.md
var Instructions string

// Read reads an agent's answer.
func Read(answer string) (Draft, error) {
	var d Draft
	text := strings.TrimSpace(answer)
	if i, j := strings.Index(text, "{"), strings.LastIndex(text, "}"); i >= 0 && j > i {
		text = text[i : j+1] // an agent may say something around it
	}
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return d, fmt.Errorf("the answer is no campaign: %w", err)
	}
	d.V, d.Answered = Version, nil
	for i, c := range d.Characters {
		if slug, err := table.Slugify(c.Name); err == nil {
			d.Characters[i].Slug = slug // what an agent thinks it is does not count
		}
	}
	return d, d.Check()
}

// JSON is the draft as an agent gives it.
func (d Draft) JSON() string {
	d.Answered = nil
	data, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		panic(err) // it is plain data
	}
	return string(data)
}

// fill gives every character a slug, and refuses what can be no campaign.
func (d *Draft) fill() error {
	var taken []string
	for i := range d.Characters {
		c := &d.Characters[i]
		if strings.TrimSpace(c.Slug) == "" {
			slug, err := table.Slugify(c.Name)
			if err != nil {
				return fmt.Errorf("character %w", err)
			}
			c.Slug = slug
		}
		if err := CheckSlug(c.Slug, taken); err != nil {
			return err
		}
		taken = append(taken, c.Slug)
	}
	return nil
}

// CheckSlug says why a character cannot have a slug.
func CheckSlug(slug string, taken []string) error {
	if err := errors.Join(table.CheckSlug(slug), table.UniqueSlug(slug, taken)); err != nil {
		return fmt.Errorf("character %w", err)
	}
	return nil
}

// Slugs are those that are taken.
func (d Draft) Slugs() []string {
	var out []string
	for _, c := range d.Characters {
		out = append(out, c.Slug)
	}
	return out
}

// Check says why a draft is no campaign yet.
func (d Draft) Check() error {
	if len(d.Characters) == 0 {
		return errors.New("it has no characters")
	}
	if most := (table.Caps{}).WithDefaults().Party; len(d.Characters) > most {
		return fmt.Errorf("it has %d characters, at most %d", len(d.Characters), most)
	}
	return d.fill()
}

// Text is the draft as its maker reads it.
func (d Draft) Text() string {
	var b strings.Builder
	part := func(title, text string) {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(&b, "%s\n%s\n\n", title, text)
		}
	}
	part("What it is about (the game master's):", d.About)
	part("What the party knows:", d.Known)
	part("What nobody knows yet (the game master's):", d.Hidden)
	part("The world:", d.World)
	for _, c := range d.Characters {
		part(fmt.Sprintf("%s (party/%s):", c.Name, table.SheetFile(c.Slug)), c.body())
	}
	return strings.TrimSpace(b.String())
}

// body is a sheet below its heading.
func (c Character) body() string {
	var b strings.Builder
	if who := plain(c.Who); who != "" {
		b.WriteString(who + "\n\n")
	}
	for _, f := range []struct{ name, text string }{
		{"Bond", c.Bond}, {"Flaw", c.Flaw}, {"Ideal", c.Ideal}, {"Secret", c.Secret}, {"Secret action triggers", c.Triggers},
	} {
		text := strings.Join(strings.Fields(plain(f.text)), " ")
		b.WriteString(strings.TrimRight(fmt.Sprintf("- %s: %s", f.name, text), " ") + "\n")
	}
	return b.String()
}

// plain takes headings out of what somebody said: those of a file are its own.
func plain(text string) string {
	var out []string
	for line := range strings.SplitSeq(strings.TrimSpace(markdown.Clean(text)), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "#") || strings.TrimSpace(line) == "---" {
			line = `\` + strings.TrimSpace(line)
		}
		out = append(out, line)
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

// Files are the campaign's, by their paths. name is the campaign's.
func (d Draft) Files(name string) map[string]string {
	or := func(text, otherwise string) string {
		if text = plain(text); text != "" {
			return text
		}
		return otherwise
	}
	files := map[string]string{
		"overview.md": "# " + name + "\n\n" +
			or(d.About, "What this campaign is about. Only the game master reads this.") + "\n",
		"story-state.md": "# Story state\n\n" +
			or(d.Hidden, "What is true and what nobody knows yet. Only the game master reads this.") + "\n",
		"party-knowledge.md": strings.TrimRight("# What the party knows\n\n"+plain(d.Known), "\n") + "\n",
	}
	if world := plain(d.World); world != "" {
		files["world-primer.md"] = "# The world\n\n" + world + "\n"
	}
	for _, c := range d.Characters {
		shown := strings.Join(strings.Fields(c.Name), " ")
		files["party/"+table.SheetFile(c.Slug)] = "# " + shown + "\n\n" + c.body()
	}
	return files
}
