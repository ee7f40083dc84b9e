package quest

import (
	_ "embed" // reasoning.txt
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// What the leak check looks for is the party's reasoning: what argues,
// justifies, recounts decisions, reports effort or confidence, or pleads with
// whoever will judge. What a text says of the work itself – that a function
// returns an error, how a tool is installed, what happens in a chapter – is the
// work, whoever said it first.
//
// No list of words knows the one from the other for certain. So there are three
// strengths, and where a passage stands decides which of them is asked for: see
// passages.

// strength is how much a passage sounds like reasoning.
type strength int

const (
	describes strength = iota // plainly says what something is or does
	unmarked                  // nothing in it tells
	hints                     // speaks to somebody, weighs, allows, forbids
	argues                    // judges, gives reasons, speaks of the speakers
	recounts                  // tells of decisions, effort, hopes
	pleads                    // speaks to or of those who judge, or of the party
)

// strengthOf judges a sentence, or any piece of text.
func strengthOf(text string) strength {
	plain := plainWords(text)
	switch {
	case pleadsIn(text, plain):
		return pleads
	case recountsIn(plain):
		return recounts
	case argumentIn(text, plain) >= 2:
		return argues
	case strings.HasSuffix(strings.TrimRight(text, " \t\r\n\"'”’»)*_"), "?"):
		return hints
	case actsIn(plain):
		return describes
	case hintsIn(plain):
		return hints
	case describesIn(text):
		return describes
	}
	return unmarked
}

// plainWords is a text in lower case with one space before and behind each
// word; what stands between them is gone, and so are apostrophes.
func plainWords(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 2)
	b.WriteByte(' ')
	gap := true
	for _, r := range text {
		switch {
		case r == '\'' || r == '’':
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(unicode.ToLower(r))
			gap = false
		case !gap:
			b.WriteByte(' ')
			gap = true
		}
	}
	if !gap {
		b.WriteByte(' ')
	}
	return b.String()
}

//go:embed reasoning.txt
var reasoningText string

// vocabulary is reasoning.txt, made ready. Most commands never need it.
type vocabulary struct {
	sections map[string][]string

	recounting, pleading []*regexp.Regexp
	named                *regexp.Regexp // the cast, with a verb
	// told are verbs of deciding and striving: with "we" or "I" before them they
	// tell of the way, not of the work. Some do so only of several: "I said"
	// stands in many a story.
	told, ours, between                    map[string]bool
	speaker, past, judging, reason, hint   map[string]bool
	technical, defining, doing             *regexp.Regexp
	texts, parts, writing, places, reasons *regexp.Regexp
	shown, asking, orders                  *regexp.Regexp
	requests, opinions                     *regexp.Regexp // for a thing, and for what somebody thinks
	pages                                  *regexp.Regexp // asks for what will stand on one
	small                                  map[string]bool
	conditions, acts                       map[string]bool // of what is described: "if …, … returns …"
	statements                             map[string]bool // that begin lines of SQL and the like
}

var vocab = sync.OnceValue(func() *vocabulary {
	v := &vocabulary{sections: map[string][]string{}}
	section := ""
	for line := range strings.Lines(reasoningText) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[]")
		default:
			v.sections[section] = append(v.sections[section], line)
		}
	}
	v.recounting = []*regexp.Regexp{v.runs("effort"), v.runs("decisions"), v.runs("beliefs"), v.runs("foreign")}
	v.pleading = []*regexp.Regexp{v.runs("pleas"), v.runs("evaluators")}
	v.named = regexp.MustCompile(`\b(?:[Tt]he |[Oo]ur )?` + v.oneOf("cast") + `(?:'s|’s)? (?:\w+ )?` + v.oneOf("castVerbs") + `\b` +
		`|[a-z,;] (?:the|our) (?:Dragon|Guardian)\b`)
	v.told, v.ours, v.between = v.words("told"), v.words("ours"), v.words("between")
	v.speaker, v.past, v.judging = v.words("speakerWords"), v.words("pastWords"), v.words("judgingWords")
	v.reason, v.hint, v.small = v.words("reasonWords"), v.words("hintWords"), v.words("small")
	// What programs, formats and measures are named with.
	v.technical = regexp.MustCompile(`[a-z][A-Z]|\w_\w|\w\(|(?:^|\s)--?\w|[\w-]+\.[a-z]{1,5}\b|\b[A-Z]{2,}|\d` +
		`|[A-Za-z]/[A-Za-z]|[<>={}\[\]]|::|` + "`")
	v.defining = regexp.MustCompile(`^\W*(?:An? |[\w.’' -]{1,40} is an? )`)
	// What begins sentences of documentation and of lists of changes.
	v.doing = regexp.MustCompile(`^\W*` + v.oneOf("doing") + `\b`)
	// texts are words for a text that goes into the work; parts are too, where
	// the sentence also says that it is to be put somewhere.
	v.texts, v.parts, v.writing = v.runs("texts"), v.runs("parts"), v.runs("writing")
	v.places = regexp.MustCompile(`\b[\w-]+\.[a-z]{1,5}\b|\b[A-Z]{4,}\b`)
	v.reasons, v.shown, v.asking = v.runs("reasons"), v.runs("shown"), v.runs("asking")
	v.requests, v.opinions, v.pages = v.runs("requests"), v.runs("opinions"), v.runs("pages")
	v.conditions, v.acts, v.statements = v.words("conditions"), v.words("acts"), v.words("statements")
	// orders begin messages that ask for a text.
	v.orders = regexp.MustCompile(`(?m)(?:^|[.!?])\s*` + v.oneOf("orders") + `\b`)
	return v
})

