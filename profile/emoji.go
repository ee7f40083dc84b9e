package profile

import "unicode"

// isEmoji says whether the runes of one cluster are an emoji, by the grammar of
// Unicode's Technical Standard 51: a keycap (*️⃣), a flag of two regional letters
// or of tags, or pictures joined by U+200D, each with a skin tone or the selector
// that asks for a picture (ℹ️).
func isEmoji(runes []rune) bool {
	if n := len(runes); runes[n-1] == keycapMark {
		return isKeycapBase(runes[0]) && (n == 2 || n == 3 && runes[1] == asPicture)
	}
	if len(runes) == 2 && isRegional(runes[0]) && isRegional(runes[1]) {
		return true
	}
	base := true // a picture is due, and not what follows one
	for _, r := range runes {
		switch {
		case base && isPicture(r):
			base = false
		case base:
			return false
		case r == joiner:
			base = true
		case r != asPicture && r != asText && !isSkinTone(r) && !isTag(r):
			return false
		}
	}
	return !base
}

const (
	joiner     = 0x200d
	asText     = 0xfe0e
	asPicture  = 0xfe0f
	keycapMark = 0x20e3
)

func isKeycapBase(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }
func isRegional(r rune) bool   { return r >= 0x1f1e6 && r <= 0x1f1ff }
func isSkinTone(r rune) bool   { return r >= 0x1f3fb && r <= 0x1f3ff }
func isTag(r rune) bool        { return r >= 0xe0020 && r <= 0xe007f }

// isPicture is Unicode's property Emoji. Beyond the first plane it is taken by
// the block, so that next year's are emoji too; those of the first plane are all
// there are. Other symbols were admitted before and still are.
func isPicture(r rune) bool {
	if isRegional(r) {
		return false
	}
	return r >= 0x1f000 && r <= 0x1fbff || unicode.Is(firstPlane, r) || unicode.Is(unicode.So, r)
}

// firstPlane has the emoji of the first plane that are not in the category So,
// which has the others: ‼, ⁉, ℹ, arrows, ◻ to ◾, 〰, 〽.
var firstPlane = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x203c, Hi: 0x203c, Stride: 1}, {Lo: 0x2049, Hi: 0x2049, Stride: 1}, {Lo: 0x2139, Hi: 0x2139, Stride: 1},
	{Lo: 0x2190, Hi: 0x21ff, Stride: 1}, {Lo: 0x25fb, Hi: 0x25fe, Stride: 1}, {Lo: 0x2900, Hi: 0x297f, Stride: 1},
	{Lo: 0x3030, Hi: 0x3030, Stride: 1}, {Lo: 0x303d, Hi: 0x303d, Stride: 1},
}}
