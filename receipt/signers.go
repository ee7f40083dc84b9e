package receipt

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// Signers are the keys that a reader allows, from a file in the form of
// ssh-keygen's allowed signers.
type Signers struct {
	name string
	keys []signer
}

// signer is one line of the file.
type signer struct {
	line       int
	principals string
	authority  bool     // the key signs certificates, which are not taken here
	namespaces []string // patterns; none allows all
	after      time.Time
	before     time.Time
	key        []byte
}

// ReadSigners reads a file of allowed signers. A line that cannot be read is an
// error: what it would allow or forbid is not known.
func ReadSigners(name string, data []byte) (*Signers, error) {
	s := &Signers{name: name}
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		one, err := readSignerLine(line)
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", name, n, err)
		}
		one.line = n
		s.keys = append(s.keys, one)
	}
	if len(s.keys) == 0 {
		return nil, fmt.Errorf("%s: it allows nobody: a line is written PRINCIPAL [OPTIONS] KEYTYPE KEY", name)
	}
	return s, nil
}

func readSignerLine(line string) (s signer, err error) {
	fields, err := fieldsOf(line)
	if err != nil {
		return s, err
	}
	if len(fields) < 3 {
		return s, errors.New("it is not written PRINCIPAL [OPTIONS] KEYTYPE KEY")
	}
	s.principals = strings.Trim(fields[0], `"`)
	rest := fields[1:]
	if !isKeyType(rest[0]) {
		if err := s.options(rest[0]); err != nil {
			return s, err
		}
		rest = rest[1:]
	}
	if len(rest) < 2 || !isKeyType(rest[0]) {
		return s, fmt.Errorf("%q is neither options nor the type of a key", fields[1])
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(rest[0] + " " + rest[1]))
	if err != nil || key.Type() != rest[0] {
		return s, errors.New("its key cannot be read")
	}
	s.key = key.Marshal()
	return s, nil
}

func isKeyType(word string) bool {
	return strings.HasPrefix(word, "ssh-") || strings.HasPrefix(word, "ecdsa-") || strings.HasPrefix(word, "sk-")
}

// fieldsOf splits a line at spaces that are not quoted.
func fieldsOf(line string) (out []string, err error) {
	var b strings.Builder
	quoted := false
	for _, c := range line {
		switch {
		case c == '"':
			quoted = !quoted
			b.WriteRune(c)
		case (c == ' ' || c == '\t') && !quoted:
			if b.Len() > 0 {
				out = append(out, b.String())
				b.Reset()
			}
		default:
			b.WriteRune(c)
		}
	}
	if quoted {
		return nil, errors.New("a quote is not closed")
	}
	if b.Len() > 0 {
		out = append(out, b.String())
	}
	return out, nil
}

// options reads what stands between principals and key. One that is not known
// is refused: it might forbid something.
func (s *signer) options(text string) error {
	for text != "" {
		name, rest := text, ""
		if i := strings.IndexAny(text, "=,"); i >= 0 {
			name, rest = text[:i], text[i:]
		}
		value, has := "", false
		if after, ok := strings.CutPrefix(rest, `="`); ok {
			if value, rest, has = strings.Cut(after, `"`); !has {
				return fmt.Errorf("option %s: a quote is not closed", name)
			}
		}
		if err := s.option(strings.ToLower(name), value, has); err != nil {
			return err
		}
		next, comma := strings.CutPrefix(rest, ",")
		if rest != "" && !comma || comma && next == "" {
			return fmt.Errorf("option %s: %q stands behind it", name, rest)
		}
		text = next
	}
	return nil
}

func (s *signer) option(name, value string, has bool) (err error) {
	switch {
	case name == "cert-authority" && !has:
		s.authority = true
	case name == "namespaces" && has && value != "":
		s.namespaces = strings.Split(value, ",")
	case name == "valid-after" && has && s.after.IsZero():
		s.after, err = readTime(value)
	case name == "valid-before" && has && s.before.IsZero():
		s.before, err = readTime(value)
	default:
		err = fmt.Errorf(`option %q is none of namespaces="…", valid-after="…", valid-before="…" and cert-authority`, name)
	}
	return err
}

// readTime reads YYYYMMDD[HHMM[SS]], in UTC with a Z behind it and else in local
// time.
func readTime(text string) (time.Time, error) {
	digits, utc := strings.CutSuffix(text, "Z")
	zone := time.Local
	if utc {
		zone = time.UTC
	}
	for _, layout := range []string{"20060102", "200601021504", "20060102150405"} {
		if len(layout) == len(digits) {
			if t, err := time.ParseInLocation(layout, digits, zone); err == nil {
				return t, nil
			}
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time: write YYYYMMDD[HHMM[SS]][Z]", text)
}

// allow says as whom a key may sign a receipt at that time.
func (s *Signers) allow(key ssh.PublicKey, at time.Time) (who string, line int, err error) {
	err = fmt.Errorf("no line of %s has the key %s", s.name, ssh.FingerprintSHA256(key))
	for _, one := range s.keys {
		if !bytes.Equal(one.key, key.Marshal()) {
			continue
		}
		refused := one.refusal(at)
		if refused == "" {
			return one.principals, one.line, nil
		}
		err = fmt.Errorf("%s: line %d has the key %s, and %s", s.name, one.line, ssh.FingerprintSHA256(key), refused)
	}
	return "", 0, err
}

func (s signer) refusal(at time.Time) string {
	switch {
	case s.authority:
		return "allows it to sign certificates alone (cert-authority); certificates are not taken here"
	case len(s.namespaces) > 0 && !matches(s.namespaces, Namespace):
		return fmt.Sprintf("allows it to sign for %s, not for %s", strings.Join(s.namespaces, ","), Namespace)
	case !s.after.IsZero() && at.Before(s.after):
		return fmt.Sprintf("allows it from %s on; the receipt says that it was made %s", moment(s.after), moment(at))
	case !s.before.IsZero() && at.After(s.before):
		return fmt.Sprintf("allows it until %s; the receipt says that it was made %s", moment(s.before), moment(at))
	}
	return ""
}

func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// matches is OpenSSH's rule for lists of patterns: one that begins with ! and
// matches forbids, whatever else does.
func matches(patterns []string, text string) bool {
	found := false
	for _, p := range patterns {
		bare, negated := strings.CutPrefix(p, "!")
		if wild(bare, text) {
			if negated {
				return false
			}
			found = true
		}
	}
	return found
}

// wild matches * and ?, in time that grows with both lengths.
func wild(pattern, text string) bool {
	p, t, star, from := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p++
			t++
		case star >= 0: // the star takes one more
			from++
			p, t = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
