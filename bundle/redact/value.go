package redact

import (
	"bytes"
	"math"
)

// sample is how much of a value is looked at to judge it.
const sample = 512

// varied says whether the body of a token could be one: a placeholder repeats
// itself or says what it is.
func varied(b []byte) bool {
	if len(b) > sample {
		b = b[:sample]
	}
	if placeholder(b) {
		return false
	}
	var seen [256]bool
	distinct := 0
	for _, c := range b {
		if !seen[c] {
			seen[c] = true
			distinct++
		}
	}
	want := 8
	if len(b) < 20 {
		want = 6
	}
	return distinct >= want && !counting(b)
}

// counting says whether b is mostly a row: 0123456789, abcdef…
func counting(b []byte) bool {
	steps := 0
	for i := 1; i < len(b); i++ {
		if b[i] == b[i-1]+1 || b[i] == b[i-1] {
			steps++
		}
	}
	return len(b) >= 8 && steps*10 >= len(b)*7
}

var placeholders = [][]byte{
	[]byte("example"), []byte("placeholder"), []byte("xxxxx"), []byte("changeme"), []byte("change_me"), []byte("change-me"),
	[]byte("redacted"), []byte("dummy"), []byte("****"), []byte("...."), []byte("insert"), []byte("replace"), []byte("fixme"),
	[]byte("sample"), []byte("not-a-real"), []byte("notareal"), []byte("not_a_real"), []byte("0000000"),
	[]byte("1234567890abcdef"), []byte("foobar"), []byte("${"), []byte("{{"), []byte("%("), []byte("$("),
	[]byte("…"), []byte("____"), []byte("----"),
}

// placeholder says whether b says of itself that it is none.
func placeholder(b []byte) bool {
	var buf [sample / 2]byte
	low := buf[:0]
	for _, c := range b[:min(len(b), len(buf))] {
		low = append(low, fold(c))
	}
	for _, p := range placeholders {
		if bytes.Contains(low, p) {
			return true
		}
	}
	// Four letters come together by chance in one random token of ten
	// thousand: these count at the beginning of a word only.
	for _, p := range []string{"your", "todo"} {
		if i := bytes.Index(low, []byte(p)); i == 0 || i > 0 && !alnum[low[i-1]] {
			return true
		}
	}
	return false
}

// makeup is what kinds of bytes a value is made of.
type makeup struct {
	lower, upper, digit, symbol, space, hex int
	entropy                                 float64
}

func makeupOf(b []byte) makeup {
	var m makeup
	var count [256]int
	b = b[:min(len(b), sample)]
	for _, c := range b {
		count[c]++
		switch {
		case c >= 'a' && c <= 'z':
			m.lower++
		case c >= 'A' && c <= 'Z':
			m.upper++
		case isDigit(c):
			m.digit++
		case c == ' ' || c == '\t':
			m.space++
		default:
			m.symbol++
		}
		if hexa[c] {
			m.hex++
		}
	}
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(b))
			m.entropy -= p * math.Log2(p)
		}
	}
	return m
}

// strength says how sure a name makes us that its value is secret.
type strength int8

const (
	notSecret strength = iota
	weakName           // key: only a value that can hardly be anything else
	strongName
	passwordName
)

// secretValue says whether v, which stands under a name of that strength, is
// to be removed.
func secretValue(v []byte, st strength, quoted bool) bool {
	if len(v) < 6 || placeholder(v) || innocent(v) {
		return false
	}
	m := makeupOf(v)
	n := min(len(v), sample)
	switch st {
	case passwordName:
		return passwordLike(v, m, quoted)
	case strongName:
		if m.space > 0 || len(v) < 12 || m.digit == 0 || m.lower+m.upper == 0 && len(v) < 20 || pathLike(v, m, quoted) {
			// A long value without a digit may still be random.
			return m.space == 0 && len(v) >= 20 && m.lower > 4 && m.upper > 4 && m.entropy > 3.9 && !wordy(v) && !pathLike(v, m, quoted)
		}
		if m.hex == n {
			return m.entropy > 2.4
		}
		return m.entropy > 3.0 && !wordy(v)
	case weakName:
		if m.space > 0 || len(v) < 20 || m.hex == n || isUUID(v) || pathLike(v, m, quoted) {
			return false
		}
		return m.lower > 1 && m.upper > 1 && m.digit > 1 && m.entropy > 3.7 && !wordy(v)
	}
	return false
}

