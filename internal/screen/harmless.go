package screen

import (
	"slices"
	"unicode"
)

// Joiners and selectors that scripts and pictures use.
const (
	zeroWidthNonJoiner = 0x200c
	zeroWidthJoiner    = 0x200d
	textSelector       = 0xfe00 // to fe0f, which asks for a picture
	pictureSelector    = 0xfe0f
	rareSelector       = 0xe0100 // to e01ef
	lastRareSelector   = 0xe01ef
	keycap             = 0x20e3
)

// visibleFormat are format characters that are drawn.
var visibleFormat = []rune{0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6dd, 0x70f, 0x890, 0x891, 0x8e2, 0x110bd, 0x110cd}

// invisible are letters, marks and others that nobody sees, beside the format
// characters.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x034f, 0x034f, 1}, {0x115f, 0x1160, 1}, {0x17b4, 0x17b5, 1}, {0x180b, 0x180f, 1}, {0x2028, 0x2029, 1},
		{0x2065, 0x2065, 1}, {0x3164, 0x3164, 1}, {0xfdd0, 0xfdef, 1}, {0xffa0, 0xffa0, 1}, {0xfff0, 0xfff8, 1}, {0xfffe, 0xffff, 1},
	},
	R32: []unicode.Range32{{0xe0000, 0xe0fff, 1}, {0x10fffe, 0x10ffff, 1}},
}

// unjoined are the scripts in which no joiner means anything.
var unjoined = []*unicode.RangeTable{
	unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Armenian, unicode.Georgian, unicode.Hebrew,
	unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo,
}

// depends says whether a rune is judged by the one after it.
func depends(r rune) bool {
	return r == zeroWidthJoiner || r == zeroWidthNonJoiner || r == pictureSelector
}

// harmless says whether a rune beyond ASCII may stand as it is between two
// others: it steers nothing, reorders nothing and hides nothing.
func harmless(prev, r, next rune) bool {
	switch {
	case r < 0xa0: // C0, DEL and C1; what is plain ASCII does not come here
		return false
	case r == zeroWidthJoiner || r == zeroWidthNonJoiner:
		return joins(prev) && joins(next)
	case r >= textSelector && r <= pictureSelector:
		return picture(prev) || unicode.Is(unicode.Han, prev) || r == pictureSelector && next == keycap && keyed(prev)
	case r >= rareSelector && r <= lastRareSelector:
		return unicode.Is(unicode.Han, prev)
	case unicode.Is(invisible, r):
		return false
	case unicode.Is(unicode.Cf, r):
		return drawn(r)
	case unicode.In(r, unicode.Mn, unicode.Me):
		return prev > ' ' // a mark needs something of its own to stand on
	}
	return true
}

func drawn(r rune) bool { return slices.Contains(visibleFormat, r) }

// joins says whether a joiner beside r can mean something.
func joins(r rune) bool {
	if picture(r) || r == pictureSelector || unicode.Is(unicode.Sk, r) && r > 0x1f000 {
		return true
	}
	return (unicode.IsLetter(r) || unicode.IsMark(r)) && r > 0x7f && !unicode.In(r, unjoined...)
}

func picture(r rune) bool { return r > 0x7f && unicode.In(r, unicode.So, unicode.Sm) }

func keyed(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }
