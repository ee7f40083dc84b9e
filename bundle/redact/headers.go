package redact

import (
	"bytes"
	stdbase64 "encoding/base64"
)

// headerRules find credentials by the word before them.
func headerRules() []rule {
	return []rule{
		{"bearer", false, matchBearer},
		{"basic", false, matchBasic},
		{"authorization", false, matchAuthorization},
	}
}

var credential = classOf("A-Za-z0-9._~+/=:-")

// gap skips the space between a scheme and its credentials, also as %20 and +.
func gap(src []byte, i int) (int, bool) {
	j := skipBlanks(src, i)
	if j == i && bytes.HasPrefix(src[i:], []byte("%20")) {
		j += 3
	}
	return j, j > i
}

func matchBearer(s *scan, at, after int) (span, bool) {
	start, ok := gap(s.src, after)
	if !ok || !border(s.src, at) {
		return span{}, false
	}
	end := trimSentence(s.src, start, s.run(start, credential))
	v := s.src[start:end]
	if len(v) < 16 || !varied(v) || wordy(v) || s.spare[string(v)] {
		return span{}, false
	}
	return span{start, end, "authorization", rankHeader}, true
}

// matchBasic wants what decodes to user:password, as "basic" is a common word.
func matchBasic(s *scan, at, after int) (span, bool) {
	start, ok := gap(s.src, after)
	if !ok || !border(s.src, at) {
		return span{}, false
	}
	end := s.run(start, base64)
	if end-start < 8 || end-start > 1024 {
		return span{}, false
	}
	plain, err := stdbase64.StdEncoding.DecodeString(string(s.src[start:end]))
	if err != nil {
		plain, err = stdbase64.RawStdEncoding.DecodeString(string(s.src[start:end]))
	}
	colon := bytes.IndexByte(plain, ':')
	if err != nil || colon < 0 || !printable(plain) || colon+1 < len(plain) && dull(plain[colon+1:]) {
		return span{}, false
	}
	return span{start, end, "authorization", rankHeader}, true
}

func printable(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c == 0x7f {
			return false
		}
	}
	return true
}

// matchAuthorization removes the credentials of a header with any scheme.
func matchAuthorization(s *scan, at, after int) (span, bool) {
	v, ok := valueAfter(s.src, at, after)
	if !ok {
		return span{}, false
	}
	start, end := v.start, v.end
	// The scheme is a word of letters and a space.
	sp := s.run(start, alnum)
	if sp > start && sp < len(s.src) && sp-start <= 12 && s.src[sp] == ' ' {
		start = skipBlanks(s.src, sp)
		end = start
		for end < len(s.src) && s.src[end] > ' ' && !isQuote(s.src[end]) && s.src[end] != '\\' {
			end++
		}
		end = trimSentence(s.src, start, end)
	}
	value := s.src[start:max(start, end)]
	if len(value) < 8 || placeholder(value) || innocent(value) || wordy(value) || s.spare[string(value)] {
		return span{}, false
	}
	if m := makeupOf(value); m.space > 0 || m.digit == 0 && m.entropy < 3.6 || bytes.ContainsAny(value, "(){}<>") {
		return span{}, false
	}
	return span{start, end, "authorization", rankHeader}, true
}

func trimSentence(src []byte, start, end int) int {
	for end > start && (src[end-1] == '.' || src[end-1] == ',' || src[end-1] == ':' || src[end-1] == ';' || src[end-1] == ')') {
		end--
	}
	return end
}
