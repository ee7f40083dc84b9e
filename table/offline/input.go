package offline

import (
	"regexp"
	"slices"
	"strings"
)

// input is a message of the engine, taken apart.
type input struct {
	header  map[string]string
	body    string
	answers []answer
	speaker string   // a person who says something now
	words   []string // what they say
}

type answer struct{ who, kind, text string }

var wordsLine = regexp.MustCompile(`^<<< words from ([a-z0-9-]+),`)

var answerLine = regexp.MustCompile(`^Answer of ([a-z0-9-]+)(?: \([A-Z_]+\))?: (\w+)`)

func parse(text string) input {
	in := input{header: map[string]string{}}
	head, body, _ := strings.Cut(text, "\n\n")
	for line := range strings.SplitSeq(head, "\n") {
		if k, v, ok := strings.Cut(line, ": "); ok {
			in.header[k] = strings.TrimSpace(v)
		}
	}
	in.body = body
	quoting := false
	var current *answer
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case line == "# Now": // what was quoted before was said before
			in.words = nil
		case strings.HasPrefix(line, "<<< "):
			quoting = true
			if m := wordsLine.FindStringSubmatch(line); m != nil {
				in.speaker = m[1]
			}
		case strings.HasPrefix(line, ">>> "):
			quoting, current = false, nil
		case quoting && strings.HasPrefix(line, ">"):
			quoted := strings.TrimPrefix(strings.TrimPrefix(line, ">"), " ")
			if current != nil {
				current.text += quoted + "\n"
			} else {
				in.words = append(in.words, quoted)
			}
		default:
			if m := answerLine.FindStringSubmatch(line); m != nil {
				in.answers = append(in.answers, answer{who: m[1], kind: m[2]})
				current = &in.answers[len(in.answers)-1]
			}
		}
	}
	return in
}

var rosterLine = regexp.MustCompile(`(?m)^- ([a-z0-9-]+) · [^·\n]+ · present(?: · ([^\n]+))?$`)

// company is who is at the table, present, and not held by a person.
func (in input) company() []string {
	var who []string
	for _, m := range rosterLine.FindAllStringSubmatch(in.body, -1) {
		if !strings.Contains(m[2], "person") && !slices.Contains(who, m[1]) {
			who = append(who, m[1])
		}
	}
	return who
}

// section is the text under a heading of any level, up to the next one of that
// level.
func section(text, heading string) string {
	var out []string
	level := 0
	for line := range strings.SplitSeq(text, "\n") {
		n := len(line) - len(strings.TrimLeft(line, "#"))
		switch {
		case n > 0 && level == 0 && strings.EqualFold(strings.TrimSpace(line[n:]), heading):
			level = n
		case n > 0 && level > 0 && n <= level:
			return strings.TrimSpace(strings.Join(out, "\n"))
		case level > 0:
			out = append(out, line)
		}
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

// bullets are the items of a list.
func bullets(text string) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if item, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok {
			out = append(out, item)
		}
	}
	return out
}