func passwordLike(v []byte, m makeup, quoted bool) bool {
	letters := m.lower + m.upper
	switch {
	case m.space > 0 || pathLike(v, m, quoted) || algorithm(v):
		return false
	case m.digit == len(v):
		return quoted && len(v) >= 8
	case m.lower == 0 && wordy(v):
		return false // the name of a variable
	case m.digit > 0 && letters > 0:
		return quoted || !wordy(v) || identifiers(v, 0)
	case quoted && m.symbol > 0 && letters > 0 && len(v) >= 8:
		return !wordy(v)
	}
	return len(v) >= 16 && m.entropy > 3.5 && !wordy(v)
}

// algorithm are words with a digit that stand after "password:" in settings.
func algorithm(v []byte) bool {
	switch string(bytes.ToLower(v[:min(len(v), 16)])) {
	case "argon2", "argon2i", "argon2d", "argon2id", "base64", "bcrypt2", "pbkdf2", "sha256", "sha512", "scram-sha-256":
		return true
	}
	return false
}

// innocent are values that are no secrets under any name.
func innocent(v []byte) bool {
	switch v[0] {
	case '$', '<', '{', '[', '(', '&', '*', '`', '|':
		return len(v) < 12 || !alnum[v[1]] || v[0] != '$'
	}
	for _, p := range []string{`\u003c`, "sha1:", "sha256:", "sha512:", "sha1-", "sha256-", "sha512-", "md5:", "env:",
		"file:", "op://", "vault:", "arn:", "ssh-rsa", "ssh-ed25519", "http://", "https://", "/dev/", "process.env",
		"os.environ", "os.getenv", "secrets.", "vars."} {
		if len(v) >= len(p) && string(bytes.ToLower(v[:len(p)])) == p {
			return true
		}
	}
	return isTime(v)
}

func isTime(v []byte) bool {
	return len(v) >= 10 && isDigits(v[:4]) && v[4] == '-' && isDigits(v[5:7]) && v[7] == '-' && isDigits(v[8:10])
}

// pathLike are paths, addresses and code.
func pathLike(v []byte, m makeup, quoted bool) bool {
	if v[0] == '/' || v[0] == '.' || bytes.HasPrefix(v, []byte("~/")) || bytes.Contains(v, []byte("://")) {
		return bytes.Count(v, []byte("/")) > 1 || m.entropy < 4
	}
	if !quoted && bytes.ContainsAny(v, "()[]{}<>;") {
		return true
	}
	if bytes.IndexByte(v, '.') > 0 && identifiers(v, '.') {
		return true // config.secrets.token1
	}
	return false
}

// identifiers says whether v is a row of names, each beginning with a letter
// and mostly of letters.
func identifiers(v []byte, sep byte) bool {
	for part := range bytes.SplitSeq(v, []byte{sep}) {
		if len(part) == 0 || !alnum[part[0]] && part[0] != '_' || isDigit(part[0]) {
			return false
		}
		digits := 0
		for _, c := range part {
			if !word[c] {
				return false
			}
			if isDigit(c) {
				digits++
			}
		}
		if digits*4 > len(part) || len(part) > 24 {
			return false
		}
	}
	return true
}

// wordy says whether v reads as words joined by _ - . / : or camel case, each
// of letters with at most a short number at its end: MAX_TOKEN_COUNT_2,
// anthropic-api-key, gpt-4-turbo-preview.
func wordy(v []byte) bool {
	if len(v) > 120 {
		return false
	}
	words, letters, i := 0, 0, 0
	for i < len(v) {
		c := v[i]
		switch {
		case c == '_' || c == '-' || c == '.' || c == '/' || c == ':' || c == '@' || c == '#' || c == ',':
			i++
			continue
		case isDigit(c):
			j := i
			for j < len(v) && isDigit(v[j]) {
				j++
			}
			if j-i > 4 || j < len(v) && alnum[v[j]] && i > 0 && alnum[v[i-1]] {
				return false // digits in the middle of a word, or many
			}
			i = j
			continue
		case !alnum[c]:
			return false
		}
		j := i + 1
		for j < len(v) && v[j] >= 'a' && v[j] <= 'z' {
			j++
		}
		if j == i+1 {
			for j < len(v) && v[j] >= 'A' && v[j] <= 'Z' {
				j++
			}
		}
		if !pronounceable(v[i:j]) {
			return false
		}
		words++
		letters += j - i
		i = j
	}
	return words > 0 && letters >= 3*words-2
}

// pronounceable says whether letters could be a word or a short name: no long
// row without a vowel.
func pronounceable(w []byte) bool {
	if len(w) > 20 {
		return false
	}
	row := 0
	for _, c := range w {
		switch fold(c) {
		case 'a', 'e', 'i', 'o', 'u', 'y':
			row = 0
		default:
			if row++; row > 4 {
				return false
			}
		}
	}
	return true
}

func isUUID(v []byte) bool {
	if len(v) != 36 {
		return false
	}
	for i, c := range v {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if !hexa[c] {
			return false
		}
	}
	return true
}
