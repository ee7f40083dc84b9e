package frontmatter

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// extent finds the bytes of a pair's value in a block mapping, and the quote it
// is written in. A value that is not there ("emoji:") has an empty extent right
// after the colon. An extent never reaches into a comment or the next key; that
// it is right is checked after every edit by reading the result.
func (t *tree) extent(p pair) (span, byte) {
	start := t.offset(p.value)
	limit := t.pairEnd(p.key)
	if start > limit {
		start = limit
	}
	text := t.src[start:limit]
	style := p.value.Style
	switch {
	case !isScalar(p.value) || style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return span{start, start + len(bytes.TrimRight(text, " \t\r\n"))}, 0
	case style&yaml.DoubleQuotedStyle != 0:
		return span{start, start + quotedLen(text, '"')}, '"'
	case style&yaml.SingleQuotedStyle != 0:
		return span{start, start + quotedLen(text, '\'')}, '\''
	case p.value.Value == "":
		at := t.afterColon(p.key, limit)
		return span{at, at}, 0
	}
	return span{start, start + plainLen(text)}, 0
}

// pairEnd is where the next key's line starts, or the end of the text, less the
// blank and comment lines before it.
func (t *tree) pairEnd(key *yaml.Node) int {
	end := len(t.src)
	for _, p := range t.pairs() {
		if p.key.Line > key.Line {
			end = lineStart(t.src, t.offset(p.key))
			break
		}
	}
	for {
		start := lineStart(t.src, max(end-1, 0))
		line := bytes.TrimSpace(t.src[start:end])
		comment := bytes.HasPrefix(t.src[start:end], []byte("#"))
		if start <= t.offset(key) || len(line) > 0 && !comment {
			return end
		}
		end = start
	}
}

func lineStart(src []byte, at int) int { return bytes.LastIndexByte(src[:at], '\n') + 1 }

// afterColon is the place right behind the colon of a key without a value.
func (t *tree) afterColon(key *yaml.Node, limit int) int {
	at := t.offset(key)
	if i := bytes.IndexByte(t.src[at:limit], ':'); i >= 0 {
		return at + i + 1
	}
	return limit
}

// quotedLen is the length of the quoted scalar that text starts with.
func quotedLen(text []byte, quote byte) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		case text[i] == quote && quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return len(text)
}

// plainLen is the length of a plain scalar, over several lines if it has them,
// without the comment and the space behind it.
func plainLen(text []byte) int {
	end := len(text)
	for i := 1; i < len(text); i++ {
		if text[i] == '#' && (text[i-1] == ' ' || text[i-1] == '\t') {
			end = i
			break
		}
	}
	return len(bytes.TrimRight(text[:end], " \t\r\n"))
}

// plainSafe admits text that needs no quotes in a block mapping; the words that
// YAML takes for nothing do.
var plainSafe = regexp.MustCompile(`^[\pL\pN][\pL\pN _.,+&'’/()·–—;!?%$:-]*$`)

// guessedWords are taken for truth values or nothing by some reader of YAML 1.1
// or 1.2, however they are written.
var guessedWords = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null)$`)

// isGuessed reports whether a reader of YAML could take a plain value for
// something else than a text. Numbers and dates, in all their forms, begin with a
// digit, a sign or a dot; a text that does is quoted as well, which costs nothing.
func isGuessed(value string) bool {
	first, _ := utf8.DecodeRuneInString(value)
	return !unicode.IsLetter(first) || guessedWords.MatchString(value)
}

// encodeScalar writes a value, keeping the quote that was there.
func encodeScalar(value string, quote byte) string {
	if quote == 0 && isPlain(value) {
		return value
	}
	if quote == '\'' && isPrintable(value) {
		return "'" + strings.ReplaceAll(value, "'", "''") + "'"
	}
	return doubleQuoted(value)
}

func isPlain(value string) bool {
	if !plainSafe.MatchString(value) || strings.HasSuffix(value, " ") || strings.HasSuffix(value, ":") ||
		strings.Contains(value, ": ") || strings.Contains(value, " #") {
		return false
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte("k: "+value+"\n"), &doc); err != nil || len(doc.Content) == 0 {
		return false
	}
	pair := doc.Content[0].Content
	return len(pair) == 2 && pair[1].Kind == yaml.ScalarNode && pair[1].Tag != "!!null" && pair[1].Value == value
}

func isPrintable(value string) bool {
	for _, r := range value {
		if needsEscape(r) {
			return false
		}
	}
	return utf8.ValidString(value)
}

func needsEscape(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff
}

func doubleQuoted(value string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range value {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case needsEscape(r):
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
