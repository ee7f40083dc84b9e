package markdown

import "strings"

// joiner is the word joiner U+2060: nothing is shown, and no word goes on behind
// it.
const joiner = "\u2060"

// Plain is foreign text as one line of a Markdown document that is read as
// nothing but text, wherever in a line it stands, by readers of CommonMark and by
// those who look for names, numbers of issues and addresses afterwards (GitHub,
// GitLab): no HTML, no link, no mention, no list, no cell of a table. Every mark is
// escaped; where a mark could begin a reference, a joiner that nobody sees comes
// between it and the word.
func Plain(text string) string {
	var b strings.Builder
	text = strings.Join(strings.Fields(Clean(text)), " ")
	for i := 0; i < len(text); i++ {
		c := text[i]
		if isMark(text[:i], c) {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
		if i+1 < len(text) && text[i+1] != ' ' && (strings.IndexByte("@#!~%&$:", c) >= 0 || isWWW(text[:i+1])) {
			b.WriteString(joiner)
		}
	}
	return b.String()
}

// isMark says whether a byte may be escaped, which all marks of ASCII may, and
// has to be: some are nothing but text, others where a word stands before them.
func isMark(before string, c byte) bool {
	switch c {
	case ',', '\'', '"', '/', ';', '?', '(':
		return false
	case '.', ')': // of a numbered list
		return strings.Trim(before, "0123456789") == ""
	case '-':
		return before == "" || before[len(before)-1] < '0' || isMark("", before[len(before)-1])
	}
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

func isWWW(text string) bool { return len(text) >= 3 && strings.EqualFold(text[len(text)-3:], "www") }
