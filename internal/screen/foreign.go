package screen

import (
	"bytes"
	"unicode/utf8"
)

// own are the sequences that the program writes itself, and what a terminal
// makes of a line's end.
var own = [][]byte{[]byte(reset), []byte(bold), []byte(dim), []byte(red), []byte(green), []byte(italic), []byte(clearLine),
	[]byte(clearAll), []byte("\r\n")}

// Foreign finds in what a terminal received everything that this package would
// have shown: the offsets of characters and bytes that are not the program's
// own. Foreign text in the program's own few colours is not found, so a test
// plants others.
func Foreign(output []byte) []int {
	var found []int
	prev := rune(0)
next:
	for i := 0; i < len(output); {
		for _, s := range own {
			if bytes.HasPrefix(output[i:], s) {
				if s[len(s)-1] == '\n' {
					prev = 0
				}
				i += len(s)
				continue next
			}
		}
		r, size := utf8.DecodeRune(output[i:])
		after, _ := utf8.DecodeRune(output[i+size:])
		switch {
		case r == utf8.RuneError && size == 1, !ordinary(prev, r, after):
			found = append(found, i)
			prev = 0
		default:
			prev = r
		}
		i += size
	}
	return found
}

func ordinary(prev, r, next rune) bool {
	return r == '\n' || r == '\t' || r >= ' ' && r < 0x7f || r > 0x7f && harmless(prev, r, next)
}

// PasteBegins and PasteEnds are the marks that a terminal puts around what is
// pasted, where it was asked to.
const (
	PasteBegins = "\x1b[200~"
	PasteEnds   = "\x1b[201~"
)
