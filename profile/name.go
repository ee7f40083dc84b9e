package profile

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// maxName is the length of a skin name or a theme, in characters.
const maxName = 64

// problem is what is wrong with one value: a rule, the reason and the way out.
type problem struct{ rule, message, fix string }

// CheckSkinName tells why a text cannot be a skin name, or returns nil. A skin
// name becomes a file name, a heading and a speaker tag.
func CheckSkinName(name string) error {
	if p := checkName("skin-name", name); p != nil {
		return fmt.Errorf("skin name %q: %s; %s", name, p.message, p.fix)
	}
	return nil
}

// forbidden is what the file systems of this world, or a speaker tag, give
// another meaning.
const forbidden = `/\:*?"<>|()`

func checkName(key, name string) *problem {
	if name == "" {
		return &problem{key + "-missing", key + " is empty", "write a name, at most 64 characters"}
	}
	if n := utf8.RuneCountInString(name); n > maxName {
		return &problem{key + "-length", fmt.Sprintf("%s has %d characters", key, n), "shorten it to at most 64"}
	}
	for _, r := range name {
		switch {
		case r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029:
			return &problem{key + "-line-break", key + " has a line break in it", "write it on one line"}
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs):
			return &problem{key + "-control", fmt.Sprintf("%s holds the invisible character U+%04X", key, r),
				"type the name afresh instead of pasting it"}
		case key == "skin-name" && strings.ContainsRune(forbidden, r):
			return &problem{key + "-character",
				fmt.Sprintf("skin-name holds %q, and it becomes part of file names and speaker tags", r), "leave out all of " + forbidden}
		}
	}
	switch {
	case strings.HasPrefix(name, "."):
		return &problem{key + "-dot", key + " begins with a dot", "begin with a letter"}
	case strings.TrimSpace(name) != name:
		return &problem{key + "-space", key + " begins or ends with a space", "remove the space"}
	}
	return nil
}

// emojiError tells why a text cannot be a profile's emoji, or returns nil.
func emojiError(emoji string) error {
	if p := checkEmoji(emoji); p != nil {
		return fmt.Errorf("emoji %q: %s; %s", emoji, p.message, p.fix)
	}
	return nil
}

// IsEmoji says whether a text is one emoji, as a profile may have it.
func IsEmoji(text string) bool { return checkEmoji(text) == nil }

// maxEmoji bounds one cluster: the longest real ones (families, flags of
// regions) have fewer code points.
const maxEmoji = 16

func checkEmoji(emoji string) *problem {
	fix := "write one emoji, for example 🗡️"
	switch n := uniseg.GraphemeClusterCount(emoji); {
	case n == 0:
		return &problem{"emoji-count", "emoji is empty", "write one emoji, or leave the key out"}
	case n > 1:
		return &problem{"emoji-count", fmt.Sprintf("emoji holds %d characters", n), fix}
	case utf8.RuneCountInString(emoji) > maxEmoji:
		return &problem{"emoji-kind", "emoji is one character piled up from too many marks", fix}
	}
	if !isEmoji([]rune(emoji)) {
		return &problem{"emoji-kind", fmt.Sprintf("emoji %q is not an emoji", emoji), fix}
	}
	return nil
}
