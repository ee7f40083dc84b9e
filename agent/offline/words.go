package offline

import (
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// purpose is what the instructions say a session was called for.
func (t *turn) purpose() string {
	const mark = "You are called for this: "
	if i := strings.LastIndex(t.spec.System, mark); i >= 0 {
		line, _, _ := strings.Cut(t.spec.System[i+len(mark):], "\n")
		return strings.ToLower(line)
	}
	return ""
}

// calledFor says whether the purpose, or the message where there is none,
// speaks of one of the words.
func (t *turn) calledFor(words ...string) bool {
	text := t.purpose()
	if text == "" {
		text = strings.ToLower(t.text)
	}
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// engineMarks begin, or stand in, paragraphs that the engine puts before a
// person's words.
var engineMarks = regexp.MustCompile(`^(The person who leads|A person wants to begin|The council has spoken|A council is held|A quest is under way|The quest ["“].*(is over|begins)|The mode is |The criteria are in|The stage |They ask )|In your working directory|\x60path:line\x60`)

// ownWords leaves out what the engine said before the person.
func ownWords(text string) string {
	for {
		first, rest, more := strings.Cut(text, "\n\n")
		if !engineMarks.MatchString(strings.TrimSpace(first)) {
			return strings.TrimSpace(text)
		}
		if !more {
			return ""
		}
		text = strings.TrimLeft(rest, "\n")
	}
}

var (
	ticks    = regexp.MustCompile("`([^`\n]{1,80})`")
	quoted   = regexp.MustCompile(`["“]([^"“”\n]{2,60})["”]`)
	pathLike = regexp.MustCompile(`[\w.-]+(?:/[\w.-]+)+|[\w-]+\.[A-Za-z]{1,6}\b`)
	oneWord  = regexp.MustCompile(`[\pL][\pL\pN_'-]{2,}`)
)

// common words say nothing about what is asked.
var common = wordSet(`about above after again against also although always among another answer any anything are around asks aside
	because been before begin being below best better between both bring call called can cannot case cases clear clearly come complete consult could
	describe described did different does doing done down each either else enough even ever every everyone everything example exist exists explain
	explained explains few file files find fine first follow following found from full fully further gave get give given gives goes going good
	great had happen has have having help here how however idea including inside instead into its itself just keep kind know known last least
	less let like line lines list long look looks made make makes making many may maybe mean means might more most much must name named need
	needs never new next nobody not nothing now off often once one only open other others our out over own part parts people perhaps person place
	please point possible project quest question rather ready really regard right said same say says see seen several shall she should show shown
	shows since small some someone something sort state still stranger such sure take than that the their them then there these they thing things
	think this those though three through time today together told too two under until upon use used user users uses using very want wants was way
	well were what when where whether which while who whole whom whose why will with within without word words work working works would written yes
	yet you your yours`)

func wordSet(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(text) {
		out[w] = true
	}
	return out
}

const maxWords = 8

// searchWords are the words of a text that are worth looking for: what stands
// in quotation marks and names of files first, then the longest words.
func searchWords(text string) []string {
	var out []string
	add := func(w string) {
		w = strings.TrimSpace(w)
		if utf8.RuneCountInString(w) > 2 && !common[strings.ToLower(w)] && !slices.ContainsFunc(out, func(x string) bool { return strings.EqualFold(x, w) }) {
			out = append(out, w)
		}
	}
	for _, re := range []*regexp.Regexp{ticks, quoted} {
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			add(m[1])
		}
	}
	for _, m := range pathLike.FindAllString(text, -1) {
		add(m)
	}
	var plain []string
	for _, w := range oneWord.FindAllString(pathLike.ReplaceAllString(ticks.ReplaceAllString(text, " "), " "), -1) {
		if utf8.RuneCountInString(w) >= 4 || strings.ToUpper(w) == w && strings.IndexFunc(w, unicode.IsLetter) >= 0 {
			plain = append(plain, w)
		}
	}
	slices.SortStableFunc(plain, func(a, b string) int { return utf8.RuneCountInString(b) - utf8.RuneCountInString(a) })
	for _, w := range plain {
		add(w)
	}
	return out[:min(len(out), maxWords)]
}

// numbered yields the lines of a text without their ends, and their numbers.
func numbered(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		n := 0
		for line := range strings.Lines(text) {
			n++
			if !yield(n, strings.TrimRight(line, "\r\n")) {
				return
			}
		}
	}
}

// sentences splits a text into list items, lines or sentences.
func sentences(text string) []string {
	var out []string
	for _, line := range numbered(text) {
		line = strings.TrimSpace(bullet.ReplaceAllString(line, ""))
		for _, s := range splitSentence.Split(line, -1) {
			if s = strings.TrimSpace(s); s != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

var (
	bullet        = regexp.MustCompile(`^\s*([-*+•]|\(?\d{1,3}[.)])\s+`)
	splitSentence = regexp.MustCompile(`;\s+|[.!?]\s+`)
)

func number(n int) string { return strconv.Itoa(n) }

// quotedList joins words for a sentence.
func quotedList(words []string) string {
	var out []string
	for _, w := range words {
		out = append(out, "“"+w+"”")
	}
	return strings.Join(out, ", ")
}
