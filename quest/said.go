package quest

import (
	"slices"
	"strings"
	"unicode"

	"conclave/internal/markdown"
)

// What a person says in free words is understood by whole phrases: everything
// that was said has to be part of one, so that "ok, but change 2" is no
// agreement and "the dragon is scary" no wish to face it. What is not understood
// is not guessed at: it goes to whoever is spoken to.

// shortened are contractions, with and without their apostrophe.
var shortened = map[string]string{
	"i'm": "i am", "im": "i am", "i'd": "i would", "i'll": "i will", "i've": "i have",
	"we're": "we are", "we'd": "we would", "we'll": "we will", "we've": "we have",
	"let's": "let us", "lets": "let us", "that's": "that is", "thats": "that is", "that'll": "that will",
	"it's": "it is", "what's": "what is", "whats": "what is", "there's": "there is", "who's": "who is",
	"don't": "do not", "dont": "do not", "doesn't": "does not", "isn't": "is not", "aren't": "are not",
	"can't": "can not", "cant": "can not", "cannot": "can not", "won't": "will not", "wouldn't": "would not",
	"shouldn't": "should not", "didn't": "did not", "haven't": "have not", "hasn't": "has not",
	"wanna": "want to", "gonna": "going to", "okay": "ok", "alright": "all right", "checkpoints": "checkpoint",
}

// saidWords are the words of what was said, in small letters and without
// contractions; asks says that there is a question in it.
func saidWords(text string) (words []string, asks bool) {
	text = strings.ToLower(strings.NewReplacer("’", "'", "‘", "'", "ʼ", "'").Replace(text))
	fields := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '\'' && r != '+' && !unicode.Is(unicode.So, r)
	})
	for _, w := range fields {
		w = strings.Trim(w, "'")
		if long, ok := shortened[w]; ok {
			words = append(words, strings.Fields(long)...)
		} else if w != "" {
			words = append(words, w)
		}
	}
	return words, strings.Contains(text, "?")
}

// agreements are phrases that say yes; politeness is what may stand around them.
var (
	agreements = phrases(
		"yes", "y", "yep", "yeah", "yup", "aye", "yes please", "yes sir", "ok", "k", "all right", "sure", "sure thing",
		"of course", "agreed", "i agree", "we agree", "i do agree", "agree", "i agree to that", "i agree with that",
		"i agree with it", "i agree to it", "fine", "fine by me", "fine with me", "good", "good enough", "great", "perfect",
		"excellent", "wonderful", "brilliant", "lovely", "nice", "cool", "super", "right", "correct", "exactly",
		"precisely", "indeed", "absolutely", "definitely", "certainly", "by all means", "very well", "so be it", "deal",
		"done", "done deal", "accepted", "i accept", "i accept it", "accept", "approved", "i approve", "confirmed",
		"i confirm", "confirm", "lgtm", "+1", "👍", "👌", "✅", "✔", "✓",
		"that is it", "that is right", "that is correct", "that is good", "that is fine", "that is perfect",
		"that is the quest", "that is my quest", "that is our quest", "that is what i want", "that is what i meant",
		"that is exactly it", "that is exactly right", "that is exactly what i want", "that is ok", "that is great",
		"it is right", "it is good", "it is fine", "it is correct", "it is perfect", "it is ok", "it is done",
		"this is right", "this is it", "this is good", "this is fine", "this is the quest", "this is correct",
		"these are right", "these are good", "these are fine", "these are the criteria", "they are right", "they are good",
		"they are fine", "all good", "all fine", "all correct", "everything is right", "everything is fine",
		"looks good", "looks good to me", "looks right", "looks right to me", "looks fine", "looks great", "looks perfect",
		"it looks good", "it looks right", "that looks good", "that looks right", "this looks good", "this looks right",
		"sounds good", "sounds right", "sounds great", "sounds fine", "sounds perfect", "that sounds good",
		"that sounds right", "it sounds good", "sounds like a plan", "works for me", "that works", "that works for me",
		"this works", "it works for me", "that will do", "go", "go ahead", "go for it", "go on then", "let us go",
		"let us do it", "let us do this", "let us begin", "let us start", "let us go with that", "let us go with it",
		"do it", "make it so", "proceed", "please proceed", "begin", "start", "ship it", "write it down",
		"write it down then", "i am happy", "i am happy with it", "i am happy with that", "i am happy with this",
		"happy with that", "happy with it", "we are happy with it", "i like it", "i like that", "i like this", "i love it",
		"love it", "leave it as it is", "leave it", "keep it as it is", "keep it", "keep it like that", "as it is",
		"no changes", "no change", "no changes needed", "nothing to change", "nothing to add", "nothing more to add",
		"nothing else", "no objections", "no objection", "no complaints", "i have nothing to add", "why not", "yes it is",
		"yes they are", "yes that is it", "you have it", "you got it", "spot on", "on point", "well put", "well said",
	)
	politeness = phrases(
		"please", "thanks", "thank you", "thank you very much", "many thanks", "cheers", "then", "now", "so", "well", "oh",
		"ah", "hm", "hmm", "just", "very", "really", "quite", "totally", "completely", "all", "to me", "for me", "by me",
		"with me", "i think", "i guess", "i would say", "gandalf", "my friend", "wizard", "old friend", "exactly as it is",
		"like that", "like this", "and", "for now",
	)
)

