package quest

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"conclave/internal/shingle"
	"conclave/policy"
	"conclave/profile"
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
	asked, answered := false, false
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
		t.blocks(m.span, speech{manner: spoken, person: m.person, asked: !m.person && asked})
		t.standing(m.span)
		if m.person {
			asked = asksForText(text)
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

// said is one message of a conversation file.
type said struct {
	span
	person bool
}

// messagesIn finds the messages and the outcome of a conversation file by
// whoever wrote it.
func messagesIn(data []byte) (messages []said, outcome span) {
	head := bytes.Index(data, []byte("\n"+exchangeHeading))
	if head < 0 {
		return nil, span{}
	}
	at := head + 1
	messages = []said{}
	for line := range bytes.Lines(data[at:]) {
		text := strings.TrimRight(string(line), "\r\n")
		if strings.HasPrefix(text, outcomeHeading) {
			return messages, span{at + len(line), len(data)}
		}
		tag, _, ok := profile.CutTag(text)
		if !ok {
			tag, ok = anyTag(text)
		}
		switch {
		case ok:
			messages = append(messages, said{span{at + len(tag), at + len(line)}, tag == profile.UserTag})
		case len(messages) > 0:
			messages[len(messages)-1].to = at + len(line)
		case !strings.HasPrefix(text, exchangeHeading) && strings.TrimSpace(text) != "":
			messages = append(messages, said{span{at, at + len(line)}, false})
		}
		at += len(line)
	}
	return messages, span{len(data), len(data)}
}

// anyTag finds the tag of a speaker that no cast knows: a file by other hands
// may name one without an emoji.
func anyTag(line string) (string, bool) {
	if !strings.HasPrefix(line, "**") {
		return "", false
	}
	name, _, ok := strings.Cut(line[2:], ":**")
	if !ok || name == "" || strings.ContainsAny(name, "*`") || len(strings.Fields(name)) > 4 ||
		!unicode.IsUpper([]rune(name)[0]) {
		return "", false
	}
	for _, a := range profile.Cast() {
		if strings.Contains(name, a.Title) {
			return "**" + name + ":**", true
		}
	}
	return "", false
}

// speech is how the text of a message is read.
type speech struct {
	manner manner
	person bool // the person speaks
	asked  bool // text for the work was asked for
}

// blocks reads a text block by block: paragraphs, items of lists, quotations,
// fences, changes in the form of diff.
func (t *tracer) blocks(s span, how speech) {
	b := &blockReader{t: t, how: how, par: -1}
	if text := t.data[s.from:s.to]; bytes.Count(text, []byte("\n")) >= pastedLines {
		b.long = true
	}
	at := s.from
	for line := range bytes.Lines(t.data[s.from:s.to]) {
		b.line(span{at, at + len(line)})
		at += len(line)
	}
	b.flush(at)
}

// pastedLines are so many that nobody types them into a conversation.
const pastedLines = 12

type blockReader struct {
	t    *tracer
	how  speech
	long bool // too much to be typed

	par       int    // where the open paragraph began, or -1
	manner    manner // of that paragraph
	quote     bool   // it is a quotation
	count     int    // paragraphs before it
	offer     bool   // the last words announced a text
	list      bool   // an announced list goes on
	announced bool   // the open fence was announced

	fence, language string
	code            bool // the open paragraph is one of comments or code
	hunk            int  // lines of a pasted change that are still to come
}

// usual is the manner of plain words here.
func (b *blockReader) usual() manner {
	switch {
	case b.how.manner != spoken:
		return b.how.manner
	case b.how.person && b.long && b.count > 0:
		return pasted
	case b.offer || b.list:
		return offered
	case b.how.asked, b.how.person && b.count > 0:
		return fenced
	}
	return spoken
}

var item = regexp.MustCompile(`^(?:[-*+•]|\d{1,3}[.)])\s`)

func (b *blockReader) line(s span) {
	line := strings.TrimRight(string(b.t.data[s.from:s.to]), "\r\n")
	text := strings.TrimSpace(line)
	mark := fenceMark(text)
	switch {
	case b.fence != "" && strings.HasPrefix(mark, b.fence) && strings.Trim(text, mark[:1]) == "":
		b.flush(s.from)
		b.fence = ""
	case b.fence != "":
		b.fencedLine(s, text)
	case mark != "":
		b.flush(s.from)
		b.fence, b.language = mark, strings.ToLower(strings.Trim(text, mark[:1]+" "))
		b.announced, b.offer = b.offer, false
	case b.inHunk(line):
		b.flush(s.from)
	case text == "":
		b.flush(s.from)
	case strings.HasPrefix(text, ">"):
		b.begin(s.from, offered, !b.quote)
		b.quote = true
	case strings.HasPrefix(text, "|"), strings.HasPrefix(text, "#"):
		b.begin(s.from, max(fenced, b.usual()), true)
		b.flush(s.to)
	case item.MatchString(text):
		b.flush(s.from)
		if b.offer {
			b.list, b.offer = true, false
		}
		b.begin(s.from, b.usual(), true)
	default:
		if b.par < 0 && line == text {
			b.list = false // a line of its own ends a list; an indented one goes on with it
		}
		code := isCode(text)
		b.begin(s.from, b.usual(), b.quote || code != b.code)
		b.code = code
	}
}

// begin goes on with the open paragraph, or begins a new one.
func (b *blockReader) begin(at int, m manner, anew bool) {
	if anew {
		b.flush(at)
	}
	if b.par < 0 {
		b.par, b.manner = at, m
	}
}

// fencedLine takes a line of a fence: comments and prose go on over lines.
func (b *blockReader) fencedLine(s span, text string) {
	m := offered
	if b.t.words && !isCode(text) && !isComment(text) && (plainFence(b.language) || smallWords(text) >= 2) {
		m = spoken
	} else if plainFence(b.language) && !isCode(text) && !b.announced && !b.how.asked {
		m = fenced
	}
	if b.t.evidence {
		m = silent
	}
	code := isCode(text) && !isComment(text)
	if text == "" || code || b.code || b.par >= 0 && b.manner != m {
		b.flush(s.from)
	}
	if text != "" {
		b.begin(s.from, m, false)
		b.code = code
	}
}

func plainFence(language string) bool {
	switch language {
	case "", "text", "txt", "md", "markdown":
		return true
	}
	return false
}

// flush judges the open paragraph, sentence by sentence.
func (b *blockReader) flush(end int) {
	if b.par < 0 {
		return
	}
	text := string(b.t.data[b.par:end])
	m := b.manner
	if b.quote && (b.t.evidence || b.t.words) || b.t.words && b.fence != "" && m != spoken {
		m = silent
	} else if b.t.words {
		m = spoken
	}
	offer := false
	for _, sentence := range sentences(text) {
		b.t.sentence(span{b.par + sentence.from, b.par + sentence.to}, m)
		said := text[sentence.from:sentence.to]
		offer = b.fence == "" && !b.quote && announces(said, b.how.person)
		if offer && strings.HasSuffix(strings.TrimSpace(said), ":") {
			m = max(m, offered)
		}
	}
	if b.fence == "" {
		b.offer = offer
		b.count++
	}
	b.par, b.quote, b.code = -1, false, false
}

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
	v := vocab()
	return v.asking.MatchString(plainWords(message)) || v.orders.MatchString(message)
}

