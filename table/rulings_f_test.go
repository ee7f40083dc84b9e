package table

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"conclave/policy"
)

var rulingsF = map[string]func(*testing.T){
	"F4": func(t *testing.T) {
		// A reader beside a writer sees the old file or the new one, whole.
		c := newCampaign(t, map[string]string{"tmp/narrative-for-journal.md": strings.Repeat("a", 9000)})
		done := make(chan error, 1)
		go func() {
			var err error
			for i := 0; i < 200 && err == nil; i++ {
				err = c.Tmp.Write(NarrativeFile, bytes.Repeat([]byte{"ab"[i%2]}, 9000))
			}
			done <- err
		}()
		for reads := 0; ; reads++ {
			data, err := os.ReadFile(c.host("tmp/narrative-for-journal.md"))
			ok(t, err)
			if len(data) != 9000 || strings.Trim(string(data), string(data[:1])) != "" {
				t.Fatal("a torn read")
			}
			select {
			case err := <-done:
				ok(t, err)
				if reads == 0 {
					t.Error("no read happened")
				}
				return
			default:
			}
		}
	},
	"F5": func(t *testing.T) {
		c := newCampaign(t, map[string]string{"tmp/tilda-brannock-notes-for-journal.md": "next cycle"})
		gone, err := c.Tmp.RemoveIf(NotesFile("tilda-brannock"), Hash([]byte("this cycle")))
		ok(t, err)
		eq(t, "kept", gone, false)
		gone, err = c.Tmp.RemoveIf(NotesFile("tilda-brannock"), Hash([]byte("next cycle")))
		ok(t, err)
		eq(t, "removed", gone, true)
		gone, err = c.Tmp.RemoveIf(NotesFile("tilda-brannock"), "x")
		eq(t, "gone already", !gone && err == nil, true)
	},
	"F15": func(t *testing.T) {
		c := newCampaign(t, nil)
		for _, notes := range []string{"", " \n"} {
			s, err := c.JournalContext("tilda-brannock", []byte("It rained.\n"), []byte(notes), "", ContextOptions{})
			ok(t, err)
			eq(t, "text", s.Text(), "# What happened\n\nIt rained.\n")
		}
	},
	"F18": func(t *testing.T) {
		var b strings.Builder
		b.WriteString("# T's Journal\n\n")
		for i := range 2000 {
			fmt.Fprintf(&b, "---\n\n### Day %d\n\n- What happened: (nothing)\n- What I did: (nothing)\n- What I learned: (nothing)\n"+
				"- How I feel: (nothing)\n- Notes: %s\n\n", i, strings.TrimSpace(strings.Repeat("word ", 20)))
		}
		c := newCampaign(t, map[string]string{"party/tilda-brannock-journal.md": b.String()})
		s, err := c.PlayerContext("tilda-brannock", []byte(goodPrompt), ContextOptions{})
		ok(t, err)
		text := s.Parts[1].Text
		if len(text) > 48<<10 || len(text) < 47<<10 || !strings.HasPrefix(text, "# T's Journal\n\n---\n\n### Day ") || !strings.HasSuffix(text, "word\n\n") {
			t.Errorf("%d bytes: %.60q … %.40q", len(text), text, text[len(text)-40:])
		}
		has(t, text, "### Day 1999\n")
		eq(t, "hash of the whole file", s.Sources[1], Source{"party/tilda-brannock-journal.md", Hash([]byte(b.String())), int64(b.Len()), "newest entries only"})
		out, left := newestEntries(text, int64(len(text)))
		eq(t, "all fit", out == text && left == 0, true)
	},
	"F19": func(t *testing.T) {
		path := "party/tilda-brannock-journal.md"
		eq(t, "own", Reader{Role: policy.Player, Character: "tilda-brannock"}.May(path), true)
		eq(t, "other", Reader{Role: policy.Player, Character: "gideon-harrowmoor"}.May(path), false)
		eq(t, "GM", Reader{Role: policy.GM}.May(path), false)
		eq(t, "GM by setting", Reader{Role: policy.GM, GMReadsJournals: true}.May(path), true)
	},
}
