package flow

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"conclave/internal/markdown"
	"conclave/policy"
	"conclave/room"
	"conclave/seat"
	"conclave/table"
	"conclave/table/story"
)

// gmFile is a campaign file as the GM gets it.
type gmFile struct {
	Path string
	Data []byte
}

const maxDepth = 8

// gmFiles reads every campaign file that the GM may read, in order of
// importance. skipped says what could not be taken, and why.
func (t *Table) gmFiles() (files []gmFile, skipped []string) {
	reader := table.Reader{Role: table.RoleGM, GMReadsJournals: t.opts.GMReadsJournals}
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
			data, err := d.Read(name, t.caps.PartyKnowledge)
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
				files = append(files, gmFile{p, data})
			}
		}
	}
	walk(t.campaign.Root, "", 0)
	slices.SortStableFunc(files, func(a, b gmFile) int { return rank(a.Path) - rank(b.Path) })
	return files, skipped
}

// rank puts what a GM needs most first.
func rank(path string) int {
	order := []string{"overview.md", "story-state.md", "party-knowledge.md", "world-primer.md", "preferences.md", "party/", "beats/", "npcs/", "locations/", "factions/", "items/", "decision-log.md"}
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

// pack is what a GM must know to go on: it never wakes up with amnesia.
func (t *Table) pack(b begun, in story.Input) (text string, sources []table.Source) {
	var w strings.Builder
	w.WriteString("# The table\n\n")
	for _, c := range b.Roster.Characters {
		fmt.Fprintf(&w, "- %s · %s · %s · %s\n", c.Slug, c.Name, c.Status, b.Played[c.Slug])
	}
	if b.State.Scene.Number > 0 {
		fmt.Fprintf(&w, "\nScene %d: %s", b.State.Scene.Number, b.State.Scene.Title)
		if b.State.Scene.Place != "" {
			fmt.Fprintf(&w, " (%s)", b.State.Scene.Place)
		}
		w.WriteString("\n")
	}
	for _, n := range b.Warnings {
		w.WriteString("\nNote: " + n + "\n")
	}
	sources = t.packFiles(&w)
	if recap := t.recap(b.Delimiter); recap != "" {
		w.WriteString("\n# So far\n\n" + recap)
		sources = append(sources, engineSource("engine:recap", recap))
	}
	if notes := strings.TrimSpace(t.snapshot().Context); notes != "" {
		w.WriteString("\n# Your notes\n\n" + notes + "\n")
		sources = append(sources, engineSource("engine:gm-context", notes))
	}
	w.WriteString("\n# Now\n\n" + now(in, b.Delimiter))
	return w.String(), sources
}

func engineSource(path, text string) table.Source {
	return table.Source{Path: path, SHA256: table.Hash([]byte(text)), Bytes: int64(len(text))}
}

func (t *Table) packFiles(w *strings.Builder) (sources []table.Source) {
	files, skipped := t.gmFiles()
	room := maxInline
	var left []string
	for i, f := range files {
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
	for _, s := range skipped {
		fmt.Fprintf(w, "\nNote: not read: %s\n", s)
	}
	return sources
}

// recap is what was said and narrated lately. What people said stays quoted.
func (t *Table) recap(delimiter string) string {
	var w strings.Builder
	for _, x := range t.snapshot().Recap {
		fmt.Fprintf(&w, "Cycle %d\n\n", x.Cycle)
		if x.Input != nil && x.Input.Text != "" {
			w.WriteString(table.QuoteForGM(delimiter, x.Input.Who, "words", x.Input.Text) + "\n")
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

func now(in story.Input, delimiter string) string {
	switch in.Kind {
	case story.InputSaid:
		return table.QuoteForGM(delimiter, in.Who, "words", in.Text)
	case story.InputContinue:
		return "Nobody has anything to add. Go on with the story.\n"
	}
	return "The session begins. Recap in a few words if there is something to recap, and set the scene.\n"
}

// furnishGM fills the GM's room: the campaign as the GM may see it, below
// campaign/.
func (t *Table) furnishGM(p *seat.Plan) error {
	p.System = gmInstructions
	files, _ := t.gmFiles()
	for _, f := range files {
		kind := policy.ClassifyTable(f.Path, "")
		if d := policy.Decide(policy.GM, kind); !d.Allow {
			continue
		}
		p.Room.Grants = append(p.Room.Grants, room.Grant{Kind: string(kind), Name: "campaign/" + f.Path, Bytes: f.Data})
	}
	return nil
}
