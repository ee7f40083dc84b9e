package quest

import (
	"strings"
	"unicode"
)

// isCode tells a line of a program, a table or a log from words: in a sentence
// most words are nothing but letters.
func isCode(text string) bool {
	words := strings.Fields(text)
	if len(words) == 0 {
		return false
	}
	if vocab().statements[words[0]] {
		return true
	}
	letters, capitals := 0, 0
	for _, w := range words {
		bare := strings.Trim(w, `.,;:!?'"()–—-…*_>#/“”„‘’«»`)
		if !strings.ContainsFunc(bare, func(r rune) bool { return !unicode.IsLetter(r) && !strings.ContainsRune("-'’", r) }) {
			letters++
		}
		if len(bare) > 1 && strings.ToUpper(bare) == bare && strings.ToLower(bare) != bare {
			capitals++
		}
	}
	return capitals >= 2 && capitals*2 >= len(words) || letters*5 < len(words)*4 || strings.HasSuffix(text, "{") || strings.HasSuffix(text, ";")
}

// smallWords counts the words that sentences have and programs lack.
func smallWords(text string) int {
	n := 0
	for w := range strings.FieldsSeq(plainWords(text)) {
		if vocab().small[w] {
			n++
		}
	}
	return n
}

// isComment says whether a line of a program is one for people.
func isComment(text string) bool {
	for _, mark := range []string{"//", "#", "--", ";", "%", "*", "/*", `"""`, "'''", "<!--"} {
		if strings.HasPrefix(text, mark) {
			return true
		}
	}
	return false
}

func fenceMark(text string) string {
	for _, c := range []string{"`", "~"} {
		if strings.HasPrefix(text, c+c+c) {
			return text[:len(text)-len(strings.TrimLeft(text, c))]
		}
	}
	return ""
}
