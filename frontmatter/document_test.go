package frontmatter

import (
	"errors"
	"strings"
	"testing"
)

const sample = `---
archetype: cat
skin-name: "The Rogue"   # shown to people
theme: 'Fantasy'
emoji:
notes: |
  two
  lines
tags: [a, b]
# a comment of its own
phase: 3
---

# Title here

before

## Character Concept

Text.

` + "```markdown\n## not a section\n---\n```" + `

### Deeper

more

## Tone and Voice ##

<!--
## Not one either
-->
Voice.
`

func mustParse(t *testing.T, text string) *Document {
	t.Helper()
	d, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// shapes are the ways the same file arrives from different editors.
func shapes(text string) map[string]string {
	return map[string]string{
		"unix":             text,
		"crlf":             strings.ReplaceAll(text, "\n", "\r\n"),
		"bom":              "\ufeff" + text,
		"no final newline": strings.TrimSuffix(text, "\n"),
		"all of them":      "\ufeff" + strings.TrimSuffix(strings.ReplaceAll(text, "\n", "\r\n"), "\r\n"),
	}
}

func TestParse(t *testing.T) {
	for name, text := range shapes(sample) {
		t.Run(name, func(t *testing.T) {
			d := mustParse(t, text)
			if string(d.Bytes()) != text {
				t.Error("Bytes differs from what was parsed")
			}
			for key, want := range map[string]string{"archetype": "cat", "skin-name": "The Rogue", "theme": "Fantasy", "emoji": "", "notes": "two\nlines\n", "phase": "3"} {
				if got, ok := d.Get(key); !ok || got != want {
					t.Errorf("Get(%q) = %q, %v; want %q", key, got, ok, want)
				}
			}
			if _, ok := d.Get("tags"); ok {
				t.Error("a list is no scalar")
			}
			if f, _ := d.Field("phase"); f.Line != 11 || f.Column != 1 {
				t.Errorf("phase at %d:%d, want 11:1", f.Line, f.Column)
			}
			if title, _ := d.Title(); title != "Title here" {
				t.Errorf("title %q", title)
			}
			checkOutline(t, d)
		})
	}
}

func checkOutline(t *testing.T, d *Document) {
	t.Helper()
	sections := d.Sections()
	if len(sections) != 2 || sections[0].Name != "Character Concept" || sections[1].Name != "Tone and Voice" {
		t.Fatalf("sections %+v", sections)
	}
	if sections[0].Line != 18 || sections[0].BodyLine != 19 {
		t.Errorf("first section at line %d, body %d; want 18, 19", sections[0].Line, sections[0].BodyLine)
	}
	if !strings.HasSuffix(strings.Join(strings.Fields(sections[0].Body), " "), "### Deeper more") {
		t.Errorf("a deeper heading is part of the body around it, which is %q", sections[0].Body)
	}
	if s, ok := d.Section("tone  AND voice"); !ok || !strings.Contains(s.Body, "Voice.") {
		t.Errorf("Section by loose name: %v %+v", ok, s)
	}
}

func TestParseWithoutHeader(t *testing.T) {
	for _, text := range []string{"", "\ufeff", "# Only a title", "text\n---\nmore\n---\n", " ---\na: b\n---\n", "---x\n"} {
		d := mustParse(t, text)
		if d.HasHeader() || len(d.Fields()) != 0 {
			t.Errorf("%q: has a header", text)
		}
	}
	d := mustParse(t, "---\n---\nbody")
	if body, line := d.Body(); !d.HasHeader() || body != "body" || line != 3 {
		t.Errorf("empty header: %v %q line %d", d.HasHeader(), body, line)
	}
}

// TestHostile holds the position and the reason of every refusal.
func TestHostile(t *testing.T) {
	bomb := "a: &a [x,x]\nb: [*a,*a]\n"
	cases := []struct {
		name, text   string
		line, column int
		reason       string
	}{
		{"never closes", "---\na: b\n", 1, 1, "never closes"},
		{"anchor bomb", "---\n" + bomb + "---\n", 2, 4, "anchor &a"},
		{"alias", "---\na: b\nc: *x\n---\n", 3, 1, "unknown anchor"},
		{"merge key", "---\na:\n  <<: {b: c}\n---\n", 3, 3, "merge key"},
		{"duplicate", "---\na: 1\nb: 2\na: 3\n---\n", 4, 1, "second time"},
		{"duplicate inside", "---\na:\n  x: 1\n  x: 2\n---\n", 4, 3, "second time"},
		{"custom tag", "---\na: !go/exec ls\n---\n", 2, 4, "tag !go/exec"},
		{"core tag", "---\na: !!binary aGk=\n---\n", 2, 4, "tag"},
		{"huge scalar", "---\na: b\nbig: " + strings.Repeat("x", 9000) + "\n---\n", 3, 6, "9000 bytes"},
		{"huge header", "---\n" + strings.Repeat("# x\n", 20000) + "---\n", 2, 1, "80000 bytes"},
		{"deep flow", "---\na: " + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "\n---\n", 2, 19, "16 levels"},
		{"very deep flow", "---\na: " + strings.Repeat("[", 12000) + strings.Repeat("]", 12000) + "\n---\n", 2, 1, "max depth"},
		{"unclosed quote", "---\na: b\nc: \"x\nd: e\n---\n", 3, 1, "not YAML"},
		{"tab indentation", "---\na:\n\tb: c\n---\n", 3, 1, "not YAML"},
		{"colon in a value", "---\na: b\n  c: d: e\n---\n", 3, 3, "not YAML"},
		{"scalar header", "---\njust words\n---\n", 2, 1, "key: value"},
		{"list header", "---\n- a\n- b\n---\n", 2, 1, "key: value"},
		{"not UTF-8", "---\na: b\nc: d\xffe\n---\n", 3, 5, "UTF-8"},
		{"control character", "---\na: \"x\x07y\"\n---\n", 2, 6, "U+0007"},
		{"after a BOM and CRLF", "\ufeff---\r\nä: 1\r\nä: 2\r\n---\r\n", 3, 1, "second time"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse([]byte(c.text))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want an *Error", err)
			}
			if e.Line != c.line || e.Column != c.column || !strings.Contains(e.Msg, c.reason) {
				t.Errorf("got %v; want %d:%d with %q", e, c.line, c.column, c.reason)
			}
		})
	}
}

func TestFences(t *testing.T) {
	cases := []struct {
		name, text string
		want       string
	}{
		{"longer fence holds shorter", "````\n```\n## no\n````\n## yes\n", "yes"},
		{"tilde fence holds backticks", "~~~\n```\n## no\n~~~\n## yes\n", "yes"},
		{"info string with backtick opens nothing", "``` a`b\n## yes\n", "yes"},
		{"fence with text does not close", "```\n``` x\n## no\n```\n## yes\n", "yes"},
		{"unclosed fence runs on", "```\n## no\n## no\n", ""},
		{"indented code", "    ## no\n   ## yes\n", "yes"},
		{"comment on one line", "<!-- x -->\n## yes\n", "yes"},
		{"no space", "##no\n##\tyes\n", "yes"},
		{"closing marks", "## yes ###\n", "yes"},
		{"marks that belong to the name", "## C#\n", "C#"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var names []string
			for _, s := range mustParse(t, c.text).Sections() {
				names = append(names, s.Name)
			}
			if got := strings.Join(names, ","); got != c.want {
				t.Errorf("sections %q, want %q", got, c.want)
			}
		})
	}
}
