package quest

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"conclave/policy"
)

// conversationTrace is the part of a conversation that betrays it. What it
// quotes – code in fences, block quotes, code spans, a change that the person
// pasted – is most often the work itself, and the work is no secret. Of a conversation with an evaluator the
// opening message is left out too: it repeats the expectation, and the next
// checkpoint may well expect the same.
func conversationTrace(t Transcript) []byte {
	data := t.Data
	_, exchange, ok := bytes.Cut(data, []byte("\n"+exchangeHeading))
	if !ok {
		return unquoted(data)
	}
	if t.Kind == policy.ConversationGuardian || t.Kind == policy.ConversationDragon {
		return withoutQuotes(afterOpening(exchange), quoting{evidence: true})
	}
	return unquoted(exchange)
}

// afterOpening drops everything up to the first speaker that is not the
// person. A person's message that forges such a tag only makes the trace
// longer.
func afterOpening(exchange []byte) []byte {
	rest := exchange
	for {
		i := bytes.Index(rest, []byte("\n**"))
		if i < 0 {
			return nil
		}
		line, _, _ := bytes.Cut(rest[i+1:], []byte("\n"))
		if !bytes.HasPrefix(line, []byte("**User:**")) && bytes.Contains(line, []byte(":**")) {
			return rest[i+1:]
		}
		rest = rest[i+1:]
	}
}

// unquoted is a Markdown text without fenced code, block quotes, code spans
// and the changes that the person pasted. Prose in a fence stays: a fence is
// no place to say in what may not be said. Lines stay lines, so that nothing is
// joined that stood apart.
func unquoted(data []byte) []byte { return withoutQuotes(data, quoting{}) }

func withoutQuotes(data []byte, q quoting) []byte {
	var b bytes.Buffer
	for line := range bytes.Lines(data) {
		if q.quoted(strings.TrimRight(string(line), "\r\n")) {
			b.WriteByte('\n')
		} else {
			b.Write(withoutSpans(line))
		}
	}
	return b.Bytes()
}

// quoting knows where in a text a line stands.
type quoting struct {
	fence, language string
	person          bool // whose words these are
	hunk            int  // lines of a pasted change that are still to come
	evidence        bool // what is fenced here comes from the work, prose too
}

func (q *quoting) quoted(line string) bool {
	text := strings.TrimSpace(line)
	mark := fenceMark(text)
	if q.fence == "" && strings.HasPrefix(text, "**") && strings.Contains(text, ":**") {
		q.person = strings.HasPrefix(text, "**User:**")
	}
	switch {
	case q.fence != "" && strings.HasPrefix(mark, q.fence) && strings.Trim(text, mark[:1]) == "":
		q.fence = ""
		return true
	case q.fence != "":
		return q.evidence || !isProse(text, q.language)
	case mark != "":
		q.fence, q.language = mark, strings.ToLower(strings.Trim(text, mark[:1]+" "))
		return true
	}
	return q.inHunk(line) || strings.HasPrefix(text, ">")
}

var hunkHead = regexp.MustCompile(`^(?:\*\*User:\*\* )?@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// inHunk reports whether a line belongs to a change in the form of diff. Such
// a one quotes the project, to which it belongs.
func (q *quoting) inHunk(line string) bool {
	if m := hunkHead.FindStringSubmatch(line); m != nil && q.person {
		q.hunk = count(m[1]) + count(m[2])
		return true
	}
	if q.hunk <= 0 || line != "" && !strings.ContainsRune("+- \\", rune(line[0])) {
		q.hunk = 0
		return false
	}
	q.hunk--
	if line == "" || line[0] == ' ' {
		q.hunk-- // it stands on both sides
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

// isProse tells what somebody said in a fence from what they quoted there or
// propose: most of a sentence's words are nothing but letters, and in what is
// marked as a language the small words that programs lack must be there too.
func isProse(text, language string) bool {
	words := strings.Fields(text)
	if len(words) < 5 || strings.HasPrefix(text, "//") || strings.HasPrefix(text, "#") || language == "diff" || language == "patch" {
		return false
	}
	letters, small := 0, 0
	for _, w := range words {
		bare := strings.Trim(w, `.,;:!?'"()–—-…`)
		if bare != "" && !strings.ContainsFunc(bare, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '\'' && r != '’' }) {
			letters++
		}
		if smallWords[strings.ToLower(bare)] {
			small++
		}
	}
	plain := language == "" || language == "text" || language == "txt" || language == "md" || language == "markdown"
	return letters*5 >= len(words)*4 && (plain || small >= 2)
}

var smallWords = map[string]bool{"the": true, "a": true, "an": true, "of": true, "to": true, "was": true, "it": true, "we": true, "that": true,
	"this": true, "because": true, "should": true, "would": true, "but": true, "they": true, "you": true, "i": true, "our": true}

func fenceMark(text string) string {
	for _, c := range []string{"`", "~"} {
		if strings.HasPrefix(text, c+c+c) {
			return text[:len(text)-len(strings.TrimLeft(text, c))]
		}
	}
	return ""
}

func withoutSpans(line []byte) []byte {
	var out []byte
	for {
		before, rest, ok := bytes.Cut(line, []byte("`"))
		out = append(out, before...)
		if !ok {
			return out
		}
		_, after, closed := bytes.Cut(rest, []byte("`"))
		if !closed {
			return append(out, rest...)
		}
		// The mark between two words that stood around the span keeps them from
		// becoming neighbours.
		out = append(out, " … "...)
		line = after
	}
}