var hunkHead = regexp.MustCompile(`^(?:\*\*User:\*\* )?\s?@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// inHunk reports whether a line belongs to a change in the form of diff. Such
// a one quotes the project, to which it belongs.
func (b *blockReader) inHunk(line string) bool {
	if m := hunkHead.FindStringSubmatch(line); m != nil && b.how.person {
		b.hunk = count(m[1]) + count(m[2])
		return true
	}
	if b.hunk <= 0 || line != "" && !strings.ContainsRune("+- \\", rune(line[0])) {
		b.hunk = 0
		return false
	}
	b.hunk--
	if line == "" || line[0] == ' ' {
		b.hunk-- // it stands on both sides
	}
	return true
}

// count is a number of a hunk's head, which leaves out a one.
func count(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 1
	}
	return n
}

// isCode tells a line of a program, a table or a log from words: in a sentence
// most words are nothing but letters.
func isCode(text string) bool {
	words := strings.Fields(text)
	if len(words) == 0 {
		return false
	}
	letters := 0
	for _, w := range words {
		bare := strings.Trim(w, `.,;:!?'"()–—-…*_>#/“”„‘’«»`)
		if !strings.ContainsFunc(bare, func(r rune) bool { return !unicode.IsLetter(r) && !strings.ContainsRune("-'’", r) }) {
			letters++
		}
	}
	return letters*5 < len(words)*4 || strings.HasSuffix(text, "{") || strings.HasSuffix(text, ";")
}

// smallWords counts the words that sentences have and programs lack.
func smallWords(text string) int {
	n := 0
	for w := range strings.FieldsSeq(plainWords(text)) {
		if vocab().small[w] {
			n++
		}
	}
	return n
}

// isComment says whether a line of a program is one for people.
func isComment(text string) bool {
	for _, mark := range []string{"//", "#", "--", ";", "%", "*", "/*", `"""`, "'''", "<!--"} {
		if strings.HasPrefix(text, mark) {
			return true
		}
	}
	return false
}

func fenceMark(text string) string {
	for _, c := range []string{"`", "~"} {
		if strings.HasPrefix(text, c+c+c) {
			return text[:len(text)-len(strings.TrimLeft(text, c))]
		}
	}
	return ""
}
