package quest

import (
	"bytes"
	"strings"

	"conclave/profile"
)

// A message may hold anything, also a line that reads like the file's own: the
// heading of a section, or the tag of a speaker. Such a line gets a backslash
// in front, which Markdown takes for "as it is written", and one that has some
// already gets one more, so that Spoken can take it away again. All other lines
// stand as they were said.

// sections are the headings of a conversation file.
var sections = []string{"## Conversation Transcript", "### Context", exchangeHeading, outcomeHeading}

// speakers are the tags that a conversation has beside those of any cast.
type speakers []string

func (c Conversation) speakers() (s speakers) {
	for _, m := range c.Exchange {
		s = append(s, m.Speaker)
	}
	return s
}

// isTag says whether a text can stand for a speaker at all.
func isTag(text string) bool {
	name, ok := strings.CutPrefix(text, "**")
	return ok && strings.HasSuffix(name, ":**") && !strings.ContainsAny(name, "\r\n")
}

// cutTag finds a speaker's tag at the beginning of a line.
func (s speakers) cutTag(line string) (tag, rest string, ok bool) {
	if !strings.HasPrefix(line, "**") {
		return "", "", false
	}
	if tag, rest, ok = profile.CutTag(line); ok {
		return tag, rest, true
	}
	for _, tag := range s {
		if rest, ok := strings.CutPrefix(line, tag); ok {
			return tag, rest, true
		}
	}
	return "", "", false
}

// own says whether a line reads like the file's own, and where its text
// begins; backslashes before it do not count.
func (s speakers) own(line string) (at int, yes bool) {
	text := strings.TrimLeft(line, " \t")
	at = len(line) - len(text)
	text = strings.TrimLeft(text, `\`)
	if _, _, ok := s.cutTag(text); ok {
		return at, true
	}
	if !strings.HasPrefix(text, "#") {
		return at, false
	}
	text = strings.Join(strings.Fields(strings.TrimRight(text, "# \t\r\n")), " ")
	for _, heading := range sections {
		if strings.EqualFold(text, heading) {
			return at, true
		}
	}
	return at, false
}

// eachLine calls change for every line of a text, its end included, and puts
// what it returns together. A return ends a line too: to Markdown it does.
func eachLine(text string, change func(line string) string) string {
	var b strings.Builder
	for text != "" {
		end := strings.IndexAny(text, "\r\n") + 1
		if end == 0 {
			end = len(text)
		}
		b.WriteString(change(text[:end]))
		text = text[end:]
	}
	return b.String()
}

// guard puts the backslashes in; the first line of a message stands behind its
// speaker's tag and needs none.
func (s speakers) guard(text string, message bool) string {
	return eachLine(text, func(line string) string {
		at, yes := s.own(line)
		if yes && !message {
			line = line[:at] + `\` + line[at:]
		}
		message = false
		return line
	})
}

// unguard takes them out again.
func (s speakers) unguard(text string, message bool) string {
	return eachLine(text, func(line string) string {
		at, yes := s.own(line)
		if yes && !message && line[at] == '\\' {
			line = line[:at] + line[at+1:]
		}
		message = false
		return line
	})
}

// spoken reads the exchange and the outcome of a rendered conversation back.
func (s speakers) spoken(file []byte) (exchange []Message, outcome string) {
	_, body, _ := bytes.Cut(file, []byte("\n"+exchangeHeading+"\n\n"))
	text := string(body)
	for text != "" {
		if rest, ok := strings.CutPrefix(text, outcomeHeading+"\n\n"); ok {
			return exchange, s.unguard(strings.TrimSuffix(rest, "\n"), false)
		}
		tag, rest, ok := s.cutTag(text)
		if !ok {
			return exchange, ""
		}
		end := s.messageEnd(rest)
		exchange = append(exchange, Message{tag, s.unguard(strings.TrimPrefix(rest[:end], " "), true)})
		text = strings.TrimPrefix(rest[end:], "\n\n")
	}
	return exchange, ""
}

// messageEnd finds where a message ends: before the two line breaks that stand
// before the next tag, the outcome or the end of the file.
func (s speakers) messageEnd(text string) int {
	for at := 0; ; {
		i := strings.Index(text[at:], "\n\n")
		if i < 0 {
			return max(0, len(text)-2)
		}
		at += i
		next := text[at+2:]
		if _, _, tagged := s.cutTag(next); next == "" || tagged || strings.HasPrefix(next, outcomeHeading+"\n") {
			return at
		}
		at++
	}
}
