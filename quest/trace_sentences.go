package quest

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// sentence keeps a sentence that accuses; what it quotes is judged apart.
func (t *tracer) sentence(s span, m manner) {
	text := string(t.data[s.from:s.to])
	if n, yes := namedIn(text); yes && m == spoken && !t.words && !t.evidence {
		t.sentence(span{s.from + n.from, s.to}, offered)
		s.to = s.from + n.from
		text = text[:n.from]
	}
	rest := []byte(text)
	for _, q := range quotations(text) {
		for i := q.from; i < q.to; i++ {
			rest[i] = ' '
		}
		inner := span{s.from + q.from, s.from + q.to}
		if t.quotationAccuses(inner, m) {
			t.keep(inner)
		}
	}
	if t.words && m == silent || !t.words && !m.accuses(string(rest)) {
		return
	}
	at := 0
	for _, q := range append(quotations(text), span{len(text), len(text)}) {
		if q.from > at {
			t.keep(span{s.from + at, s.from + q.from})
		}
		at = q.to
	}
}

func (t *tracer) quotationAccuses(s span, m manner) bool {
	if t.words {
		return t.data[s.from] != '`' && m != silent
	}
	return !t.evidence && max(m, offered).accuses(string(t.data[s.from:s.to]))
}

var quoted = regexp.MustCompile("`[^`]+`" + `|“[^”]+”|„[^“”]+[“”]|«[^»]+»|"[^"]+"` +
	`|(?:^|[\s(])'(?:[^'\n]|'\pL){12,}'(?:$|[\s.,;:!?)])`)

// named is where a sentence goes on with the text that it names: a comment such
// as …, the README should say that …, // …
var named = regexp.MustCompile(`(?i)\b(?:comment|line|sentence|note|heading|headline|title|text|message|docstring|entry|` +
	`paragraph|label|readme|docs?|documentation|help|page|abstract|description|caption|tagline)s?\b[^.:!?]{0,40}?` +
	`\b(?:such as|like|(?:saying|says?|reads?|reading|states?|mentions?|explains?)(?: that)?),?\s` + `|\s//\s`)

// quotations finds what a sentence quotes: code spans, three words or more in
// marks, and the rest of a sentence that names it.
func quotations(text string) []span {
	var out []span
	for _, at := range quoted.FindAllStringIndex(text, -1) {
		if text[at[0]] == '`' || len(strings.Fields(text[at[0]:at[1]])) >= 3 {
			out = append(out, span{at[0], at[1]})
		}
	}
	return out
}

// namedIn is the text that a sentence names without marks, if it does.
func namedIn(text string) (span, bool) {
	at := named.FindStringIndex(text)
	if at == nil || len(strings.Fields(text[at[1]:])) < 3 || vocab().reasons.MatchString(plainWords(text[:at[1]])) {
		return span{}, false
	}
	return span{at[1], len(text)}, true
}

// sentences cuts a paragraph. A colon ends one if it announces what follows.
func sentences(text string) []span {
	var out []span
	from := 0
	spans := quotations(text)
	for i := 0; i < len(text); i++ {
		if k := slices.IndexFunc(spans, func(q span) bool { return q.from == i }); k >= 0 && text[i] != ' ' {
			i = spans[k].to - 1
			// A quotation that ends a sentence ends with its mark.
			if i > 0 && strings.IndexByte(".!?", text[i-1]) < 0 {
				continue
			}
		} else if strings.IndexByte(".!?:", text[i]) < 0 {
			continue
		}
		end := i + 1
		for end < len(text) && strings.IndexByte(".!?\"')*_", text[end]) >= 0 {
			end++
		}
		next := strings.TrimLeft(text[end:], " \t\r\n>*_-#/")
		if end < len(text) && !isSpace(text[end]) || next != "" && !beginsSentence(next) && text[i] != ':' {
			continue
		}
		if text[i] == ':' {
			if !announces(text[from:end], true) {
				continue
			}
		}
		out = append(out, span{from, end})
		from, i = end, end-1
	}
	if strings.TrimSpace(text[from:]) != "" {
		out = append(out, span{from, len(text)})
	}
	return out
}

func beginsSentence(text string) bool {
	r := []rune(text[:min(len(text), 4)])[0]
	return !unicode.IsLower(r)
}

// announces says whether a sentence announces text for the work: what follows
// its colon, or the next block. A person who shows something announces it too.
func announces(sentence string, person bool) bool {
	text := strings.TrimRight(sentence, " \t\r\n*_")
	v, plain := vocab(), plainWords(text)
	put := v.texts.MatchString(plain) ||
		v.parts.MatchString(plain) && (v.writing.MatchString(plain) || v.places.MatchString(text))
	switch {
	case v.reasons.MatchString(plain):
		return false
	case !strings.HasSuffix(text, ":"):
		return put && v.shown.MatchString(plain) && v.writing.MatchString(plain)
	case person && (asksForText(sentence) || v.shown.MatchString(plain)):
		return true
	}
	return put
}

// asksForText says whether the person asks for words or code to use.
func asksForText(message string) bool {
	v, plain := vocab(), plainWords(message)
	return v.asking.MatchString(plain) || v.orders.MatchString(message) || asksForPage(message) ||
		v.requests.MatchString(plain) && !v.opinions.MatchString(plain)
}

// asksForPage says whether what the person asks for will stand somewhere, word
// for word, and is no account of reasons.
func asksForPage(message string) bool {
	v, plain := vocab(), plainWords(message)
	return v.pages.MatchString(plain) && !v.opinions.MatchString(plain)
}
