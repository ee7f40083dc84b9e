package shingle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var key = []byte("0123456789abcdef0123456789abcdef")

func mustSet(t interface{ Fatal(...any) }) *Set {
	s, err := NewSet(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const secret = "The party nearly gave up on Tuesday, but the harbour master's ledger changed our minds about everything."

func TestFind(t *testing.T) {
	cases := []struct {
		name, text string
		line, end  int // 0: nothing is found
	}{
		{"itself", secret, 1, 1},
		{"other case and punctuation", "NEARLY gave-up on Tuesday but THE harbour: masters ledger!", 1, 1},
		{"typographic apostrophe", "on tuesday but the harbour master’s ledger changed our minds", 1, 1},
		{"re-wrapped, quoted", "intro\n\n> but the harbour\n> master's ledger\n> changed our minds\n", 3, 5},
		{"marked up", "**but** _the_ `harbour` master's [ledger](x) changed our minds", 0, 0},
		{"marked up, whole", "**but** _the_ `harbour` master's **ledger** changed _our_ minds", 1, 1},
		{"full width", "ｂｕｔ ｔｈｅ ｈａｒｂｏｕｒ master's ledger changed our minds", 1, 1},
		{"zero width inside words", "but the har\u200bbour master's led\u00adger changed our minds", 1, 1},
		{"CRLF", "x\r\nbut the harbour master's\r\nledger changed our minds\r\n", 2, 3},
		{"seven words", "but the harbour master's ledger changed our", 0, 0},
		{"a paraphrase", "the ledger kept by the master of the harbour made us think again", 0, 0},
		{"nothing", "", 0, 0},
	}
	s := mustSet(t)
	s.Add("narrative", []byte(secret))
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			hits := s.Find([]byte(c.text))
			if c.line == 0 {
				if len(hits) != 0 {
					t.Fatalf("found %+v in a text that shares no eight words", hits)
				}
				return
			}
			if len(hits) != 1 || hits[0].Line != c.line || hits[0].EndLine != c.end || hits[0].Source != "narrative" {
				t.Fatalf("hits = %+v, want one of narrative from line %d to %d", hits, c.line, c.end)
			}
		})
	}
}

func TestComposedAndDecomposedAreOneWord(t *testing.T) {
	s := mustSet(t)
	s.Add("x", []byte("Zoë Ünal und Łukasz tranken Kaffee im Café Straße"))
	if got := s.Find([]byte("Zoe\u0308 U\u0308nal und Lukasz tranken Kaffee im Cafe\u0301 strasse")); len(got) != 1 {
		t.Fatalf("hits = %+v, want 1", got)
	}
}

// A run is known by its bytes on both sides, so that both can be shown.
func TestBothSides(t *testing.T) {
	source := "First a line.\n\nSomebody wrote: " + secret + "\nThe end."
	text := "# Größe\n\n// nearly gave up on\n// Tuesday, but the\n" +
		"// harbour master’s ledger!\nx"
	s := mustSet(t)
	s.Add("narrative", []byte(source))
	hits := s.Find([]byte(text))
	if len(hits) != 1 {
		t.Fatalf("hits = %+v, want one", hits)
	}
	h := hits[0]
	inText := "nearly gave up on\n// Tuesday, but the\n// harbour master’s ledger"
	if got, want := text[h.From:h.To], inText; got != want {
		t.Errorf("in the text it is %q, want %q", got, want)
	}
	got, want := source[h.SourceFrom:h.SourceTo], "nearly gave up on Tuesday, but the harbour master's ledger"
	if got != want || h.SourceLine != 3 {
		t.Errorf("in the source it is %q on line %d, want %q on line 3", got, h.SourceLine, want)
	}
}

func TestScriptsWithoutSpaces(t *testing.T) {
	s := mustSet(t)
	s.Add("x", []byte("我们差一点在星期二放弃了"))
	if got := s.Find([]byte("据说,差一点在星期二放弃")); len(got) != 1 {
		t.Fatalf("hits = %+v, want 1", got)
	}
}

func TestSubtractLeavesTheRest(t *testing.T) {
	s := mustSet(t)
	s.Add("log", []byte("one two three four five six seven eight nine ten"))
	s.Subtract([]byte("zero one two three four five six seven eight"))
	if len(s.digests) != 2 {
		t.Fatalf("%d windows left, want 2", len(s.digests))
	}
	if len(s.Find([]byte("one two three four five six seven eight"))) != 0 {
		t.Error("a window that was granted is still found")
	}
	if len(s.Find([]byte("three four five six seven eight nine ten"))) != 1 {
		t.Error("a window that was not granted is no longer found")
	}
}

