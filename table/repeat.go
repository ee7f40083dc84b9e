package table

import (
	"slices"
	"strings"
	"unicode"
)

// Repeats finds what a text repeats of a secret: the words, or "" for nothing.
// Case, punctuation, emphasis, line breaks and letters that cannot be seen make
// no difference. It recognises
//
//   - three of the secret's words in a row, if one of them carries meaning (two,
//     of an older secret: there are many of those), or all of a shorter one;
//   - half of the words that carry meaning, wherever they stand (not of older
//     ones);
//   - a number or a name of it (not of older ones).
//
// What stands in known, the texts that the reader has anyway, is no secret. In
// other words a secret can be told; that is the teller's choice.
func Repeats(secret, text string, older bool, known ...string) string {
	had, stream := newSpeech(strings.Join(known, "\n\x00\n")), newSpeech(text)
	w := words(foldMarks(secret).text)
	if found := repeatedRun(w, stream, had, older); found != "" || older {
		return found
	}
	var meant, told []string
	for _, word := range w {
		if carriesMeaning(word) && !had.words[word] && !slices.Contains(meant, word) {
			meant = append(meant, word)
			if stream.words[word] {
				told = append(told, word)
			}
		}
	}
	if len(told) >= 2 && 2*len(told) >= len(meant) {
		return strings.Join(told, " … ")
	}
	for _, name := range namesIn(secret) {
		if stream.words[name] && !had.words[name] {
			return name
		}
	}
	return ""
}

// repeatedRun looks for runs in the letters of a text, so that it does not
// matter where words begin and end.
func repeatedRun(w []string, text, known speech, older bool) string {
	n, least := min(3, len(w)), 1
	if older {
		least = 2
	}
	for i := 0; n > 0 && i+n <= len(w); i++ {
		run := w[i : i+n]
		meaning := 0
		for _, word := range run {
			if carriesMeaning(word) {
				meaning++
			}
		}
		letters := strings.Join(run, "")
		if meaning < least || len(letters) < 4 {
			continue
		}
		if strings.Contains(text.letters, letters) && !strings.Contains(known.letters, letters) {
			return strings.Join(run, " ")
		}
	}
	return ""
}

// speech is a text as it is compared: its letters without anything between
// them, and its words.
type speech struct {
	letters string
	words   map[string]bool
}

func newSpeech(text string) speech {
	s := speech{words: map[string]bool{}}
	var b strings.Builder
	for part := range strings.SplitSeq(text, "\x00") {
		for _, w := range words(foldMarks(part).text) {
			b.WriteString(w)
			s.words[w] = true
		}
		b.WriteByte(0)
	}
	s.letters = b.String()
	return s
}

// smallWords are everywhere, and say nothing of anybody.
var smallWords = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`about after again against along also always around away back because been before behind being below beside
		between both came come comes could does done door down each even ever every eyes find from give gives goes going hand hands have head
		hear hears here hers hide himself herself into itself just keep know leave left like little long look looks made make makes many more
		most much must myself near never next night nobody nods nothing once only open opens other others over past quiet quietly rather
		right room same says seen self shall should side since slow slowly some something soon stand stands stay stays step steps still
		such take takes tell than that their them then there these they thing this those though through till time toward towards turn
		turns under until upon very wait waits walk walks want wants were what when where which while will with within without would
		your yours yourself you're been down well went yes then else watch whatever anything everyone everybody somebody`) {
		m[w] = true
	}
	return m
}()

// carriesMeaning is a rule of thumb: a longer word that is not everywhere, a
// number, or a word in a script of its own.
func carriesMeaning(w string) bool {
	if smallWords[w] {
		return false
	}
	return len([]rune(w)) >= 4 || strings.ContainsFunc(w, func(r rune) bool { return unicode.IsNumber(r) || r > 0x7f })
}

// namesIn are the numbers of a text, and its words in capitals where no sentence
// begins.
func namesIn(text string) []string {
	var out []string
	begins := true
	for _, field := range strings.Fields(text) {
		bare := strings.TrimFunc(field, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
		runes := []rune(bare)
		capital := len(runes) > 2 && unicode.IsUpper(runes[0]) && (!begins || unicode.IsUpper(runes[1]))
		if capital || len(runes) > 1 && strings.ContainsFunc(bare, unicode.IsNumber) {
			for _, w := range words(foldMarks(bare).text) {
				if len(w) > 2 && !smallWords[w] {
					out = append(out, w)
				}
			}
		}
		begins = strings.ContainsAny(field[len(field)-1:], ".!?:\"") || bare == ""
	}
	return out
}