// runs is the expression over plain words of a section.
func (v *vocabulary) runs(section string) *regexp.Regexp {
	return regexp.MustCompile(` (?:` + strings.Join(v.sections[section], "|") + `) `)
}

// words is the words of a section.
func (v *vocabulary) words(section string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(strings.Join(v.sections[section], " ")) {
		set[w] = true
	}
	return set
}

// oneOf is the words of a section as alternatives of an expression.
func (v *vocabulary) oneOf(section string) string {
	return `(?:` + strings.Join(strings.Fields(strings.Join(v.sections[section], " ")), "|") + `)`
}

func pleadsIn(text, plain string) bool {
	return anyMatches(vocab().pleading, plain) || vocab().named.MatchString(text)
}

func recountsIn(plain string) bool {
	return anyMatches(vocab().recounting, plain) || firstPersonTells(plain)
}

func anyMatches(lists []*regexp.Regexp, plain string) bool {
	return slices.ContainsFunc(lists, func(list *regexp.Regexp) bool { return list.MatchString(plain) })
}

// firstPersonTells finds "we" or "I" with a verb of deciding and striving.
func firstPersonTells(plain string) bool {
	v, words := vocab(), strings.Fields(plain)
	for i, w := range words {
		several := w == "we" || w == "weve" || w == "wed"
		if !several && w != "i" && w != "ive" {
			continue
		}
		next := words[i+1:]
		for len(next) > 0 && v.between[next[0]] && !(next[0] == "had" && len(next) > 1 && next[1] == "to") {
			next = next[1:]
		}
		if len(next) > 0 && (v.told[next[0]] || several && v.ours[next[0]]) {
			return true
		}
	}
	return false
}

// argumentIn weighs what judges and gives reasons.
func argumentIn(text, plain string) int {
	v, n := vocab(), 0
	past, reason := false, false
	before := ""
	for w := range strings.FieldsSeq(plain) {
		switch {
		case w == "id" && !strings.ContainsAny(text, "'’"): // a column's name, and not "I'd"
		case v.speaker[w], v.judging[w]:
			n += 2
		case v.tellsPast(before, w) && !past:
			n, past = n+1, true
		case v.reason[w] && !reason:
			n, reason = n+1, true
		}
		before = w
	}
	return n
}

// tellsPast says whether a word tells of the past: in "is kept" and "a kept one" it
// does not.
func (v *vocabulary) tellsPast(before, word string) bool {
	switch before {
	case "is", "are", "be", "being", "a", "an", "the":
		return false
	}
	return v.past[word]
}

func hintsIn(plain string) bool {
	v, before := vocab(), ""
	for w := range strings.FieldsSeq(plain) {
		if v.hint[w] || v.tellsPast(before, w) || v.reason[w] {
			return true
		}
		before = w
	}
	return false
}

// actsIn says whether a sentence tells what a thing does, under which conditions
// and with what effect, and nothing that somebody thinks of it.
func actsIn(plain string) bool {
	v, acts, before := vocab(), false, ""
	for w := range strings.FieldsSeq(plain) {
		if (v.hint[w] || v.tellsPast(before, w) || v.reason[w]) && !v.conditions[w] {
			return false
		}
		acts, before = acts || v.acts[w], w
	}
	return acts
}

// tellsOfThePast says whether a text has a verb of the past.
func tellsOfThePast(text string) bool {
	for w := range strings.FieldsSeq(plainWords(text)) {
		if vocab().past[w] {
			return true
		}
	}
	return false
}

func describesIn(text string) bool {
	v := vocab()
	return v.technical.MatchString(text) || v.defining.MatchString(text) || v.doing.MatchString(text)
}
