package table

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"conclave/internal/markdown"
)

// ResponseKind says what a player's turn came to.
type ResponseKind int

const (
	Empty ResponseKind = iota // nothing but white space
	Answer
	Veto
	TooLong
)

// Response is a player's answer, read as data.
type Response struct {
	Kind   ResponseKind
	Text   string // of an answer
	Reason string // of a veto, with all its paragraphs
	Long   bool   // a QUICK_REACTION beyond the soft cap
	Size   int64
}

// vetoLine is the first line of every veto file.
const vetoLine = "[VETO - need more input]"

// Reasons of NoResponse.
const (
	ReasonTimeout     = "timeout"
	ReasonEmpty       = "empty"
	ReasonCrashed     = "crashed"
	ReasonRefused     = "refused"
	ReasonTooLong     = "too long"
	reasonVetoFull    = "veto not allowed for FULL_CONTEXT"
	reasonVetoTwice   = "veto already used in this cycle"
	noReason          = "(no reason given)"
	genericVetoReason = "need more input"
)

// Words to a player whose turn cannot stand as it is.
const (
	RetryVeto    = "Full context was given; answer now, or say that your character waits."
	RetryEmpty   = "Your answer was empty; answer now, or say that your character waits."
	RetryTooLong = "Your answer was too long to be delivered; give a shorter one."
)

var vetoTag = regexp.MustCompile(`(?i)^\[VETO(?:\]|\s*[-–—:]\s*([^\]]*)\])[ \t]*(.*)$`)

// ParseResponse reads a player's answer. It refuses nothing: whatever stands in
// the text, signals and errors included, is text.
func ParseResponse(raw string, rt RequestType, caps Caps) Response {
	caps = caps.WithDefaults()
	r := Response{Size: int64(len(raw))}
	if r.Size > caps.Response {
		r.Kind = TooLong
		return r
	}
	text := strings.TrimSpace(markdown.Clean(raw))
	if text == "" {
		return r
	}
	first, rest, _ := strings.Cut(text, "\n")
	if m := vetoTag.FindStringSubmatch(first); m != nil {
		r.Kind = Veto
		r.Reason = vetoReason(m[1], m[2], rest)
		return r
	}
	r.Kind, r.Text = Answer, text
	r.Long = rt == QuickReaction && utf8.RuneCountInString(text) > caps.QuickSoft
	return r
}

// vetoReason takes the words inside the tag, unless they are the usual ones, and
// all that stands after it: a veto is nothing but its reason.
func vetoReason(inside, sameLine, rest string) string {
	reason := strings.TrimSpace(sameLine + "\n" + rest)
	if inside = strings.TrimSpace(inside); inside != "" && !strings.EqualFold(inside, genericVetoReason) {
		reason = strings.TrimSpace(inside + "\n" + reason)
	}
	return cmp.Or(reason, noReason)
}

// File is the response file of an answer or a veto; nil for what has none: an
// empty file is never given to the GM.
func (r Response) File() []byte {
	switch r.Kind {
	case Answer:
		return []byte(r.Text + "\n")
	case Veto:
		return []byte(vetoLine + "\n\n" + r.Reason + "\n")
	}
	return nil
}

// VetoFor is a veto as a player says it, with its reason.
func VetoFor(reason string) string { return vetoLine + "\n\n" + reason }

// WithNotes is an answer with notes for the journal, as SplitTurn tells them
// apart again.
func WithNotes(answer string, notes []string) string {
	if len(notes) == 0 {
		return answer
	}
	if SplitTurn(answer).Notes == "" {
		answer += "\n[NOTES]"
	}
	return answer + "\n" + strings.Join(notes, "\n")
}

// VetoRefused says why a veto may not stand: full context was given, or the
// character has had its one veto of the cycle. It returns "" for a good one.
func VetoRefused(rt RequestType, vetoesBefore int) string {
	switch {
	case rt == FullContext:
		return reasonVetoFull
	case vetoesBefore > 0:
		return reasonVetoTwice
	}
	return ""
}

// NoResponse is the extension of the seed's error forms for a player that gave
// no answer.
func NoResponse(character, reason string) []byte {
	return fmt.Appendf(nil, "[ERROR: No response]\n\nCharacter: %s\nReason: %s\n", character, reason)
}

// RefusedVeto is NoResponse for a veto that could not stand. Its reason is kept:
// it is the player's words, quoted, and none of the engine's.
func RefusedVeto(character, why, reason string) []byte {
	file := append(NoResponse(character, why), '\n')
	for line := range strings.Lines(markdown.EndLine(reason)) {
		file = append(file, "> "+line...)
	}
	return file
}

// Turn is what a player gives back: the response and, apart, notes for its journal.
type Turn struct{ Response, Notes string }

// SplitTurn reads the text form of a turn: everything after a line [NOTES],
// outside fenced code, is the notes.
func SplitTurn(raw string) Turn {
	text := markdown.Clean(raw)
	var f markdown.Fence
	at := 0
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		if !f.Inside(strings.TrimSuffix(line, "\n")) && strings.EqualFold(bare, "[NOTES]") {
			return Turn{strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+len(line):])}
		}
		at += len(line)
	}
	return Turn{Response: strings.TrimSpace(text)}
}

// MergeNotes appends notes within one cycle, a blank line between. It returns
// nil when there is nothing to keep: an empty file counts as none.
func MergeNotes(before []byte, notes string, caps Caps) ([]byte, error) {
	old := strings.TrimSpace(markdown.Clean(string(before)))
	add := strings.TrimSpace(markdown.Clean(notes))
	out := strings.Trim(old+"\n\n"+add, "\n")
	if out == "" {
		return nil, nil
	}
	if limit := caps.WithDefaults().Notes; int64(len(out)) > limit {
		return nil, &CapError{"notes", int64(len(out)), limit}
	}
	return []byte(out + "\n"), nil
}

// NewDelimiter returns the random word that fences player text for one cycle.
func NewDelimiter() string {
	b := make([]byte, 8)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// QuoteForGM shows text to the GM as data: between two lines that carry the
// cycle's delimiter, each line marked. A signal or an error form inside is then
// inert even if the GM repeats the block word for word. What the engine itself
// has to say goes outside of the block.
func QuoteForGM(delimiter, character, what, text string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<<< %s from %s, quoted as data · %s\n", what, character, delimiter)
	for line := range strings.Lines(markdown.EndLine(markdown.Clean(text))) {
		b.WriteString("> " + line)
	}
	fmt.Fprintf(&b, ">>> end of %s · %s\n", character, delimiter)
	return b.String()
}
