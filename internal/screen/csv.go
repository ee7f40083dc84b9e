package screen

import (
	"strings"
	"unicode"
)

// Cell is foreign text as a cell of CSV: what a spreadsheet would take for a
// formula, also behind blanks, quotes and what nobody sees, gets an apostrophe.
func Cell(text string) string {
	start := strings.TrimLeftFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || r == '"' || r == '\'' || r < ' ' || r > 0x7e && !harmless(0, r, 0)
	})
	if text != "" && (text[0] == '\t' || text[0] == '\r') {
		return "'" + text
	}
	for _, sign := range []string{"=", "+", "-", "@", "＝", "＋", "－", "＠", "﹢", "﹣", "﹦", "﹫", "−"} {
		if strings.HasPrefix(start, sign) {
			return "'" + text
		}
	}
	return text
}
