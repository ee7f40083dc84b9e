package quest

import (
	"bytes"
	"slices"
	"strings"

	"conclave/internal/shingle"
	"conclave/policy"
)

// A trace is a source with everything blanked that does not betray it: what
// remains stands where it stood, so that lines and bytes are the source's own.
// There are two. An audit looks for the source's own words, all of them but what
// it quotes, in what reached an agent. The leak check looks for reasoning in the
// work; there the place of a passage says how much it takes to be left:
//
//   - What somebody says accuses unless it plainly describes the work.
//   - What is fenced or pasted accuses if it argues.
//   - What is offered as text for the work, quoted, or code, accuses if it tells
//     of decisions, effort, hopes or evaluators: a fence is no place to say in
//     what may not be said.
//   - What the person pasted, a page and not a sentence, accuses if it speaks to
//     or of those who judge, or of the party.
//
// In neither is what stood in the project before it was said, nor what the
// person had put before the speaker.
type manner int

const (
	closed manner = iota // accuses, whatever it says
	spoken
	fenced
	offered
	pasted
	silent // accuses nobody
)

func (m manner) accuses(text string) bool {
	switch m {
	case closed:
		return true
	case spoken:
		if isCode(text) {
			return strengthOf(text) >= argues
		}
		return strengthOf(text) >= unmarked
	case fenced:
		return strengthOf(text) >= argues
	case offered:
		return strengthOf(text) >= recounts
	case pasted:
		return strengthOf(text) >= pleads
	}
	return false
}

// span is a stretch of bytes.
type span struct{ from, to int }

// tracer makes the trace of one source.
type tracer struct {
	data     []byte
	out      []byte
	kept     []span
	unnoted  []span
	words    bool         // for an audit: the source's own words, whatever they say
	evidence bool         // what is quoted here comes from the work
	put      *shingle.Set // what was put before those who speak now
	stood    func(string) [][2]int
}

func newTracer(data []byte, words bool, stood func(string) [][2]int) *tracer {
	t := &tracer{data: data, out: make([]byte, len(data)), words: words, stood: stood}
	for i, c := range data {
		t.out[i] = ' '
		if c == '\n' {
			t.out[i] = '\n'
		}
	}
	t.put, _ = shingle.NewSet(make([]byte, shingle.KeySize)) // it never leaves this function's caller
	return t
}

// traced is what betrays a source.
type traced struct {
	text    []byte // as long as the source
	kept    []span // the passages that are left, one by one
	unnoted []span // of which nobody knows what stood in the project before
}

func (t *tracer) done() traced { return traced{t.out, t.kept, t.unnoted} }

// cutBy blanks in a trace what also stands in other texts.
func (t traced) cutBy(others ...[]byte) traced {
	set, err := shingle.NewSet(make([]byte, shingle.KeySize))
	if err != nil {
		return t
	}
	for _, o := range others {
		set.Add("", o)
	}
	return t.less(set)
}

// less blanks in a trace what a set knows.
func (t traced) less(set *shingle.Set) traced {
	r := tracer{out: t.text}
	for _, h := range set.Find(t.text) {
		r.blank(span{h.From, h.To})
	}
	return t
}

// keep leaves a passage in the trace.
func (t *tracer) keep(s span) {
	for s.from < s.to && isSpace(t.data[s.from]) {
		s.from++
	}
	if s.from < s.to {
		copy(t.out[s.from:s.to], t.data[s.from:s.to])
		t.kept = append(t.kept, s)
	}
}

// blank takes bytes out of the trace again.
func (t *tracer) blank(s span) {
	for i := max(0, s.from); i < min(s.to, len(t.out)); i++ {
		if t.out[i] != '\n' {
			t.out[i] = ' '
		}
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// proseTrace is the trace of a text in which somebody speaks.
func proseTrace(data []byte, m manner, words bool, stood func(string) [][2]int) traced {
	t := newTracer(data, words, stood)
	t.blocks(span{0, len(data)}, speech{manner: m})
	t.standing(span{0, len(data)})
	return t.done()
}

// WithoutReasoning blanks in a text what would accuse if somebody pasted it.
func WithoutReasoning(data []byte) []byte {
	t := tracer{out: bytes.Clone(data)}
	for _, k := range proseTrace(data, fenced, false, nil).kept {
		t.blank(k)
	}
	return t.out
}

// conversationTrace is the trace of a conversation. Of one with an evaluator
// the opening message is left out: it repeats the expectation, and the next
// checkpoint may well expect the same. What the engine wrote accuses nobody.
func conversationTrace(c Transcript, words bool, stood func(string) [][2]int) traced {
	t := newTracer(c.Data, words, stood)
	t.evidence = c.Kind == policy.ConversationGuardian || c.Kind == policy.ConversationDragon
	messages, outcome := messagesIn(c.Data)
	if messages == nil {
		t.blocks(span{0, len(c.Data)}, speech{manner: spoken})
		return t.done()
	}
	asked, page, answered := false, false, false
	for _, m := range messages {
		text := string(c.Data[m.from:m.to])
		if m.person && t.evidence && !answered {
			end := strings.Index(text, "\n\n")
			if end < 0 || slices.ContainsFunc(messages, func(m said) bool { return !m.person }) {
				t.putBefore(m.span)
				continue
			}
			m.from += end // nobody known has answered: somebody unknown may have
		}
		t.blocks(m.span, speech{manner: spoken, person: m.person, asked: !m.person && asked, page: !m.person && page})
		t.standing(m.span)
		if m.person {
			asked, page = asksForText(text), asksForPage(text)
		} else {
			answered = true
			for _, h := range t.put.Find(c.Data[m.from:m.to]) {
				t.blank(span{m.from + h.From, m.from + h.To})
			}
		}
		t.putBefore(m.span)
	}
	t.outcome(outcome)
	return t.done()
}

// standing blanks what stood in the project when it was said.
func (t *tracer) standing(s span) {
	text := string(t.data[s.from:s.to])
	at := s.from + len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	var stood [][2]int
	if t.stood != nil {
		stood = t.stood(strings.TrimSpace(text))
	}
	if stood == nil {
		t.unnoted = append(t.unnoted, s)
	}
	for _, r := range stood {
		t.blank(span{at + r[0], at + r[1]})
	}
}

// putBefore notes what of a message accuses nobody, for those who repeat it.
func (t *tracer) putBefore(s span) {
	free := bytes.Clone(t.data[s.from:s.to])
	for i, c := range t.out[s.from:s.to] {
		if c != ' ' && c != '\n' {
			free[i] = ' '
		}
	}
	t.put.Add("", free)
}

// outcome takes what the engine did not write in the last section.
func (t *tracer) outcome(s span) {
	at := s.from
	for line := range bytes.Lines(t.data[s.from:s.to]) {
		end := at + len(line)
		text := strings.TrimSpace(string(line))
		if !engineSays(text) {
			t.blocks(span{at, end}, speech{manner: spoken})
		}
		at = end
	}
}

// engineSays knows the sentences that the engine writes into an outcome.
func engineSays(line string) bool {
	return slices.ContainsFunc([]string{noVerdict + noAnswer, endedEarlyHead, noteHead, definedHead}, func(head string) bool {
		return strings.HasPrefix(line, head)
	})
}
