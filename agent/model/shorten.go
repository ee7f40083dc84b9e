package model

import (
	"fmt"
	"slices"
	"strings"

	"conclave/transcript"
)

// shorten leaves out the least that may help, and asks again: results of older
// calls first, then the older half of the messages between the first one and this
// turn, then parts of the newest results. The system text, the first message
// and the current one stay.
func (t *turn) shorten(f *fault) error {
	for _, leave := range []func() string{t.leaveResults, t.leaveMessages, t.leaveParts} {
		what := leave()
		if what == "" {
			continue
		}
		if t.Tell != nil {
			t.Tell(t.spec.Role + ": the conversation has grown past the model's context; left out: " + what)
		}
		t.Then(t.ask)
		return t.Emit(transcript.SystemEvent, map[string]any{"subtype": "left_out", "text": what, "error": f.Error()}, f.raw)
	}
	size := 0
	for _, m := range t.talk {
		if m.user != nil {
			size += len(m.user.text)
			for _, img := range m.user.images {
				size += len(img.Data)
			}
		}
	}
	f.message = fmt.Sprintf("the conversation does not fit the model's context, and nothing more can be left out "+
		"(system text %d bytes, messages that must stay %d bytes): %s; give less at once, or choose a model with a larger "+
		"context",
		len(t.spec.System), size, f.message)
	f.final = true
	return t.fail(f)
}

// leftOut is what stands in place of what was left out.
const leftOut = "(left out here, because the conversation had grown past the model's context: "

// leaveResults leaves out the results of all calls but the newest.
func (t *turn) leaveResults() string {
	n, bytes := 0, 0
	for i := range len(t.talk) - 1 {
		results := slices.Clone(t.talk[i].results)
		for j, r := range results {
			if strings.HasPrefix(r.text, leftOut) || len(r.text) < 2*len(leftOut) {
				continue
			}
			n, bytes = n+1, bytes+len(r.text)
			results[j].text = fmt.Sprintf("%s%d bytes that %s gave; call it again if you need them)",
				leftOut, len(r.text), r.call.name)
		}
		t.talk[i].results = results
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d results of older calls (%d bytes)", n, bytes)
}

// leaveMessages leaves out the older half of what stands between the first
// message and this turn, in whole exchanges.
func (t *turn) leaveMessages() string {
	var begins []int // of exchanges that may go
	for i := 1; i < t.from; i++ {
		if u := t.talk[i].user; u != nil && !strings.HasPrefix(u.text, leftOut) {
			begins = append(begins, i)
		}
	}
	oldest := 1
	if oldest < t.from && t.talk[oldest].user != nil && strings.HasPrefix(t.talk[oldest].user.text, leftOut) {
		oldest++ // the sentence for those that went before
	}
	if oldest >= t.from {
		return ""
	}
	upTo := t.from
	if len(begins) > 1 {
		upTo = begins[len(begins)/2]
	}
	if upTo <= oldest {
		upTo = t.from
	}
	n, bytes := upTo-oldest, 0
	for _, m := range t.talk[oldest:upTo] {
		bytes += m.size()
	}
	t.gone += n
	note := message{user: &told{text: fmt.Sprintf("%s%d earlier messages)", leftOut, t.gone)}}
	talk := append(slices.Clone(t.talk[:1]), note)
	t.from += 2 - upTo
	t.talk = append(talk, t.talk[upTo:]...)
	return fmt.Sprintf("%d earlier messages (%d bytes)", n, bytes)
}

// leaveParts leaves out three quarters of each long result of the newest calls.
func (t *turn) leaveParts() string {
	const short = 2000
	last := len(t.talk) - 1
	results, n := slices.Clone(t.talk[last].results), 0
	for i, r := range results {
		if len(r.text) <= short {
			continue
		}
		keep := max(len(r.text)/4, short/2)
		n += len(r.text) - keep
		results[i].text = strings.ToValidUTF8(r.text[:keep], "") +
			fmt.Sprintf("\n%sthe other %d bytes of this)", leftOut, len(r.text)-keep)
	}
	t.talk[last].results = results
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d bytes of the newest results", n)
}

// size is how many bytes a message has, about.
func (m message) size() (n int) {
	if m.user != nil {
		n = len(m.user.text)
	}
	if m.answer != nil {
		for _, b := range m.answer.blocks {
			n += b.text.Len()
		}
	}
	for _, r := range m.results {
		n += len(r.text)
	}
	return n
}
