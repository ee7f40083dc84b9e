package model

import (
	"encoding/json"
	"slices"
	"strings"

	"conclave/agent"
)

// message is one of a conversation: one of the three is set.
type message struct {
	user    *told
	answer  *answer
	results []result // of the calls of the answer before it
}

// told is what somebody said to the model.
type told struct {
	text   string
	images []agent.Image
}

// result is what a tool gave back.
type result struct {
	call   *block
	text   string
	failed bool
}

// sort says what a block of an answer is.
type sort int

const (
	words sort = iota
	thought
	call
	foreign // something that this package does not know
)

// block is one part of an answer, as far as it has come.
type block struct {
	sort  sort
	text  strings.Builder // words or thoughts; the input of a call
	id    string          // of a call
	name  string
	note  strings.Builder // a signature that goes back with it
	ended bool
	raw   []byte // the events that told of it
	shown int    // bytes of text
}

// answer is what a model says to one call.
type answer struct {
	blocks []*block
	// native is the answer in the form in which the API takes it back; nil for
	// one that is known by its words alone.
	native []json.RawMessage

	model   string
	end     end
	why     string // in the provider's words
	refusal string // what it says to it, if anything
	raw     []byte // of events that tell of no block
}

// end is how an answer ended.
type end int

const (
	unended end = iota
	done
	outOfRoom // the answer is as long as answers may be
	refused
	broken // it says that it could not go on
)

// open adds a block.
func (a *answer) open(s sort) *block {
	b := &block{sort: s}
	a.blocks = append(a.blocks, b)
	return b
}

// last is the block that is being told, if it is of this sort; else a new one,
// and the one before has ended.
func (a *answer) last(s sort) *block {
	for _, b := range slices.Backward(a.blocks) {
		if b.sort == s && !b.ended {
			return b
		}
		if b.sort != foreign { // what is not known stands in nobody's way
			break
		}
	}
	a.rest()
	return a.open(s)
}

// rest ends the block that is being told. Calls may be told in parallel.
func (a *answer) rest() {
	if n := len(a.blocks); n > 0 && a.blocks[n-1].sort != call {
		a.blocks[n-1].ended = true
	}
}

// close ends what is still open.
func (a *answer) close() {
	for _, b := range a.blocks {
		b.ended = true
	}
}

// calls are those of the answer, in order.
func (a *answer) calls() (out []*block) {
	for _, b := range a.blocks {
		if b.sort == call {
			out = append(out, b)
		}
	}
	return out
}

// text is every text block, a blank line between.
func (a *answer) text() string {
	var out []string
	for _, b := range a.blocks {
		if b.sort == words && b.text.Len() > 0 {
			out = append(out, b.text.String())
		}
	}
	return strings.Join(out, "\n\n")
}

// input is what a tool is called with: {} where nothing was said.
func (b *block) input() json.RawMessage {
	if in := strings.TrimSpace(b.text.String()); in != "" {
		return json.RawMessage(in)
	}
	return json.RawMessage("{}")
}

// object is the input as a value of JSON, whatever the model made of it.
func (b *block) object() json.RawMessage {
	in := b.input()
	if json.Valid(in) {
		return in
	}
	return quoted(string(in))
}

// said is an answer that is known by its words alone.
func said(text string) *answer {
	a := &answer{end: done}
	b := a.open(words)
	b.text.WriteString(text)
	b.ended = true
	return a
}

// joined puts messages of the same speaker that follow one another into one:
// some servers want speakers to alternate.
func joined(talk []message) (out []message) {
	for _, m := range talk {
		if n := len(out); n > 0 && m.user != nil && out[n-1].user != nil {
			before := out[n-1].user
			out[n-1].user = &told{before.text + "\n\n" + m.user.text, slices.Concat(before.images, m.user.images)}
			continue
		}
		out = append(out, m)
	}
	return out
}

// settled is a conversation that can be gone on with: every call has its result,
// or is not in it. What an interruption left open is known by its words.
func settled(talk []message) []message {
	for len(talk) > 0 {
		last := talk[len(talk)-1]
		if last.answer == nil || len(last.answer.calls()) == 0 && last.answer.end == done {
			return talk
		}
		talk = talk[:len(talk)-1]
		if text := last.answer.text(); text != "" {
			return append(talk, message{answer: said(text)})
		}
	}
	return talk
}

func quoted(s string) json.RawMessage {
	b, _ := json.Marshal(s) // a string always encodes
	return b
}

// keep adds a part to what goes back.
func (a *answer) keep(v any) {
	b, err := json.Marshal(v)
	if err == nil { // strings, and JSON that was checked
		a.native = append(a.native, b)
	}
}

// foreign adds a block that has ended, of something that is not known.
func (a *answer) foreign() *block {
	b := a.open(foreign)
	b.ended = true
	return b
}

// mapping is the input for the APIs that take back nothing but an object.
func (b *block) mapping() json.RawMessage {
	if in := b.input(); json.Valid(in) && in[0] == '{' {
		return in
	}
	return json.RawMessage("{}")
}
