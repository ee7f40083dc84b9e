package gm

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"conclave/internal/markdown"
	"conclave/policy"
	"conclave/table"
	"conclave/table/story"
)

// CampaignFile is a campaign file as the GM gets it.
type CampaignFile struct {
	Path string
	Data []byte
}

const maxDepth = 8

// CampaignFiles reads every campaign file that the GM may read, in order of
// importance. skipped says what could not be taken, and why.
func CampaignFiles(c *table.Campaign, caps table.Caps, journals bool) (files []CampaignFile, skipped []string) {
	reader := table.Reader{Role: policy.GM, GMReadsJournals: journals}
	var walk func(d *table.Dir, prefix string, depth int)
	walk = func(d *table.Dir, prefix string, depth int) {
		names, err := d.List()
		if err != nil {
			skipped = append(skipped, err.Error())
			return
		}
		for _, name := range names {
			p := prefix + name
			if p == "tmp" || p == table.DiceLogFile || table.Classify(p).Kind == table.KindHidden {
				continue
			}
			data, err := d.Read(name, caps.PartyKnowledge)
			var unsafe *table.UnsafeError
			if errors.As(err, &unsafe) && depth < maxDepth {
				if sub, suberr := d.Sub(name); suberr == nil {
					walk(sub, p+"/", depth+1)
					sub.Close()
					continue
				}
			}
			switch {
			case !reader.May(p):
			case err != nil:
				skipped = append(skipped, err.Error())
			default:
				files = append(files, CampaignFile{p, data})
			}
		}
	}
	walk(c.Root, "", 0)
	slices.SortStableFunc(files, func(a, b CampaignFile) int { return rank(a.Path) - rank(b.Path) })
	return files, skipped
}

// rank puts what a GM needs most first.
func rank(path string) int {
	order := []string{"overview.md", "story-state.md", "party-knowledge.md", "world-primer.md", "preferences.md",
		"party/", "beats/", "npcs/", "locations/", "factions/", "items/", "decision-log.md"}
	for i, p := range order {
		if path == p || strings.HasSuffix(p, "/") && strings.HasPrefix(path, p) {
			return i
		}
	}
	if strings.HasPrefix(path, "scenes/") {
		return len(order) + 1
	}
	return len(order)
}

// maxInline bounds what of the files stands in the message itself.
const maxInline = 96 << 10

// Pack is what a GM must know to go on: it never wakes up with amnesia.
type Pack struct {
	Roster    table.Roster
	Played    map[string]string // by whom, by character
	State     story.State
	Warnings  []string
	Input     story.Input
	Delimiter string // of what people said
	Files     []CampaignFile
	Skipped   []string
}

// Text is the pack as it is told, and what it is made of.
func (p Pack) Text() (text string, sources []table.Source) {
	var w strings.Builder
	w.WriteString("# The table\n\n")
	for _, c := range p.Roster.Characters {
		fmt.Fprintf(&w, "- %s · %s · %s · %s\n", c.Slug, c.Name, c.Status, p.Played[c.Slug])
	}
	if p.State.Scene.Number > 0 {
		fmt.Fprintf(&w, "\nScene %d: %s", p.State.Scene.Number, p.State.Scene.Title)
		if p.State.Scene.Place != "" {
			fmt.Fprintf(&w, " (%s)", p.State.Scene.Place)
		}
		w.WriteString("\n")
	}
	if fight := p.State.Combat.Text(true); fight != "" {
		w.WriteString("\nA fight is on. " + fight)
	}
	for _, n := range p.Warnings {
		w.WriteString("\nNote: " + n + "\n")
	}
	sources = p.writeFiles(&w)
	if recap := p.recap(); recap != "" {
		w.WriteString("\n# So far\n\n" + recap)
		sources = append(sources, EngineSource("engine:recap", recap))
	}
	if notes := strings.TrimSpace(p.State.Context); notes != "" {
		w.WriteString("\n# Your notes\n\n" + notes + "\n")
		sources = append(sources, EngineSource("engine:gm-context", notes))
	}
	w.WriteString("\n# Now\n\n" + p.now())
	return w.String(), sources
}

// EngineSource is a text of the engine's own keeping.
func EngineSource(path, text string) table.Source {
	return table.Source{Path: path, SHA256: table.Hash([]byte(text)), Bytes: int64(len(text))}
}

func (p Pack) writeFiles(w *strings.Builder) (sources []table.Source) {
	room := maxInline
	var left []string
	for i, f := range p.Files {
		sources = append(sources, table.Source{Path: f.Path, SHA256: table.Hash(f.Data), Bytes: int64(len(f.Data))})
		if len(f.Data) > room || strings.HasPrefix(f.Path, "scenes/") {
			left = append(left, f.Path)
			continue
		}
		if i == 0 {
			w.WriteString("\n# Files\n")
		}
		room -= len(f.Data)
		fmt.Fprintf(w, "\n## %s\n\n", f.Path)
		for line := range strings.Lines(strings.TrimRight(markdown.Normalise(string(f.Data)), "\n")) {
			w.WriteString("    " + line)
		}
		w.WriteString("\n")
	}
	if len(left) > 0 {
		fmt.Fprintf(w, "\nFurther files are in your room below campaign/: %s\n", strings.Join(left, ", "))
	}
	for _, s := range p.Skipped {
		fmt.Fprintf(w, "\nNote: not read: %s\n", s)
	}
	return sources
}

// recap is what was said and narrated lately. What people said stays quoted.
func (p Pack) recap() string {
	var w strings.Builder
	for _, x := range p.State.Recap {
		fmt.Fprintf(&w, "Cycle %d\n\n", x.Cycle)
		if x.Input != nil && x.Input.Text != "" {
			w.WriteString(table.QuoteForGM(p.Delimiter, x.Input.Who, "words", x.Input.Text) + "\n")
		}
		for _, b := range x.Blocks {
			if !b.Audience.Party {
				fmt.Fprintf(&w, "(for %s) ", b.Audience)
			}
			w.WriteString(b.Text + "\n\n")
		}
	}
	return w.String()
}

func (p Pack) now() string {
	switch p.Input.Kind {
	case story.InputSaid:
		return table.QuoteForGM(p.Delimiter, p.Input.Who, "words", p.Input.Text)
	case story.InputContinue:
		return "Nobody has anything to add. Go on with the story.\n"
	}
	return "The session begins. Recap in a few words if there is something to recap, and set the scene.\n"
}
