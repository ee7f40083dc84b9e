package quest

import (
	"bytes"
	"strings"

	"conclave/policy"
)

// conversationTrace is the part of a conversation that betrays it. What it
// quotes – code in fences, block quotes, code spans – is most often the work
// itself, and the work is no secret. Of a conversation with an evaluator the
// opening message is left out too: it repeats the expectation, and the next
// checkpoint may well expect the same.
func conversationTrace(t Transcript) []byte {
	data := t.Data
	_, exchange, ok := bytes.Cut(data, []byte("\n"+exchangeHeading))
	if !ok {
		return unquoted(data)
	}
	if t.Kind == policy.ConversationGuardian || t.Kind == policy.ConversationDragon {
		exchange = afterOpening(exchange)
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

// unquoted is a Markdown text without fenced code, block quotes and code
// spans. Lines stay lines, so that nothing is joined that stood apart.
func unquoted(data []byte) []byte {
	var b bytes.Buffer
	fence := ""
	for line := range bytes.Lines(data) {
		text := strings.TrimSpace(string(line))
		switch mark := fenceMark(text); {
		case fence != "" && mark != "" && strings.HasPrefix(mark, fence) && strings.Trim(text, mark[:1]) == "":
			fence = ""
		case fence != "":
		case mark != "":
			fence = mark
		case strings.HasPrefix(text, ">"):
		default:
			b.Write(withoutSpans(line))
			continue
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

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
