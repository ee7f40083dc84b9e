package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// split cuts a plain relative path into its segments. Comparing segments,
// never prefixes, is what keeps agent_1 out of agent_10.
func split(rel string) ([]string, bool) {
	if rel == "" || strings.ContainsAny(rel, "\x00\\") {
		return nil, false
	}
	segments := strings.Split(rel, "/")
	for _, s := range segments {
		if s == "" || s == "." || s == ".." {
			return nil, false
		}
	}
	return segments, true
}

// plain is the name a careless file system may take a segment for: other case,
// invisible characters, trailing dots and spaces, a stream after a colon.
func plain(segment string) string {
	if isPlain(segment) {
		return segment
	}
	segment, _, _ = strings.Cut(segment, ":")
	folded := strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Mn, unicode.Cc) {
			return -1
		}
		if 0xFF01 <= r && r <= 0xFF5E {
			r += '!' - 0xFF01
		}
		return unicode.ToLower(unicode.ToUpper(r))
	}, segment)
	return strings.TrimRight(folded, ". ")
}

// isPlain reports whether a name is its own plain form. Most are, and a view
// asks for every name of a project.
func isPlain(segment string) bool {
	for i := range len(segment) {
		if c := segment[i]; c < ' ' || c >= utf8.RuneSelf || c == 0x7f || c == ':' || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return segment != "" && segment[len(segment)-1] != '.' && segment[len(segment)-1] != ' '
}
