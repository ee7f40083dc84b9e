package offline

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// said are the last words of a message: those of the person.
func said(text string) string {
	i := strings.LastIndex(text, "\n\n")
	return text[i+1:]
}

var sheetField = regexp.MustCompile(`^\*{0,2}([^:*]{1,40}?)\*{0,2}:\*{0,2}\s+(.+)$`)

// chat answers from the sheet: with what of it is nearest to the question, and
// never with what stands under a heading or a name that speaks of secrets. It
// invents nothing, and says so when the sheet is silent.
func chat(sheet, question string) string {
	asked := contentWords(question)
	best, most := "", 0
	for _, line := range openLines(sheet) {
		shared := 0
		for _, w := range contentWords(line) {
			if slices.Contains(asked, w) {
				shared++
			}
		}
		if shared > most {
			best, most = line, shared
		}
	}
	if best == "" {
		return "I would rather listen. (My sheet says nothing about that, and without a model I have nothing else to go by.)"
	}
	if m := sheetField.FindStringSubmatch(best); m != nil && len(contentWords(m[1])) <= 3 {
		best = m[2]
	}
	return "It is written of me: " + best
}

// openLines are the lines of a sheet that are no secret. What the character
// says in play is for play.
func openLines(sheet string) []string {
	var out []string
	secret := 0 // the level of the heading that hides what follows
	for line := range strings.SplitSeq(sheet, "\n") {
		bare := strings.TrimSpace(line)
		level := len(bare) - len(strings.TrimLeft(bare, "#"))
		low := strings.ToLower(bare)
		hides := strings.Contains(low, "secret") || level > 0 && strings.Contains(low, "own words")
		switch {
		case level > 0 && secret > 0 && level > secret:
		case level > 0:
			secret = 0
			if hides {
				secret = level
			}
		case bare == "" || secret > 0 || hides:
		default:
			out = append(out, strings.TrimPrefix(strings.TrimPrefix(bare, "- "), "* "))
		}
	}
	return out
}

// contentWords are the words of a text that mean something, in small letters.
func contentWords(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len(w) > 3 && !slices.Contains(common, w) {
			out = append(out, w)
		}
	}
	return out
}

var common = strings.Fields("about what your have with from that this they them when where would could should there " +
	"their were been does will tell think know like just some into over than then only very much more")
