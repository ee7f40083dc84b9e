package quest

import (
	"bytes"
	"strings"
	"unicode"

	"conclave/profile"
)

// said is one message of a conversation file.
type said struct {
	span
	person bool
}

// messagesIn finds the messages and the outcome of a conversation file by
// whoever wrote it.
func messagesIn(data []byte) (messages []said, outcome span) {
	head := bytes.Index(data, []byte("\n"+exchangeHeading))
	if head < 0 {
		return nil, span{}
	}
	at := head + 1
	messages = []said{}
	for line := range bytes.Lines(data[at:]) {
		text := strings.TrimRight(string(line), "\r\n")
		if strings.HasPrefix(text, outcomeHeading) {
			return messages, span{at + len(line), len(data)}
		}
		tag, _, ok := profile.CutTag(text)
		if !ok {
			tag, ok = anyTag(text)
		}
		switch {
		case ok:
			messages = append(messages, said{span{at + len(tag), at + len(line)}, tag == profile.UserTag})
		case len(messages) > 0:
			messages[len(messages)-1].to = at + len(line)
		case !strings.HasPrefix(text, exchangeHeading) && strings.TrimSpace(text) != "":
			messages = append(messages, said{span{at, at + len(line)}, false})
		}
		at += len(line)
	}
	return messages, span{len(data), len(data)}
}

// anyTag finds the tag of a speaker that no cast knows: a file by other hands
// may name one without an emoji.
func anyTag(line string) (string, bool) {
	if !strings.HasPrefix(line, "**") {
		return "", false
	}
	name, _, ok := strings.Cut(line[2:], ":**")
	if !ok || name == "" || strings.ContainsAny(name, "*`") || len(strings.Fields(name)) > 4 ||
		!unicode.IsUpper([]rune(name)[0]) {
		return "", false
	}
	for _, a := range profile.Cast() {
		if strings.Contains(name, a.Title) {
			return "**" + name + ":**", true
		}
	}
	return "", false
}
