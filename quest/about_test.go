package quest

import "testing"

// TestAbout: a confrontation of a quest that was put away is not one of the next.
func TestAbout(t *testing.T) {
	talk := func(title, date string) Transcript {
		return readTranscript("2026-02-15-16-00-dragon.md", []byte("---\nagent: dragon\nphase: 5\ndate: "+date+"\n---\n\n"+
			"## Conversation Transcript\n\n### Context\n\nQuest: "+title+"\nConsultation purpose: x\n\n### Exchange\n\nQuest: Another\n"))
	}
	q := &Quest{Title: "Cross the\nriver", Created: "2026-02-15"}
	for _, c := range []struct {
		title, date string
		want        bool
	}{
		{"Cross the river", "2026-02-15T16:00:00", true},
		{"Cross the river", "2026-02-14T16:00:00", false},
		{"Bake bread", "2026-02-15T16:00:00", false},
		{"", "2026-02-15T16:00:00", false},
	} {
		if got := talk(c.title, c.date).About(q); got != c.want {
			t.Errorf("%q of %s: %v", c.title, c.date, got)
		}
	}
}
