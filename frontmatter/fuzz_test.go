package frontmatter

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func seeds(f *testing.F) {
	for _, text := range shapes(sample) {
		f.Add([]byte(text), "skin-name", "x: y")
	}
	f.Add([]byte("---\na: |\n  b\n---\n"), "a", "\n")
	f.Add([]byte("---\n? a\n: b\n---\n"), "a", "c")
	f.Add([]byte("---\na: b\n...\n## s\n```\n"), "z", "\u2028")
	f.Add([]byte("---\n\"a\": b\rc: d\n---"), "a", "'")
	f.Add([]byte("---\na: x\u2028b: y\n---"), "b", "c")
}

// FuzzRoundTrip: an untouched document is the same bytes; setting one key leaves
// every other key and the whole body as they were; a refused edit leaves all.
func FuzzRoundTrip(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte, key, value string) {
		d, err := Parse(data)
		if err != nil {
			return
		}
		if !bytes.Equal(d.Bytes(), data) {
			t.Fatal("Bytes differs from what was parsed")
		}
		before, _ := Parse(data)
		if err := d.Set(key, value); err != nil {
			if !bytes.Equal(d.Bytes(), data) {
				t.Fatalf("refused edit (%v) changed the document", err)
			}
			return
		}
		if got, ok := d.Get(key); !ok || got != value && utf8.ValidString(value) {
			t.Fatalf("Get after Set = %q, %v; want %q", got, ok, value)
		}
		for _, was := range before.Fields() {
			if now, ok := d.Field(was.Key); was.Key != key && (!ok || now.Value != was.Value || now.Scalar != was.Scalar) {
				t.Fatalf("setting %q changed %+v to %+v", key, was, now)
			}
		}
		was, _ := before.Body()
		now, _ := d.Body()
		if was != now && was != strings.TrimPrefix(now, "\n") && was != strings.TrimPrefix(now, "\r\n") {
			t.Fatalf("setting %q changed the body %q to %q", key, was, now)
		}
	})
}

// FuzzSection: writing one section keeps every other section's bytes and the
// outline; what was written is read back.
func FuzzSection(f *testing.F) {
	f.Add([]byte(sample), "Tone and Voice", "new\n### x\n")
	f.Add([]byte("## A\n```\n## B\n"), "A", "x")
	f.Add([]byte("\ufeff# T\r\n## A\r\nx"), "B", "```\n## C\n```")
	f.Fuzz(func(t *testing.T, data []byte, name, body string) {
		d, err := Parse(data)
		if err != nil {
			return
		}
		before := d.Sections()
		if err := d.SetSection(name, body); err != nil {
			if !bytes.Equal(d.Bytes(), data) {
				t.Fatalf("refused edit (%v) changed the document", err)
			}
			return
		}
		after := d.Sections()
		if len(after) < len(before) || len(after) > len(before)+1 {
			t.Fatalf("%d sections became %d", len(before), len(after))
		}
		for i, was := range before {
			now := after[i]
			grown := i == len(before)-1 && strings.HasPrefix(now.Body, was.Body) && strings.TrimSpace(now.Body[len(was.Body):]) == ""
			if now.Name != was.Name || now.Body != was.Body && !sameName(was.Name, name) && !grown {
				t.Fatalf("writing %q changed section %q: %q to %q", name, was.Name, was.Body, now.Body)
			}
		}
		if s, ok := d.Section(name); !ok || norm(s.Body) != norm(body) {
			t.Fatalf("wrote %q, read %q", body, s.Body)
		}
	})
}

func norm(text string) string {
	return strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\r\n")
}

// FuzzDecode: no text makes the reader of the configuration panic or loop.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("name: x\nlimit: 1\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("- !!int x\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var c config
		_ = Decode(data, &c)
	})
}
