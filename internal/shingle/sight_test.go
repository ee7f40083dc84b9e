package shingle

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What is hidden from a plain search and not from a reader is found, on the line
// where it stands.
func TestHiddenIsFound(t *testing.T) {
	const said = "We didn't measure the deliberately postponed caching layer, and nobody asked about it since."
	s := mustSet(t)
	s.Add("x", []byte(said))
	gap := func(with string) string { return "x\n" + strings.ReplaceAll(said, " ", with) + "\n" }
	for name, text := range map[string]string{
		"line ends of a literal":     gap(`\n`),
		"of a literal in a literal":  gap(`\\n`),
		"line ends of Windows":       gap(`\r\n`),
		"tabs of a literal":          gap(`\t`),
		"blanks by their number":     gap(`\u0020`),
		"blanks in two digits":       gap(`\x20`),
		"entities":                   gap("&nbsp;"),
		"entities by number":         gap("&#32;"),
		"entities by digits":         gap("&#x20;"),
		"breaks":                     gap("<br/>"),
		"tags":                       gap(" <b>&nbsp;</b> "),
		"tags with attributes":       gap(`</td><td class="w" title="one two three">`),
		"an escaped apostrophe":      "x\n" + strings.ReplaceAll(said, "'", `\'`),
		"an entity of an apostrophe": "x\n" + strings.ReplaceAll(said, "'", "&#39;"),
		"a tag inside a word":        "x\n" + strings.ReplaceAll(said, "caching", "<b>c</b>aching"),
		"a place to break a word":    "x\n" + strings.ReplaceAll(said, "deliberately", "deliber<wbr>ately"),
		"hyphens":                    "x\nWe didn't meas-\nure the delib-\nerately post-\nponed cach-\ning layer, and no-\nbody asked",
		"hyphens in a comment":       "x\n// We didn't meas-\n// ure the delib-\n// erately post-\r\n// poned caching layer",
		"hyphens in a quotation":     "x\n> We didn't measure the delib-\n> erately postponed caching layer",
		"soft hyphens":               "x\nWe didn't measure the delib\u00ad\nerately postponed caching layer",
		"a hyphen of its own":        "x\nWe didn't measure the delib\u2010\nerately postponed caching layer",
		"a hyphen before an escape":  `"x` + "\n" + `We didn't measure the delib-\nerately postponed caching layer"`,
	} {
		hits := s.Find([]byte(text))
		if len(hits) != 1 || hits[0].Line != 2 || hits[0].From < 2 || hits[0].To > len(text) {
			t.Errorf("%s: %+v, want one on line 2", name, hits)
		}
	}
	far := mustSet(t)
	far.AddDigests("x", digests(s, "x"))
	if len(far.Find([]byte(gap(`\n`)))) != 1 {
		t.Error("by digests alone it is not found")
	}
	far.AsWritten()
	if got := far.Find([]byte(gap(`\n`))); len(got) != 0 {
		t.Errorf("as it is written it says something else, and %+v is found", got)
	}
}

// What only looks like a mark hides nothing and makes nothing up.
func TestNoMarks(t *testing.T) {
	s := mustSet(t)
	s.Add("x", []byte("one two three four five six seven eight nine ten"))
	for _, text := range []string{
		"one two three four & five six seven eight", "one two three <four five six seven eight",
		"one two three four &five; six seven eight", `one two \three four five six seven eight`,
		"one two three < four > five six seven eight", "one two three-four five six seven eight",
		"one two three - four five six seven eight", "one two three-\nfour five six seven eight",
		"x<!-- one two three four five six seven eight -->", `<p title="one two three four five six seven eight">`,
		"one two three four five six seven-\n\neight", "one two three four five six seven &eight&;",
	} {
		if len(s.Find([]byte(text))) != 1 {
			t.Errorf("%q: nothing is found", text)
		}
	}
	for _, text := range []string{
		"one two three four five six seveneight", "one two three four five six se-\n1. ven eight",
		"one two three four five six se-\n\nven eight", "one two three four five six se- ven eight",
		"one two three four five six &sevn; eight",
	} {
		if got := s.Find([]byte(text)); len(got) != 0 {
			t.Errorf("%q: found %+v", text, got)
		}
	}
}

// However a text full of marks is cut into pieces, the same is found; and a text
// minus itself leaves nothing.
func TestPiecesOfMarksDoNotMatter(t *testing.T) {
	parts := []string{"alpha", "béta", "gam-\n// ma", "del\u00ad\nta", `\n`, `\u00e9`, "&eacute;", "&", ";", "<b>", "</p>", "<", ">", "\\", "-", "\n", "\r\n", "李", "five", " "}
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 8, 80).Draw(t, "parts"),
			rapid.SampledFrom([]string{"", " "}).Draw(t, "gap")))
		s := mustSet(t)
		s.Add("x", text)
		whole := s.Find(text)
		f := s.Finder()
		for i := range text {
			f.Write(text[i : i+1])
		}
		if pieces := f.Hits(); !slices.Equal(whole, pieces) {
			t.Fatalf("whole %+v, in pieces %+v", whole, pieces)
		}
		for _, h := range whole {
			if h.From < 0 || h.From >= h.To || h.To > len(text) || h.SourceTo > len(text) || h.Line < 1 {
				t.Fatalf("%+v is nowhere in %d bytes", h, len(text))
			}
		}
		s.Subtract(text)
		if len(s.digests) != 0 {
			t.Fatalf("a text minus itself leaves %d windows", len(s.digests))
		}
	})
}

// Whatever stands between the words of a sentence, it is found.
func TestPlantedBetweenMarksIsFound(t *testing.T) {
	gaps := []string{" ", "\n", `\n`, `\t`, `\\n`, "&nbsp;", "&#160;", "<br>", "</i> <b>", "\n// ", `" +` + "\n\t" + `"`, "&mdash;", `\u2014`}
	rapid.Check(t, func(t *rapid.T) {
		words := strings.Fields(secret)
		s := mustSet(t)
		s.Add("x", []byte(secret))
		text := "before "
		for _, w := range words {
			text += w + rapid.SampledFrom(gaps).Draw(t, "gap")
		}
		if hits := s.Find([]byte(text)); len(hits) == 0 {
			t.Fatalf("nothing is found in %q", text)
		}
	})
}

func BenchmarkFindMarked(b *testing.B) {
	s := mustSet(b)
	s.Add("x", []byte(secret))
	text := bytes.Repeat([]byte("<li class=\"a-b\">if (a < b && c[i] != '\\n') { x = &amp; well-known; } </li>\n"), 10000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if len(s.Find(text)) != 0 {
			b.Fatal("found something")
		}
	}
}
