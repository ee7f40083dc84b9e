package redact

import (
	"bytes"
	"slices"
	"strings"
)

// anchors of names. Every name that can condemn a value has one of them.
func nameRules() []rule {
	var rules []rule
	for _, a := range strings.Fields("key token secret passw passphrase pwd pass= pass: pass\" credential") {
		rules = append(rules, rule{a, false, matchName})
	}
	return rules
}

// nameByte are the bytes of names: of variables, JSON members, headers and
// flags.
var nameByte = classOf("A-Za-z0-9_.-")

// matchName looks at a name and at what is assigned to it.
func matchName(s *scan, at, after int) (span, bool) {
	name, end := nameAround(s.src, at, after)
	if start := end - len(name); start > 0 && s.src[start-1] == '/' {
		return span{}, false // a path: etc/passwd
	}
	v, ok := valueAfter(s.src, end-len(name), end)
	if !ok {
		return span{}, false // most of these words stand in a sentence
	}
	st := nameStrength(name)
	if st == notSecret {
		return span{}, false
	}
	if n := len(s.spans); n > 0 && v.end <= s.spans[n-1].end && v.start >= s.spans[n-1].start {
		return span{}, false // within something that goes anyway
	}
	value := s.src[v.start:v.end]
	if s.spare[string(value)] || !secretValue(value, st, v.quoted) {
		return span{}, false
	}
	if v.bare && !v.quoted && isNumber(value) {
		return span{}, false // a number in JSON
	}
	if v.cut {
		v, _ = readValue(s.src, v.open, v.stop, len(s.src))
	}
	kind := "secret-value"
	if st == passwordName {
		kind = "password"
	}
	return span{v.start, v.end, kind, rankName}, true
}

func isNumber(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) && strings.IndexByte("+-.eE", c) < 0 {
			return false
		}
	}
	return true
}

// nameAround extends an anchor to the whole name.
func nameAround(src []byte, at, after int) (name []byte, end int) {
	const far = 64
	for after > at && !nameByte[src[after-1]] {
		after-- // the anchor's own '=', ':' or quote
	}
	start := runBack(src, at, far, nameByte)
	// The letter of an escape before the name is not part of it.
	if start > 0 && src[start-1] == '\\' && start < at {
		start++
		if src[start-1] == 'u' {
			start = min(start+4, at)
		}
	}
	if start > 0 && src[start-1] == '[' {
		if i := run(src, start, classOf09); i < at && src[i] == 'm' {
			start = i + 1 // a colour
		}
	}
	end = run(src[:min(after+far, len(src))], after, nameByte)
	return src[start:end], end
}

// nameStrength says what a name says of its value.
func nameStrength(name []byte) strength {
	var buf [192]byte
	var list [32]string
	words := splitWords(buf[:0], list[:0], name)
	for len(words) > 1 && slices.Contains(afterwords, words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return notSecret
	}
	last, before := words[len(words)-1], ""
	if len(words) > 1 {
		before = words[len(words)-2]
	}
	switch last {
	case "password", "passwd", "passwort", "pwd", "passphrase", "dbpassword", "userpassword", "rootpassword", "pgpassword",
		"dbpasswd", "sshpass", "dbpass":
		return passwordName
	case "pass":
		if before != "" {
			return passwordName
		}
	case "secret", "credential", "credentials", "apikey", "accesskey", "secretkey", "authtoken", "accesstoken", "refreshtoken", "privatekey",
		"accountkey", "sharedaccesskey", "clientsecret", "apitoken", "apisecret", "appsecret", "secretaccesskey",
		"encryptionkey", "signingkey", "masterkey":
		return strongName
	case "token":
		if !slices.Contains(innocentTokens, before) {
			return strongName
		}
	case "key":
		switch {
		case slices.Contains(secretKeys, before):
			return strongName
		case !slices.Contains(innocentKeys, before):
			return weakName
		}
	}
	return notSecret
}

// afterwords say nothing of what a name names.
var afterwords = strings.Fields("value base base64 b64 prod production dev development staging test live old new current primary secondary backup main default plain plaintext raw string str field input 1 2 3")

// innocentTokens are the words before "token" that make it no secret: pages,
// and pieces of text.
var innocentTokens = strings.Fields("next page nextpage continuation cursor sync pad eos bos unk mask special stop start end max min num first last per each every prompt completion input output of")

// secretKeys are the words before "key" that make it one.
var secretKeys = strings.Fields("api access secret private auth account encryption signing shared sharedaccess master client service storage admin root license subscription webhook hmac aes jwt x openai anthropic stripe aws azure google gcp deploy deployment functions function host app application")

var innocentKeys = strings.Fields("public primary foreign cache sort partition idempotency row object unique hash map group dedup composite lookup routing index translation hot publishable pub natural surrogate candidate arrow enter escape tab shift control ctrl alt meta function-key i18n issue project prompt")

// splitWords divides a name into its words, in lower case: dbPassword,
// DB_PASSWORD and db-password are db, password. Digits end a word.
func splitWords(buf []byte, words []string, name []byte) []string {
	start := 0
	flush := func() {
		if len(buf) > start && len(words) < cap(words) {
			words = append(words, string(buf[start:]))
		}
		start = len(buf)
	}
	for i, c := range name {
		isUpper := c >= 'A' && c <= 'Z'
		switch {
		case c == '_' || c == '-' || c == '.':
			flush()
			continue
		case isUpper && i > 0 && (name[i-1] >= 'a' && name[i-1] <= 'z' || i+1 < len(name) && name[i-1] >= 'A' &&
			name[i-1] <= 'Z' && name[i+1] >= 'a' && name[i+1] <= 'z'):
			flush()
		case isDigit(c) != (i > 0 && isDigit(name[i-1])) && i > 0 && alnum[name[i-1]]:
			flush()
		}
		if len(buf) < cap(buf) {
			buf = append(buf, fold(c))
		}
	}
	flush()
	return words
}

