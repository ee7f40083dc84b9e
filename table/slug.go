package table

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:generate go run genfold.go UnicodeData.txt

// maxSlug is the longest slug in bytes.
const maxSlug = 64

var (
	slugForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	device   = regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)

	reserved = []string{
		"gm", "narrator", "table", "engine", "system", "human", "player", "players", "all", "party",
		"everyone", "none", "narrative", "story-state", "party-knowledge",
	}
	protocolSuffixes = []string{"-journal", "-brief", "-prompt", "-response", "-notes", "-context", "-notes-for"}
)

// SlugError says why a name or a slug cannot be used, and what could be.
type SlugError struct {
	Name    string // as given
	Reason  string
	Suggest string // another slug, or empty
	// Ask is set when letters cannot be spelt in ASCII: the person must choose
	// a slug; dropping letters would be a guess.
	Ask bool
}

func (e *SlugError) Error() string {
	s := fmt.Sprintf("%q: %s", Clip(e.Name, 80), e.Reason)
	if e.Suggest != "" {
		s += "; try " + e.Suggest
	}
	return s
}

// CheckSlug refuses everything that cannot name a character or a campaign.
func CheckSlug(slug string) error {
	bad := func(reason, suggest string) error { return &SlugError{Name: slug, Reason: reason, Suggest: suggest} }
	switch {
	case slug == "":
		return bad("a name needs letters or digits", "")
	case len(slug) > maxSlug:
		return bad(fmt.Sprintf("too long: %d bytes, at most %d", len(slug), maxSlug), "")
	case !slugForm.MatchString(slug):
		return bad("not a valid name: lower-case letters and digits, joined by single hyphens", "")
	case slices.Contains(reserved, slug):
		return bad("reserved; use a fuller name", slug+"-2")
	case device.MatchString(slug):
		return bad("a device name on some systems; use a fuller name", slug+"-2")
	}
	for _, s := range protocolSuffixes {
		if strings.HasSuffix(slug, s) {
			return bad(fmt.Sprintf("names ending in %s belong to the file protocol", s), slug+"-2")
		}
	}
	return nil
}

// Slugify derives a slug from a name. It serves to create a sheet and for
// nothing else: what an agent typed is matched against the roster, never
// slugified, for "../../story-state" would come out as an innocent name.
func Slugify(name string) (string, error) {
	if !utf8.ValidString(name) {
		return "", &SlugError{Name: name, Reason: "not valid UTF-8"}
	}
	var b strings.Builder
	for _, r := range name {
		s, ok := foldRune(r)
		if !ok {
			reason := fmt.Sprintf("%q has no spelling in a–z; give a slug of your own", r)
			return "", &SlugError{Name: name, Reason: reason, Ask: true}
		}
		b.WriteString(s)
	}
	slug := strings.Join(strings.FieldsFunc(b.String(), func(r rune) bool { return r == '-' }), "-")
	if err := CheckSlug(slug); err != nil {
		se := err.(*SlugError)
		se.Name = name
		return "", se
	}
	return slug, nil
}

// UniqueSlug refuses a slug that is taken and suggests the next free one.
func UniqueSlug(slug string, taken []string) error {
	has := func(s string) bool {
		return slices.ContainsFunc(taken, func(t string) bool { return strings.EqualFold(s, t) })
	}
	if !has(slug) {
		return nil
	}
	for n := 2; ; n++ {
		if s := fmt.Sprintf("%s-%d", slug, n); !has(s) {
			return &SlugError{Name: slug, Reason: "already taken", Suggest: s}
		}
	}
}

const apostrophes = "'‘’ʼ＇`´"

// foldRune gives the ASCII spelling of one character, "-" for a separator and
// "" for what is left out. It reports false for a letter without a spelling.
func foldRune(r rune) (string, bool) {
	switch {
	case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
		return string(r), true
	case 'A' <= r && r <= 'Z':
		return string(r + 'a' - 'A'), true
	case strings.ContainsRune(apostrophes, r), unicode.Is(unicode.M, r):
		return "", true
	case r == '_', r == '\u2212', unicode.IsSpace(r), unicode.Is(unicode.Pd, r):
		return "-", true
	}
	if s, ok := foldTable()[r]; ok {
		return s, true
	}
	return "", !unicode.IsLetter(r) && !unicode.IsNumber(r)
}

var foldTable = sync.OnceValue(func() map[rune]string {
	m := map[rune]string{}
	for line := range strings.Lines(foldLines + foldExtra) {
		to, from, _ := strings.Cut(strings.TrimSpace(line), " ")
		for _, r := range from {
			m[r] = to
		}
	}
	return m
})

// Clip shortens a text for a message, in characters.
func Clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