// phrases are word lists, the longest first.
func phrases(list ...string) [][]string {
	var out [][]string
	for _, p := range list {
		out = append(out, strings.Fields(p))
	}
	slices.SortStableFunc(out, func(a, b []string) int { return len(b) - len(a) })
	return out
}

// begins returns how many words of the first phrase that words begin with, 0
// for none.
func begins(words []string, list [][]string) int {
	for _, p := range list {
		if len(p) <= len(words) && slices.Equal(words[:len(p)], p) {
			return len(p)
		}
	}
	return 0
}

// Agrees says whether a person's words agree to what they were shown, and say
// nothing beside it: "ok, but change 2" is a change, and a question is one too.
func Agrees(text string) bool {
	words, asks := saidWords(text)
	if asks {
		return false
	}
	agreed := false
	for len(words) > 0 {
		n := begins(words, agreements)
		if p := begins(words, politeness); p > n {
			n = p
		} else if n > 0 {
			agreed = true
		}
		if n == 0 {
			return false
		}
		words = words[n:]
	}
	return agreed
}

// ownWords are what a person said themselves: without what they quoted, pasted
// in a fence, or piped in as a diff.
func ownWords(text string) string {
	var out []string
	var fence markdown.Fence
	diff := false
	for line := range strings.Lines(markdown.Normalise(text)) {
		line = strings.TrimRight(line, "\n")
		trimmed := strings.TrimSpace(line)
		switch {
		case fence.Inside(line):
			continue
		case startsDiff(line):
			diff = true
			continue
		case diff && (trimmed == "" || strings.ContainsRune("+-@ \\", rune(line[0])) || diffHeader(line)):
			continue
		case strings.HasPrefix(trimmed, ">"), strings.HasPrefix(line, "\t"), strings.HasPrefix(line, "    "):
			continue
		}
		diff = false
		out = append(out, withoutCode(line))
	}
	return strings.Join(out, "\n")
}

func startsDiff(line string) bool {
	return strings.HasPrefix(line, "diff --git ") || strings.HasPrefix(line, "@@ -") ||
		strings.HasPrefix(line, "--- a/") || strings.HasPrefix(line, "+++ b/")
}

func diffHeader(line string) bool {
	for _, p := range []string{"index ", "new file mode", "deleted file mode", "similarity index", "rename ", "old mode",
		"new mode", "Binary files "} {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	return false
}

// withoutCode drops what stands between backticks, paths and addresses.
func withoutCode(line string) string {
	parts := strings.Split(line, "`")
	if len(parts)%2 == 1 {
		for i := 1; i < len(parts); i += 2 {
			parts[i] = ""
		}
		line = strings.Join(parts, " ")
	}
	words := strings.Fields(line)
	return strings.Join(slices.DeleteFunc(words, func(w string) bool {
		w = strings.Trim(w, ".,;:!?()\"'")
		return strings.ContainsAny(w, "/\\_=<>{}") || strings.Contains(w, ".") && len(w) > 3
	}), " ")
}