// assigned is the place of a value.
type assigned struct {
	start, end int
	quoted     bool // nothing but the value stands there
	bare       bool // the name was quoted and the value is not
	cut        bool // it goes on: open and stop say how to read all of it
	open       int
	stop       byte
}

// valueAfter finds what is assigned to the name that ends at i: after = : := =>
// or "is", in quotes or not, plain or as JSON in JSON; after a flag; in an XML
// element.
func valueAfter(src []byte, nameStart, i int) (assigned, bool) {
	quotesBefore := nameStart > 0 && isQuote(src[nameStart-1])
	j, nameQuoted := skipQuotes(src, i)
	k := skipBlanks(src, j)
	spaced := k > j
	switch {
	case k >= len(src):
		return assigned{}, false
	case src[k] == '=' || src[k] == ':':
		tight := src[k] == '=' && !spaced
		k++
		for k < len(src) && (src[k] == '=' || src[k] == '>' || src[k] == ':') {
			if src[k] == '=' {
				return assigned{}, false // a comparison, or := in code
			}
			k++
		}
		v, ok := readValue(src, skipBlanks(src, k), 0, reach)
		v.quoted = v.quoted || tight && v.start == k
		v.bare = nameQuoted && !v.quoted
		return v, ok
	case src[k] == '>' && nameStart > 0 && src[nameStart-1] == '<':
		v, ok := readValue(src, k+1, '<', reach)
		v.quoted = true
		return v, ok
	case src[k] == '\\' && angle(src, k, 'e') > 0:
		v, ok := readValue(src, k+angle(src, k, 'e'), '<', reach)
		v.quoted = true
		return v, ok
	case src[k] == ',' && nameQuoted && quotesBefore:
		v, ok := readValue(src, skipBlanks(src, k+1), 0, reach)
		return v, ok && v.quoted
	case spaced && !nameQuoted && bytes.HasPrefix(src[k:], []byte("is ")):
		return readValue(src, skipBlanks(src, k+3), 0, reach)
	case spaced && !nameQuoted && nameStart > 1 && i-nameStart > 2 && bytes.HasPrefix(src[nameStart:], []byte("--")):
		return readValue(src, k, 0, reach)
	}
	return assigned{}, false
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// skipQuotes skips a closing quote with the backslashes before it.
func skipQuotes(src []byte, i int) (int, bool) {
	j := i
	for j < len(src) && j < i+16 && src[j] == '\\' {
		j++
	}
	if j < len(src) && isQuote(src[j]) {
		return j + 1, true
	}
	return i, false
}

func skipBlanks(src []byte, i int) int {
	for n := 0; i < len(src) && n < 16 && (src[i] == ' ' || src[i] == '\t'); n++ {
		i++
	}
	return i
}

// reach is how much of a value is read to judge it.
const reach = 2 * sample

// readValue reads the value at i: to the closing quote if it is quoted, else
// to the next border.
func readValue(src []byte, i int, stop byte, limit int) (assigned, bool) {
	start, quoted := skipQuotes(src, i)
	v := assigned{start: start, quoted: quoted, open: i, stop: stop}
	var quote byte
	if quoted {
		quote = src[start-1]
	}
	j := start
	for j < len(src) {
		if j-start >= limit {
			v.cut = true
			break
		}
		c := src[j]
		if c == '\\' {
			n := valueEscape(src, j)
			if n == 0 || stop == '<' && angle(src, j, 'c') > 0 {
				break
			}
			j += n
			continue
		}
		if c < ' ' || c == '"' || c == quote && quoted || c == stop && stop != 0 {
			break
		}
		if !quoted && (c == ' ' || c == ',' || c == '\'' || c == '`' || c == '&' || c == ';' || c == '|') {
			break
		}
		j++
	}
	if !quoted {
		for j > start && strings.IndexByte(".)]}:!?", src[j-1]) >= 0 {
			j--
		}
	}
	v.end = j
	return v, v.end > v.start
}

// valueEscape returns the length of an escape sequence that is one character
// of a value: \/ and \u002b, but neither a line break nor a quote.
func valueEscape(src []byte, i int) int {
	if i+1 < len(src) && src[i+1] == '/' {
		return 2
	}
	if i+5 < len(src) && src[i+1] == 'u' && src[i+2] == '0' && src[i+3] == '0' &&
		strings.IndexByte("234567", src[i+4]) >= 0 && hexa[src[i+5]] &&
		!(src[i+4] == '2' && (src[i+5] == '2' || src[i+5] == '7')) {
		return 6
	}
	return 0
}

// angle returns the length of a < (e is 'c') or > (e is 'e') that was escaped,
// once or more often: \u003c, \\u003c.
func angle(src []byte, i int, e byte) int {
	j := i
	for j < len(src) && j < i+16 && src[j] == '\\' {
		j++
	}
	if j > i && j+5 <= len(src) && string(src[j:j+4]) == "u003" && fold(src[j+4]) == e {
		return j + 5 - i
	}
	return 0
}