// digests are the windows kept for one source.
func digests(s *Set, source string) []Digest {
	var out []Digest
	for d, from := range s.digests {
		if from.source == source {
			out = append(out, d)
		}
	}
	return out
}

func TestDigestsTravel(t *testing.T) {
	s := mustSet(t)
	s.Add("a", []byte(secret))
	s.Add("b", []byte("we do not say why this criterion was chosen by the mentor"))
	far := mustSet(t)
	for _, name := range []string{"a", "b"} {
		far.AddDigests(name, digests(s, name))
	}
	text := []byte("line\n" + secret + "\nthat we do not say why this criterion was chosen")
	a, b := s.Find(text), far.Find(text)
	for i := range a { // digests do not say where they come from
		a[i].SourceLine, a[i].SourceFrom, a[i].SourceTo = 0, 0, 0
	}
	if len(a) != 2 || !slices.Equal(a, b) {
		t.Fatalf("made here: %+v\nloaded: %+v", a, b)
	}
	other, _ := NewSet([]byte("another key of enough bytes"))
	other.AddDigests("a", digests(s, "a"))
	if got := other.Find(text); len(got) != 0 {
		t.Fatalf("digests of another key matched: %+v", got)
	}
}

// A stored digest must stay readable by later versions.
func TestDigestIsStable(t *testing.T) {
	s := mustSet(t)
	s.Add("x", []byte("One two, three: FOUR five six seven eight"))
	d := digests(s, "x")
	if len(d) != 1 {
		t.Fatal("want one digest")
	}
	const want = "3a5c7cd68ee58a34dbc65773a0c5c8b8"
	if got := hex.EncodeToString(d[0][:]); got != want {
		t.Fatalf("digest = %s, want %s", got, want)
	}
}

func TestKeyTooShort(t *testing.T) {
	if _, err := NewSet([]byte("short")); err == nil {
		t.Fatal("a short key was taken")
	}
}

// However a text is cut into pieces on its way, the same is found.
func TestPiecesDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"alpha", "béta", "gamma’s", "δέλτα", "李明", "ﬁve", "six", "\xff", "e\u0301", "\n", "nine"}), 8, 60).Draw(t, "words")
		text := []byte(strings.Join(words, rapid.SampledFrom([]string{" ", "\n", " - "}).Draw(t, "gap")))
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
		s.Subtract(text)
		if len(s.digests) != 0 {
			t.Fatalf("a text minus itself leaves %d windows", len(s.digests))
		}
	})
}

// Eight words taken from a source are found wherever they are planted, on the
// line where they were planted.
func TestPlantedIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(8, 80).Draw(t, "n")
		var src []string
		for i := range n {
			sum := sha256.Sum256(fmt.Append(nil, i))
			src = append(src, "w"+hex.EncodeToString(sum[:3]))
		}
		s := mustSet(t)
		s.Add("x", []byte(strings.Join(src, " ")))
		from := rapid.IntRange(0, n-Window).Draw(t, "from")
		before := rapid.IntRange(0, 20).Draw(t, "lines before")
		text := strings.Repeat("harmless words here\n", before) + strings.Join(src[from:from+Window], "\t") + "\nmore"
		hits := s.Find([]byte(text))
		if len(hits) != 1 || hits[0].Line != before+1 {
			t.Fatalf("hits = %+v, want one on line %d", hits, before+1)
		}
	})
}

func FuzzFind(f *testing.F) {
	f.Add([]byte(secret), []byte("x"))
	f.Add([]byte("\xff\xfe a b c d e f g h"), []byte("\xe2\x80"))
	f.Fuzz(func(t *testing.T, source, around []byte) {
		s := mustSet(t)
		n := s.Add("x", source)
		text := slices.Concat(around, []byte("\n"), source, []byte("\n"), around)
		if got := s.Find(text); n > 0 && len(got) == 0 {
			t.Fatalf("%d windows and none found in a text that holds the source", n)
		}
	})
}

func BenchmarkFindClean(b *testing.B) {
	s := mustSet(b)
	s.Add("x", []byte(secret))
	text := bytes.Repeat([]byte("func main() { fmt.Println(\"hello, world\") } // nothing secret in here\n"), 10000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if len(s.Find(text)) != 0 {
			b.Fatal("found something")
		}
	}
}
