package offline

import (
	"encoding/json"
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestQuoteIsPartOfItsLine: a quotation stands in the line, is no longer than
// it may be, and cannot be taken for a citation or end one.
func TestQuoteIsPartOfItsLine(t *testing.T) {
	cited := regexp.MustCompile(`\S+:\d`)
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.OneOf(rapid.String(), rapid.StringMatching("[ a-z:.0-9`“”/\t]{0,200}")).Draw(t, "line")
		q := quote(line)
		if !strings.Contains(line, q) || utf8.RuneCountInString(q) > maxQuote || !utf8.ValidString(q) {
			t.Fatalf("%q quotes %q", q, line)
		}
		if strings.ContainsAny(q, "“”`\n\t\x00") || cited.MatchString(q) {
			t.Fatalf("%q cannot be quoted", q)
		}
	})
}

// TestPastComesBack: the conversation that a caller sends ahead of a message is
// read as it was held.
func TestPastComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var past []exchange
		text := pastMark + " This is the conversation so far, word for word; continue it.\n"
		word := rapid.StringMatching(`[a-z ?.]{1,40}(\n\n?[a-z]{1,20}){0,3}`)
		for range rapid.IntRange(1, 4).Draw(t, "turns") {
			x := exchange{told: strings.TrimSpace(word.Draw(t, "told")) + "x", said: tidy(word.Draw(t, "said")) + "."}
			past = append(past, x)
			text += toldMark + x.told + "\n" + saidMark + x.said + "\n"
		}
		message := word.Draw(t, "message")
		got, rest := readPast(text + "\n\n" + message)
		if len(got) != len(past) || rest != message {
			t.Fatalf("%d exchanges and %q from\n%s", len(got), rest, text)
		}
		for i := range past {
			if got[i] != past[i] {
				t.Fatalf("%+v became %+v", past[i], got[i])
			}
		}
	})
}

// FuzzCriterion: whatever a criterion says, nothing of it is held for true of
// work that is not there, and nothing is judged without evidence.
func FuzzCriterion(f *testing.F) {
	f.Add("`README.md` exists and has at most 3 lines", "README.md", "x\n")
	f.Add("No TODO; \"a, and b\" is in it", "a/b.txt", "TODO")
	f.Add("it contains `` ` and (check: `x`", "", "")
	f.Fuzz(func(t *testing.T, text, name, data string) {
		tree := fstest.MapFS{}
		if fs.ValidPath(name) && name != "." {
			tree[name] = &fstest.MapFile{Data: []byte(data)}
		}
		proofs, known := facts{tree, 1 << 20}.verify(text)
		if known != (len(proofs) > 0) {
			t.Fatalf("known %v with %d proofs", known, len(proofs))
		}
		for _, p := range proofs {
			if p.evidence == "" {
				t.Fatalf("%q without evidence", p.clause)
			}
			if p.holds && len(tree) == 0 {
				t.Fatalf("%q holds of no work at all", p.clause)
			}
		}
		if err := brokenJSON(data); err != nil && json.Valid([]byte(data)) {
			t.Fatalf("%q is JSON: %v", data, err)
		}
		readCriteria(text)
		readChecks(text)
		_ = spoken(text)
		tn := &turn{session: &session{}}
		d := &draft{}
		for _, words := range []string{text, data, name, text, data, text} {
			d.hear(words, d.missing(tn.questions(modeBoth)).about)
		}
		d.complete()
	})
}
