package offline

import (
	_ "embed"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"conclave/internal/pattern"
	"conclave/internal/project"
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
var engineMarks = pattern.New(`^(The person who leads|A person wants to begin|The council has spoken|A council is held|A quest is under way|The quest ["“].*(is over|begins)|The mode is |The criteria are in|The stage |They ask |Your verdict stands|What came of your evaluation)|In your working directory|\x60path:line\x60`)

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
	ticks    = pattern.New("`([^`\n]{1,80})`")
	quoted   = pattern.New(`["“]([^"“”\n]{2,60})["”]`)
	pathLike = pattern.New(`[\w.-]+(?:/[\w.-]+)+|[\w-]+\.[A-Za-z]{1,6}\b`)
	oneWord  = pattern.New(`[\pL][\pL\pN_'-]{2,}`)
)

// common words say nothing about what is asked.
//
//go:embed common.txt
var commonWords string

var common = strings.Fields(commonWords)

const maxWords = 8

// searchWords are the words of a text that are worth looking for: what stands
// in quotation marks and names of files first, then the longest words.
func searchWords(text string) []string {
	var out []string
	add := func(w string) {
		w = strings.TrimSpace(w)
		if utf8.RuneCountInString(w) > 2 && !slices.Contains(common, strings.ToLower(w)) && !slices.ContainsFunc(out, func(x string) bool { return strings.EqualFold(x, w) }) {
			out = append(out, w)
		}
	}
	for _, re := range []*pattern.Pattern{ticks, quoted} {
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
func numbered(text string) iter.Seq2[int, string] { return project.Lines(text) }

// lineWhere is the first line that is wanted, or none.
func lineWhere(text string, wanted func(line string) bool) hit {
	for n, line := range numbered(text) {
		if wanted(line) {
			return hit{line: n, text: line}
		}
	}
	return hit{}
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
	bullet        = pattern.New(`^\s*([-*+•]|\(?\d{1,3}[.)])\s+`)
	splitSentence = pattern.New(`;\s+|[.!?]\s+`)
)

func number(n int) string { return strconv.Itoa(n) }
