package profile

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// UserTag is the speaker tag of the person.
const UserTag = "**User:**"

// Face is how a member of the cast appears: the archetype, in its skin if it
// wears one. Everything that shows a name gets it from a Face.
type Face struct {
	Archetype Archetype
	Skin      string // the skin name exactly, or empty
	emoji     string
}

// NewFace dresses an archetype. A nil profile, or one of another archetype,
// leaves it undressed.
func NewFace(a Archetype, p *Profile) Face {
	f := Face{Archetype: a}
	if p != nil && p.Archetype == a.ID {
		f.Skin, f.emoji = p.SkinName, p.Emoji
	}
	return f
}

// Name is the name it speaks under: The Rogue, or Cat.
func (f Face) Name() string {
	return cmp.Or(f.Skin, f.Archetype.Title)
}

// Called is the name within a sentence: The Rogue, or the Cat; Gandalf and Simon
// are names of their own.
func (f Face) Called() string {
	switch f.Archetype.ID {
	case "gandalf", "simon":
		return f.Name()
	}
	return cmp.Or(f.Skin, "the "+f.Archetype.Title)
}

// Emoji is the profile's emoji, or the archetype's.
func (f Face) Emoji() string {
	return cmp.Or(f.emoji, f.Archetype.emoji)
}

// Tag is the speaker tag in a transcript: **🗡️ The Rogue:**
func (f Face) Tag() string { return "**" + f.Emoji() + " " + f.Name() + ":**" }

// CutTag finds the tag of a speaker, the person or anybody of a cast, at the
// beginning of a line.
func CutTag(line string) (tag, rest string, ok bool) {
	if rest, ok := strings.CutPrefix(line, UserTag); ok {
		return UserTag, rest, true
	}
	inner, ok := strings.CutPrefix(line, "**")
	if !ok {
		return "", line, false
	}
	if end := strings.IndexAny(inner, "\r\n"); end >= 0 {
		line = inner[:end]
	} else {
		line = inner
	}
	name, _, ok := strings.Cut(line, ":**")
	emoji, called, spaced := strings.Cut(name, " ")
	if !ok || !spaced || called == "" || checkEmoji(emoji) != nil {
		return "", "**" + inner, false
	}
	end := len("**") + len(name) + len(":**")
	return ("**" + inner)[:end], inner[end-len("**"):], true
}

// MenuName is the name in menus and headings: The Rogue (Cat), or Cat.
func (f Face) MenuName() string {
	if f.Skin == "" {
		return f.Archetype.Title
	}
	return f.Skin + " (" + f.Archetype.Title + ")"
}

// maxFilePart keeps a file name within the 255 bytes that file systems give:
// 64 characters can be 256 bytes.
const maxFilePart = 160

// FilePart is the skin's part of a conversation's file name: the-rogue. It is
// empty without a skin.
func (f Face) FilePart() string {
	part := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return '-'
		}
		return unicode.ToLower(r)
	}, f.Skin)
	for len(part) > maxFilePart {
		_, n := utf8.DecodeLastRuneInString(part)
		part = part[:len(part)-n]
	}
	return part
}

// Slug is the directory form of a theme: "Family & Parenting" is
// family-parenting. Two themes are the same if their slugs are.
func Slug(theme string) string {
	var b strings.Builder
	gap := false
	for _, r := range theme {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte('-')
		}
		gap = false
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
