package table

import (
	"regexp"
	"strings"
	"unicode"
)

// tag is a stretch of a text that a person would call a tag: it opens or closes
// a region of the GM's, or of a secret. One that is not written as the house
// writes it has a doubt, and then it is the GM's, whatever it may have meant.
type tag struct {
	from, to int
	gm       bool // else of a secret
	closes   bool
	id       string // of a secret
	doubt    string
}

func (t tag) kind() string {
	if t.gm {
		return "gm"
	}
	return "secret"
}

// The tags as the house writes them.
var (
	gmTag     = regexp.MustCompile(`^(?i)<!--\s*(/?)gm\s*-->`)
	secretTag = regexp.MustCompile(`^(?i)<!--\s*(?:secret:\s*([a-z0-9][a-z0-9-]*)|(/)secret)\s*-->`)
)

// maxTag is how long a tag may be: a longer one is doubtful.
const maxTag = 256

const lessThan = `(?:<|&lt;?|&#60;?|&#x3c;?)`

// What begins like one, in a text that was folded. What stands between the
// beginning and the word is in the first group, the word in the last.
var (
	tagLike = []*regexp.Regexp{
		regexp.MustCompile(lessThan + `(\s*![^a-z0-9<>]*(?:end[^a-z0-9<>]+(?:of[^a-z0-9<>]+)?)?)(gm|secret)`),
		regexp.MustCompile(lessThan + `([^a-z0-9<>!\n]*(?:end[^a-z0-9<>\n]+)?)(gm|secrets?)(?:[^a-z0-9]|$)`),
		regexp.MustCompile(`(?:\[\s*//\s*\]\s*:\s*#|%%)([^a-z0-9\n]*)(gm|secrets?)(?:[^a-z0-9]|$)`),
		regexp.MustCompile(`\[([^a-z0-9\[\]\n]*)(gm)(?:[^a-z0-9\[\]\n]*|\s*:[^\]\n]*)\](?:[^(]|$)`),
	}
	commentLike = regexp.MustCompile(lessThan + `\s*!\s*-[\s-]*`)
	commentEnd  = regexp.MustCompile(`--\s*!?(?:>|&gt;)`)
	commentWord = regexp.MustCompile(`^[^a-z0-9]*[a-z0-9]+`)
	tagID       = regexp.MustCompile(`^\s*:?([^<>\n]*?)\s*(?:-+\s*!?\s*(?:>|&gt;)|[\])}%>]|\n|$)`)
)

// findTags lists the tags of a text in their order, and the comments that are
// none.
func findTags(text string) (tags []tag, comments []comment) {
	if !strings.ContainsAny(text, "<[%&＜﹤‹〈⟨〈") {
		return nil, nil
	}
	f := foldMarks(text)
	taken := map[int]bool{} // folded positions at which a tag begins
	next := make([][]int, len(tagLike))
	words := strings.Contains(f.text, "gm") || strings.Contains(f.text, "secret")
	for at := 0; words && at < len(f.text); {
		m := f.nextTag(next, at)
		if m == nil {
			break
		}
		taken[m[0]] = true
		t := f.tag(text, m)
		tags = append(tags, t)
		for at = m[5]; at < len(f.text) && f.at[at] < t.to; {
			at++
		}
	}
	return tags, f.comments(taken)
}

// nextTag finds the first tag-like from a position, as a match with its two
// groups. next remembers for each form where it stands next, so that a text is
// read once however many tags it has.
func (f folded) nextTag(next [][]int, at int) (first []int) {
	for i, like := range tagLike {
		if next[i] == nil || next[i][0] >= 0 && next[i][0] < at {
			next[i] = []int{-1}
			if m := like.FindStringSubmatchIndex(f.text[at:]); m != nil {
				for k := range m {
					m[k] += at
				}
				next[i] = m
			}
		}
		if m := next[i]; m[0] >= 0 && (first == nil || m[0] < first[0]) {
			first = m
		}
	}
	return first
}

