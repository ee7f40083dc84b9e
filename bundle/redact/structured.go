package redact

import (
	"bytes"
	"strings"
)

// structuredRules are the secrets whose shape is more than a prefix.
func structuredRules() []rule {
	return []rule{
		{"-----begin", false, matchPEM},
		{"eyJ", true, matchJWT},
		{"://", true, matchURL},
		{":AA", true, matchTelegram},
		{"Q~", true, matchAzureSecret},
		{"sig=", true, matchSignature},
	}
}

const pemReach = 64 << 10

// matchPEM removes a private key with its borders, whether its lines end in
// newlines, in \n or in quotes and commas. Without an end, it removes as far as
// it can be one.
func matchPEM(s *scan, at, after int) (span, bool) {
	src := s.src
	head := src[after:min(after+80, len(src))]
	end := bytes.Index(head, []byte("-----"))
	if end < 0 || !bytes.Contains(head[:end], []byte("PRIVATE KEY")) {
		return span{}, false
	}
	body := after + end + 5
	if !s.noPEMEnd {
		reach := src[body:min(body+pemReach, len(src))]
		if n := bytes.Index(reach, []byte("-----END")); n >= 0 {
			stop := body + n + 8
			if m := bytes.Index(src[stop:min(stop+80, len(src))], []byte("-----")); m >= 0 {
				stop += m + 5
			}
			if keyLike(src[body : body+n]) {
				return span{at, stop, "private-key", rankKey}, true
			}
			return span{}, false
		}
		s.noPEMEnd = len(src) <= body+pemReach
	}
	stop := body
	for stop < len(src) {
		c := src[stop]
		if c == '\\' && stop+1 < len(src) && (src[stop+1] == 'n' || src[stop+1] == 'r' || src[stop+1] == '\\' || src[stop+1] == '/') {
			stop += 2
			continue
		}
		if !base64[c] && c != '\n' && c != '\r' && c != ' ' && c != ':' && c != ',' {
			break
		}
		stop++
	}
	if !keyLike(src[body:stop]) {
		return span{}, false
	}
	return span{at, stop, "private-key", rankKey}, true
}

// keyLike says whether there is enough between the borders to be a key.
func keyLike(body []byte) bool {
	n := 0
	for i, c := range body[:min(len(body), 4096)] {
		if base64[c] && !(c == 'n' && i > 0 && body[i-1] == '\\') {
			n++
		}
	}
	return n >= 40 && !(len(body) < 200 && placeholder(body))
}

// matchJWT removes header.payload.signature; a header begins with {" and says
// "alg" or "typ", which is eyJ in base64.
func matchJWT(s *scan, at, after int) (span, bool) {
	if at > 0 && url64[s.src[at-1]] && !border(s.src, at) {
		return span{}, false
	}
	one := s.run(after, url64)
	if one-at < 16 || one >= len(s.src) || s.src[one] != '.' {
		return span{}, false
	}
	two := s.run(one+1, url64)
	if two-one < 12 {
		return span{}, false
	}
	end := two
	if two < len(s.src) && s.src[two] == '.' {
		for end < len(s.src) && s.src[end] == '.' && s.run(end+1, url64) > end+1 { // JWE has five parts
			end = s.run(end+1, url64)
		}
	}
	if end == two || placeholder(s.src[at:end]) {
		return span{}, false
	}
	return span{at, end, "jwt", rankShape}, true
}

var (
	schemeByte = classOf("a-zA-Z0-9+.-")
	userinfo   = classOf("!$%&()*+,.0-9:;=?^_a-zA-Z~#-")
)

// matchURL removes the password of scheme://user:password@host, and a token
// that stands in the user's place.
func matchURL(s *scan, at, after int) (span, bool) {
	if runBack(s.src, at, 16, schemeByte) == at {
		return span{}, false
	}
	end := after
	for end < len(s.src) && end-after < 300 && userinfo[s.src[end]] {
		end++
	}
	// A password may hold what it should not: the last @ before the host ends it.
	if end >= len(s.src) || s.src[end] != '@' {
		return span{}, false
	}
	if next := s.run(end+1, userinfo); next < len(s.src) && s.src[next] == '@' && next-after < 300 {
		end = next
	}
	info := s.src[after:end]
	colon := bytes.IndexByte(info, ':')
	if colon < 0 {
		if len(info) >= 20 && secretValue(info, strongName, true) {
			return span{after, end, "address-token", rankHeader}, true
		}
		return span{}, false
	}
	password := info[colon+1:]
	if len(password) < 3 || dull(password) || string(password) == string(info[:colon]) {
		return span{}, false
	}
	return span{after + colon + 1, end, "address-password", rankHeader}, true
}

// dull are passwords of documentation.
func dull(p []byte) bool {
	low := strings.ToLower(string(p))
	switch low {
	case "password", "passwd", "pass", "secret", "pw", "pwd", "token", "user", "root", "admin", "postgres", "mysql", "guest", "test":
		return true
	}
	return placeholder(p) || p[0] == '$' || p[0] == '%' && !hexa[p[min(1, len(p)-1)]] || strings.Trim(low, "x*.-") == ""
}

// matchTelegram removes 123456789:AA… of a bot.
func matchTelegram(s *scan, at, after int) (span, bool) {
	start := runBack(s.src, at, 12, classOf09)
	if at-start < 8 || at-start > 10 || !border(s.src, start) && !bytes.HasSuffix(s.src[:start], []byte("bot")) {
		return span{}, false
	}
	end := s.run(after, url64)
	if end-after < 32 || end-after > 34 || !varied(s.src[after:end]) {
		return span{}, false
	}
	return span{start, end, "telegram-token", rankShape}, true
}

var (
	classOf09  = classOf("0-9")
	azureByte  = classOf("A-Za-z0-9_~.-")
	percentB64 = classOf("A-Za-z0-9%+/=_-")
)

// matchAzureSecret removes a client secret: three, a digit, Q~, then 31 to 34.
func matchAzureSecret(s *scan, at, after int) (span, bool) {
	start := runBack(s.src, at, 8, azureByte)
	if at-start != 4 || !isDigit(s.src[at-1]) {
		// A border in an escape sequence (\n) makes the run longer.
		if at < 4 || !isDigit(s.src[at-1]) || !border(s.src, at-4) {
			return span{}, false
		}
		start = at - 4
	}
	end := s.run(after, azureByte)
	if end-after < 31 || end-after > 40 || !varied(s.src[after:end]) {
		return span{}, false
	}
	return span{start, end, "azure-secret", rankShape}, true
}

// matchSignature removes the signature of a shared access address.
func matchSignature(s *scan, at, after int) (span, bool) {
	if !border(s.src, at) {
		return span{}, false
	}
	end := s.run(after, percentB64)
	if end-after < 40 || !varied(s.src[after:end]) {
		return span{}, false
	}
	return span{after, end, "signed-address", rankShape}, true
}
