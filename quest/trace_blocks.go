package quest

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

// speech is how the text of a message is read.
type speech struct {
	manner manner
	person bool // the person speaks
	asked  bool // text for the work was asked for
	page   bool // and where it will stand was said
}

// blocks reads a text block by block: paragraphs, items of lists, quotations,
// fences, changes in the form of diff.
func (t *tracer) blocks(s span, how speech) {
	b := &blockReader{t: t, how: how, par: -1}
	if text := t.data[s.from:s.to]; bytes.Count(text, []byte("\n")) >= pastedLines {
		b.long = true
	}
	at := s.from
	for line := range bytes.Lines(t.data[s.from:s.to]) {
		b.line(span{at, at + len(line)})
		at += len(line)
	}
	b.flush(at)
}

// pastedLines are so many that nobody types them into a conversation.
const pastedLines = 12

type blockReader struct {
	t    *tracer
	how  speech
	long bool // too much to be typed

	par       int    // where the open paragraph began, or -1
	manner    manner // of that paragraph
	quote     bool   // it is a quotation
	count     int    // paragraphs before it
	offer     bool   // the last words announced a text
	list      bool   // an announced list goes on
	announced bool   // the open fence was announced

	fence, language string
	code            bool // the open paragraph is one of comments or code
	hunk            int  // lines of a pasted change that are still to come
}

// usual is the manner of plain words here.
func (b *blockReader) usual() manner {
	switch {
	case b.how.manner != spoken:
		return b.how.manner
	case b.how.person && b.long && b.count > 0:
		return pasted
	case b.offer || b.list || b.how.page:
		return offered
	case b.how.asked, b.how.person && b.count > 0:
		return fenced
	}
	return spoken
}

var item = regexp.MustCompile(`^(?:[-*+•]|\d{1,3}[.)])\s`)

func (b *blockReader) line(s span) {
	line := strings.TrimRight(string(b.t.data[s.from:s.to]), "\r\n")
	text := strings.TrimSpace(line)
	mark := fenceMark(text)
	switch {
	case b.fence != "" && strings.HasPrefix(mark, b.fence) && strings.Trim(text, mark[:1]) == "":
		b.flush(s.from)
		b.fence = ""
	case b.fence != "":
		b.fencedLine(s, text)
	case mark != "":
		b.flush(s.from)
		b.fence, b.language = mark, strings.ToLower(strings.Trim(text, mark[:1]+" "))
		b.announced, b.offer = b.offer, false
	case b.inHunk(line):
		b.flush(s.from)
	case text == "":
		b.flush(s.from)
	case strings.HasPrefix(text, ">"):
		b.begin(s.from, offered, !b.quote)
		b.quote = true
	case strings.HasPrefix(text, "|"), strings.HasPrefix(text, "#"):
		b.begin(s.from, max(fenced, b.usual()), true)
		b.flush(s.to)
	case item.MatchString(text):
		b.flush(s.from)
		if b.offer {
			b.list, b.offer = true, false
		}
		b.begin(s.from, b.usual(), true)
	default:
		if b.par < 0 && line == text {
			b.list = false // a line of its own ends a list; an indented one goes on with it
		}
		code := isCode(text)
		b.begin(s.from, b.usual(), b.quote || code != b.code)
		b.code = code
	}
}

// begin goes on with the open paragraph, or begins a new one.
func (b *blockReader) begin(at int, m manner, anew bool) {
	if anew {
		b.flush(at)
	}
	if b.par < 0 {
		b.par, b.manner = at, m
	}
}

// fencedLine takes a line of a fence: comments and prose go on over lines.
func (b *blockReader) fencedLine(s span, text string) {
	m := offered
	if b.t.words && !isCode(text) && !isComment(text) && (plainFence(b.language) || smallWords(text) >= 2) {
		m = spoken
	} else if plainFence(b.language) && !isCode(text) && !b.announced && !b.how.asked {
		m = fenced
	}
	if b.t.evidence {
		m = silent
	}
	code := isCode(text) && !isComment(text)
	if text == "" || code || b.code || b.par >= 0 && b.manner != m {
		b.flush(s.from)
	}
	if text != "" {
		b.begin(s.from, m, false)
		b.code = code
	}
}

func plainFence(language string) bool {
	switch language {
	case "", "text", "txt", "md", "markdown":
		return true
	}
	return false
}

// flush judges the open paragraph, sentence by sentence.
func (b *blockReader) flush(end int) {
	if b.par < 0 {
		return
	}
	text := string(b.t.data[b.par:end])
	m := b.manner
	if b.quote && (b.t.evidence || b.t.words) || b.t.words && b.fence != "" && m != spoken {
		m = silent
	} else if b.t.words {
		m = spoken
	}
	offer := false
	for _, sentence := range sentences(text) {
		b.t.sentence(span{b.par + sentence.from, b.par + sentence.to}, m)
		said := text[sentence.from:sentence.to]
		offer = b.fence == "" && !b.quote && announces(said, b.how.person)
		if offer && strings.HasSuffix(strings.TrimSpace(said), ":") {
			m = max(m, offered)
		}
	}
	if b.fence == "" {
		b.offer = offer
		b.count++
	}
	b.par, b.quote, b.code = -1, false, false
}

var hunkHead = regexp.MustCompile(`^(?:\*\*User:\*\* )?\s?@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// inHunk reports whether a line belongs to a change in the form of diff. Such
// a one quotes the project, to which it belongs.
func (b *blockReader) inHunk(line string) bool {
	if m := hunkHead.FindStringSubmatch(line); m != nil && b.how.person {
		b.hunk = count(m[1]) + count(m[2])
		return true
	}
	if b.hunk <= 0 || line != "" && !strings.ContainsRune("+- \\", rune(line[0])) {
		b.hunk = 0
		return false
	}
	b.hunk--
	if line == "" || line[0] == ' ' {
		b.hunk-- // it stands on both sides
	}
	return true
}

// count is a number of a hunk's head, which leaves out a one.
func count(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 1
	}
	return n
}