// tag judges one place: written as the house does it, or doubtful.
func (f folded) tag(text string, m []int) tag {
	from := f.at[m[0]]
	here := text[from:min(from+maxTag, len(text))]
	if g := gmTag.FindStringSubmatch(here); g != nil {
		return tag{from: from, to: from + len(g[0]), gm: true, closes: g[1] == "/"}
	}
	if g := secretTag.FindStringSubmatch(here); g != nil {
		return tag{from: from, to: from + len(g[0]), closes: g[2] == "/", id: strings.ToLower(g[1])}
	}
	before, word := f.text[m[2]:m[3]], f.text[m[4]:m[5]]
	t := tag{from: from, to: f.at[m[5]], gm: word == "gm",
		closes: strings.ContainsAny(before, `/\`) || strings.Contains(before, "end")}
	t.doubt = "is no tag as they are written, <!-- gm -->…<!-- /gm --> and <!-- secret:id -->…<!-- /secret -->"
	if id := tagID.FindStringSubmatch(f.text[m[5]:min(m[5]+maxTag, len(f.text))]); id != nil {
		if t.to = f.at[m[5]+len(id[0])]; strings.HasSuffix(id[0], "\n") {
			t.to--
		}
		if !t.gm {
			t.id = strings.Join(words(id[1]), "-")
		}
	}
	return t
}

// comment is a comment that is no tag. What its writer hid from the page is
// hidden from players.
type comment struct {
	from, to int
	word     string // its first
	closes   bool   // it begins with a slash
	open     bool   // it has no end, or another begins before it
}

func (f folded) comments(taken map[int]bool) []comment {
	var out []comment
	ends := commentEnd.FindAllStringIndex(f.text, -1)
	places := commentLike.FindAllStringIndex(f.text, -1)
	for i, m := range places {
		if taken[m[0]] {
			continue
		}
		c := comment{from: f.at[m[0]], to: f.at[len(f.text)], open: true}
		for len(ends) > 0 && ends[0][1] <= m[0]+4 { // behind <!--
			ends = ends[1:]
		}
		if len(ends) > 0 && (i+1 == len(places) || places[i+1][0] >= ends[0][1]) {
			c.to, c.open = f.at[ends[0][1]], false
		}
		if w := commentWord.FindString(f.text[m[1]:min(m[1]+maxTag, len(f.text))]); w != "" {
			c.word = strings.TrimLeftFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
			c.closes = strings.ContainsAny(strings.TrimSuffix(w, c.word), `/\`)
		}
		if out = append(out, c); c.open {
			break // nothing behind it is read
		}
	}
	return out
}

// folded is a text as a person reads it, in small ASCII letters where there are
// such: without what cannot be seen, full-width and foreign look-alikes as what
// they look like.
type folded struct {
	text string
	at   []int // for each byte where it stood, and the length at the end
}

func foldMarks(text string) folded {
	b := make([]byte, 0, len(text))
	at := make([]int, 0, len(text)+1)
	for i, r := range text {
		before := len(b)
		if 0x20 <= r && r < 0x7f || r == '\n' || r == '\t' {
			b = append(b, lowerByte(byte(r)))
		} else {
			b = append(b, foldMark(r)...)
		}
		for range len(b) - before {
			at = append(at, i)
		}
	}
	return folded{string(b), append(at, len(text))}
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// lookAlikes are the letters of our tags in other alphabets, and their signs.
var lookAlikes = func() map[rune]string {
	m := map[rune]string{}
	for to, from := range map[string]string{
		"s": "ѕЅꜱ", "e": "еЕεΕℯ", "c": "сСϲϹ", "r": "гᴦʀ", "t": "тТτΤᴛ", "g": "ɡԌԍɢ", "m": "мМΜᴍ", "o": "оОοΟ",
		"<": "＜﹤‹〈⟨〈", ">": "＞﹥›〉⟩〉", "!": "！﹗ǃ", "/": "／⁄∕", ":": "：︰∶꞉﹕", "[": "［", "]": "］", "-": "−─━",
	} {
		for _, r := range from {
			m[r] = to
		}
	}
	return m
}()

func foldMark(r rune) string {
	if s, ok := lookAlikes[r]; ok {
		return s
	}
	switch {
	case unicode.IsSpace(r) || unicode.Is(unicode.Z, r):
		return " "
	case unicode.In(r, unicode.C, unicode.M) || r == '\u3164' || r == '\u115f' || r == '\uffa0':
		return "" // it is not seen
	case unicode.Is(unicode.Pd, r):
		return "-"
	case '！' <= r && r <= '～':
		return string(lowerByte(byte(r - '！' + '!')))
	}
	if s, ok := foldTable()[r]; ok {
		return s
	}
	return string(unicode.ToLower(r))
}
