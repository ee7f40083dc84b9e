package frontmatter

import (
	"strings"
	"testing"
)

func TestSet(t *testing.T) {
	cases := []struct{ name, text, key, value, want string }{
		{"plain", "---\na: b # why\nc: d\n---\nx", "a", "new value", "---\na: new value # why\nc: d\n---\nx"},
		{"keeps double quotes", "---\na: \"b\\\"c\" # why\n---\n", "a", "d", "---\na: \"d\" # why\n---\n"},
		{"keeps single quotes", "---\na: 'b''c'\n---\n", "a", "it's", "---\na: 'it''s'\n---\n"},
		{"number stays a number", "---\nphase: 1\n---\n", "phase", "2", "---\nphase: 2\n---\n"},
		{"date stays plain", "---\ndate: x\n---\n", "date", "2026-02-18T14:32:00", "---\ndate: 2026-02-18T14:32:00\n---\n"},
		{"quotes where needed", "---\na: b\n---\n", "a", "x: y", "---\na: \"x: y\"\n---\n"},
		{"null is text", "---\na: b\n---\n", "a", "null", "---\na: \"null\"\n---\n"},
		{"ampersand", "---\ncampaign-mode: Ship\n---\n", "campaign-mode", "Grow & Ship", "---\ncampaign-mode: Grow & Ship\n---\n"},
		{"line break", "---\na: b\n---\n", "a", "x\ny", "---\na: \"x\\ny\"\n---\n"},
		{"empty value", "---\na:\nb: c\n---\n", "a", "x", "---\na: x\nb: c\n---\n"},
		{"empty value with a comment", "---\na: # none\nb: c\n---\n", "a", "x", "---\na: x # none\nb: c\n---\n"},
		{"block scalar", "---\na: |\n  one\n  two\n\n# note\nb: c\n---\n", "a", "x", "---\na: x\n\n# note\nb: c\n---\n"},
		{"folded plain", "---\na: one\n  two # note\nb: c\n---\n", "a", "x", "---\na: x # note\nb: c\n---\n"},
		{"new key", "---\na: b\n---\nbody", "c", "d", "---\na: b\nc: d\n---\nbody"},
		{"new key crlf", "---\r\na: b\r\n---\r\n", "c", "d", "---\r\na: b\r\nc: d\r\n---\r\n"},
		{"new header", "\ufeffbody", "c", "d", "\ufeff---\nc: d\n---\n\nbody"},
		{"new header in nothing", "", "c", "d", "---\nc: d\n---\n"},
		{"same value touches nothing", "---\na:   'b'\n---\n", "a", "b", "---\na:   'b'\n---\n"},
		{"closing marker without newline", "---\na: b\n---", "a", "c", "---\na: c\n---"},
		{"emoji", "---\nemoji: \"⚔️\" # é\nb: ü\n---\n", "emoji", "🗡️", "---\nemoji: \"🗡️\" # é\nb: ü\n---\n"},
		{"indented header", "---\n  a: b\n---\n", "c", "d", "---\n  a: b\n  c: d\n---\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := mustParse(t, c.text)
			if err := d.Set(c.key, c.value); err != nil {
				t.Fatal(err)
			}
			if got := string(d.Bytes()); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestSetText: a text stays one for every reader, those included who take 007 for
// a number, Yes for true and a day for a date.
func TestSetText(t *testing.T) {
	for _, value := range []string{"007", "Yes", "no", "On", "y", "null", "Null", "1e3", "0x1F", "1_000", "1:30", "2026-01-01", "3rd Mate", "TRUE"} {
		for name, text := range map[string]string{"new": "", "plain before": "---\na: b\n---\n", "the same before": "---\na: " + value + "\n---\n"} {
			d := mustParse(t, text)
			if err := d.SetText("a", value); err != nil {
				t.Fatal(err)
			}
			if got, want := string(d.Bytes()), "---\na: \""+value+"\"\n---\n"; got != want {
				t.Errorf("%s, %s: got %q, want %q", value, name, got, want)
			}
		}
	}
	for value, text := range map[string]string{"Rogue": "a: Rogue", "Grow & Ship": "a: Grow & Ship", "Yesterday": "a: Yesterday", "No. 7": "a: No. 7"} {
		d := mustParse(t, "")
		if err := d.SetText("a", value); err != nil || string(d.Bytes()) != "---\n"+text+"\n---\n" {
			t.Errorf("%s: %q %v", value, d.Bytes(), err)
		}
	}
	d := mustParse(t, "---\na: 'b'\n---\n")
	if err := d.SetText("a", "007"); err != nil || string(d.Bytes()) != "---\na: '007'\n---\n" {
		t.Errorf("other quotes: %q %v", d.Bytes(), err)
	}
}

func TestSetRefuses(t *testing.T) {
	cases := []struct{ name, text, key, value, reason string }{
		{"a list", "---\na: [b]\n---\n", "a", "c", "not a single value"},
		{"a flow header", "---\n{a: b}\n---\n", "a", "c", "one key per line"},
		{"a bad key", "", "a b", "c", "letters"},
		{"a word with a meaning", "", "no", "c", "another meaning"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := mustParse(t, c.text)
			err := d.Set(c.key, c.value)
			if err == nil || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("got %v, want %q", err, c.reason)
			}
			if string(d.Bytes()) != c.text {
				t.Errorf("a refused edit changed the document: %q", d.Bytes())
			}
		})
	}
}

func TestSetSection(t *testing.T) {
	cases := []struct{ name, text, section, body, want string }{
		{"replace", "## A\nold\n## B\n\nb", "A", "new\n", "## A\n\nnew\n\n## B\n\nb"},
		{"replace the last", "## A\n\nold\n", "A", "new", "## A\n\nnew\n"},
		{"replace keeps crlf", "## A\r\n\r\nold\r\n", "A", "n\new", "## A\r\n\r\nn\r\new\r\n"},
		{"heading without newline", "## A", "A", "new", "## A\n\nnew\n"},
		{"append", "x\n", "B", "b", "x\n\n## B\n\nb\n"},
		{"append without final newline", "x", "B", "b", "x\n\n## B\n\nb\n"},
		{"append after a header", "---\na: b\n---", "B", "b", "---\na: b\n---\n\n## B\n\nb\n"},
		{"append to nothing", "", "B", "b", "## B\n\nb\n"},
		{"deeper headings stay inside", "## A\n\n### a\n\nx\n\n## B\n", "A", "### c\n\n", "## A\n\n### c\n\n## B\n"},
		{"empty body", "## A\nold\n\n## B\n", "A", "", "## A\n\n## B\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := mustParse(t, c.text)
			if err := d.SetSection(c.section, c.body); err != nil {
				t.Fatal(err)
			}
			if got := string(d.Bytes()); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestAppendToSection(t *testing.T) {
	cases := []struct{ text, section, add, want string }{
		{"## Log\n\n- a\n\n## B\n", "Log", "- b\n", "## Log\n\n- a\n- b\n\n## B\n"},
		{"## Log\n\n- a  ", "Log", "- b", "## Log\n\n- a  \n- b\n"},
		{"## Log\n\n- a", "Log", "- b", "## Log\n\n- a\n- b\n"},
		{"## Log\n", "Log", "- b", "## Log\n\n- b\n"},
		{"x\n", "Log", "- b", "x\n\n## Log\n\n- b\n"},
		{"## Log\r\n\r\n- a\r\n", "Log", "- b", "## Log\r\n\r\n- a\r\n- b\r\n"},
	}
	for _, c := range cases {
		d := mustParse(t, c.text)
		if err := d.AppendToSection(c.section, c.add); err != nil {
			t.Errorf("%q: %v", c.text, err)
		}
		if got := string(d.Bytes()); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

// TestNoEscape is about text that people and models wrote: it stays in its place.
func TestNoEscape(t *testing.T) {
	cases := []struct{ name, text, body, reason string }{
		{"starts a section", "## A\n\na\n\n## B\n", "x\n## C\ny", "section of its own"},
		{"starts a title", "## A\n\na\n\n## B\n", "# C", "section of its own"},
		{"imitates the next one", "## A\n\na\n\n## B\n\nreal\n", "## B\n\nfake", "section of its own"},
		{"leaves a fence open", "## A\n\na\n\n## B\n", "```", "swallow"},
		{"leaves a comment open", "## A\n\na\n\n## B\n", "<!-- x", "swallow"},
		{"two of that name", "## A\n\na\n\n## A\n", "x", "second time"},
		{"document ends in a fence", "```\nx\n", "x", "open code fence"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, edit := range []func(*Document) error{
				func(d *Document) error { return d.SetSection("A", c.body) },
				func(d *Document) error { return d.AppendToSection("A", c.body) },
			} {
				d := mustParse(t, c.text)
				err := edit(d)
				if err == nil || !strings.Contains(err.Error(), c.reason) {
					t.Errorf("got %v, want %q", err, c.reason)
				}
				if string(d.Bytes()) != c.text {
					t.Errorf("a refused edit changed the document: %q", d.Bytes())
				}
			}
		})
	}
}
