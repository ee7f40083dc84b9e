package redact

import (
	"bytes"
	stdbase64 "encoding/base64"
)

// encodedRules find tokens and private keys in base64, as they stand in the
// secrets of a cluster, in variables and in what a careless agent prints. The
// letters of a known beginning are the same in base64 but for its edges,
// whichever of three places it has: these are the anchors.
func encodedRules() []rule {
	plain := append(shapeRules(), rule{"-----begin", false, matchPEM})
	anchors := make([]string, len(plain))
	for i, r := range plain {
		anchors[i] = r.anchor
	}
	inner := &Redactor{rules: plain, auto: newAutomaton(anchors), spare: map[string]bool{}}
	match := func(s *scan, at, after int) (span, bool) { return matchEncoded(inner, s, at, after) }
	beginnings := map[string]bool{"-----BEGIN ": true}
	for _, sh := range shapes() {
		beginnings[sh.prefix] = true
	}
	var rules []rule
	for b := range beginnings {
		for shift := range 3 {
			if a := encodedAnchor(b, shift); len(a) >= 5 {
				rules = append(rules, rule{a, true, match})
			}
		}
	}
	return append(rules, rule{`auth"`, true, matchAuth}, rule{`auth\"`, true, matchAuth}, rule{`auth\\`, true, matchAuth})
}

// encodedAnchor is the part of s in base64, shift bytes behind a multiple of
// three, that does not depend on what stands around s.
func encodedAnchor(s string, shift int) string {
	enc := stdbase64.RawStdEncoding.EncodeToString([]byte("\x00\x00"[:shift] + s))
	start := (shift*8 + 5) / 6
	end := (shift + len(s)) * 8 / 6
	return enc[start:end]
}

// encodedReach bounds what is decoded around an anchor.
const encodedReach = 16 << 10

func matchEncoded(inner *Redactor, s *scan, at, after int) (span, bool) {
	start := runBack(s.src, at, encodedReach, base64)
	end := min(s.run(after, base64), after+encodedReach)
	text := bytes.TrimRight(s.src[start:end], "=")
	for len(text)%4 == 1 {
		text = text[:len(text)-1]
	}
	std := bytes.Map(func(r rune) rune {
		switch r {
		case '-':
			return '+'
		case '_':
			return '/'
		}
		return r
	}, text)
	// What stands before the anchor may not belong to it: NAME=c2st…
	for skip := 0; skip < 4 && skip < len(std); skip++ {
		part := std[skip:]
		if len(part)%4 == 1 {
			part = part[:len(part)-1]
		}
		plain, err := stdbase64.RawStdEncoding.DecodeString(string(part))
		if err == nil && inner.Has(plain) {
			return span{start, end, "encoded-secret", rankShape}, true
		}
	}
	return span{}, false
}

// matchAuth removes the login of a registry: "auth": user:password in base64.
func matchAuth(s *scan, at, _ int) (span, bool) {
	v, ok := valueAfter(s.src, at, at+len("auth"))
	if !ok || !border(s.src, at) || !v.quoted {
		return span{}, false
	}
	end := s.run(v.start, base64)
	plain, err := stdbase64.RawStdEncoding.DecodeString(string(bytes.TrimRight(s.src[v.start:end], "=")))
	colon := bytes.IndexByte(plain, ':')
	if err != nil || colon < 1 || !printable(plain) || len(plain)-colon < 4 || dull(plain[colon+1:]) {
		return span{}, false
	}
	return span{v.start, end, "authorization", rankHeader}, true
}

// discordRules find a bot's token by the two digits in base64 that its
// account's number begins with.
func discordRules() []rule {
	var rules []rule
	for _, first := range []string{"MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"} {
		rules = append(rules, rule{first, true, matchDiscord})
	}
	return rules
}

// matchDiscord removes NUMBER.TIME.CODE.
func matchDiscord(s *scan, at, after int) (span, bool) {
	if !border(s.src, at) || at > 0 && base64[s.src[at-1]] && s.src[at-1] != '=' {
		return span{}, false
	}
	one := s.run(after, alnum)
	if one-at < 23 || one-at > 28 || one >= len(s.src) || s.src[one] != '.' {
		return span{}, false
	}
	two := s.run(one+1, url64)
	if two-one != 7 || two >= len(s.src) || s.src[two] != '.' {
		return span{}, false
	}
	end := s.run(two+1, url64)
	number, err := stdbase64.RawStdEncoding.DecodeString(string(s.src[at:one]))
	if end-two < 28 || err != nil || !isDigits(number) {
		return span{}, false
	}
	return span{at, end, "discord-token", rankShape}, true
}
