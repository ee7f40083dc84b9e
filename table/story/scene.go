package story

import (
	"fmt"
	"strings"

	"conclave/table"
)

// Scene is a stretch of the story in one place.
type Scene struct {
	Number int    `json:"number"`
	Slug   string `json:"slug"`
	Title  string `json:"title"`
	Place  string `json:"place,omitempty"`
	Part   int    `json:"part,omitempty"` // of a scene that grew too long for one file
	Size   int    `json:"size,omitempty"` // bytes written to its file so far
}

// File is the scene's file within the campaign.
func (s Scene) File() string {
	if s.Part > 1 {
		return fmt.Sprintf("scenes/%03d-%s-part-%d.md", s.Number, s.Slug, s.Part)
	}
	return fmt.Sprintf("scenes/%03d-%s.md", s.Number, s.Slug)
}

// Describe is the scene in a sentence.
func (s Scene) Describe() string {
	switch {
	case s.Title == "":
		return "Where the party stands."
	case s.Place == "":
		return s.Title + "."
	}
	return s.Title + ": " + s.Place + "."
}

// maxScene is how long a scene's file may grow before the next part begins.
const maxScene = 128 << 10

// Next is the scene after this one, with a name for its file.
func (s Scene) Next(title, place string) Scene {
	next := Scene{Number: s.Number + 1, Title: title, Place: place}
	slug, err := table.Slugify(title)
	if err != nil || slug == "" {
		slug = fmt.Sprintf("scene-%d", next.Number)
	}
	next.Slug = slug
	return next
}

// Grown is the scene as it will be with a text added, nil when there is none and
// nothing to put into one.
func (s Scene) Grown(text string) *Scene {
	if s.Number == 0 {
		if text == "" {
			return nil
		}
		s = Scene{Number: 1, Slug: "opening", Title: "Opening"}
	}
	if s.Size > maxScene {
		s.Part, s.Size = max(s.Part, 1)+1, 0
	}
	if text != "" {
		s.Size += len(s.Chunk(text))
	}
	return &s
}

// Ways looks at what a cycle writes, in the scene that it would go on with.
func (s Scene) Ways(c *table.Campaign, roster table.Roster) (blocks, closed []*table.Obstacle) {
	return c.Ways(roster.Present(), s.Grown(" ").File())
}

// Try writes where a cycle will, in the scene that it would go on with.
func (s Scene) Try(c *table.Campaign) []*table.Obstacle { return c.Try(s.Grown(" ").File()) }

// Chunk is what a text adds to the scene's file.
func (s Scene) Chunk(text string) string {
	head := ""
	if s.Size == 0 {
		head = fmt.Sprintf("# Scene %d: %s\n", s.Number, s.Title)
		if s.Place != "" {
			head += "\n*" + s.Place + "*\n"
		}
	}
	return head + "\n" + strings.TrimSpace(text) + "\n"
}
