package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"conclave/gateway"
	"conclave/transcript"
)

const (
	mostTries = 5 // of one call that fails
	fewTries  = 3 // where nobody is there to answer
	mostCuts  = 3 // of one answer that breaks off

	shortestPause = time.Second
	longestPause  = 2 * time.Minute // that a turn waits because a server says so

	mostError = 1 << 20 // bytes of an error that are read
)

// ask calls the model, and plans what follows from how that went.
func (t *turn) ask() error {
	body, err := t.request()
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		t.spec.Model.BaseURL+t.api.path(t.spec.Model.Name), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("ask the model %s: %w", t.spec.Model.Name, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("User-Agent", "conclave")
	req.Header.Set("Authorization", "Bearer "+t.spec.Model.Token)
	if t.Kind == gateway.Anthropic {
		req.Header.Set("Anthropic-Version", "2023-06-01")
	}
	resp, err := t.client.Do(req)
	if err != nil {
		if alive := t.Alive(); alive != nil {
			return alive
		}
		return t.failed(&fault{message: "the gateway did not answer: " + err.Error(), after: -1})
	}
	if f := refusal(resp); f != nil {
		resp.Body.Close()
		if alive := t.Alive(); alive != nil {
			return alive
		}
		return t.failed(f)
	}
	t.begin(resp, int64(len(body)))
	return nil
}

// request is the body of the call that is due.
func (t *turn) request() ([]byte, error) {
	r := request{
		model: t.spec.Model.Name, system: t.spec.System, talk: joined(t.talk), tools: t.tools,
		most: t.most, without: t.without,
	}
	if t.form != nil {
		if t.without[partForm] {
			r.talk = asked(r.talk, t.form.Request())
		} else {
			r.form = t.form
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(t.api.body(r)); err != nil {
		return nil, fmt.Errorf("ask the model %s: %w", t.spec.Model.Name, err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// asked puts words behind the last thing that the model was told.
func asked(talk []message, words string) []message {
	for i := len(talk) - 1; i >= 0; i-- {
		if u := talk[i].user; u != nil {
			talk[i].user = &told{u.text + words, u.images}
			break
		}
	}
	return talk
}

// refusal is why a response is no stream of an answer, nil when it is one.
func refusal(resp *http.Response) *fault {
	kind := resp.Header.Get("Content-Type")
	if resp.StatusCode == http.StatusOK && (kind == "" || strings.HasPrefix(strings.ToLower(kind), "text/event-stream")) {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostError))
	f := newFault(resp.StatusCode, body)
	if resp.StatusCode == http.StatusOK {
		f.message = fmt.Sprintf("the server answered with %s where a stream of events was asked for: %.200s", kind, body)
		f.final = true
		return f
	}
	f.heed(resp.Header, time.Now())
	if err != nil && f.message == "" {
		f.message = err.Error()
	}
	return f
}

// failed plans what follows a call that failed before anything was said.
func (t *turn) failed(f *fault) error {
	if f.overflows() {
		return t.shorten(f)
	}
	if n := f.bound(); n > 0 && n < t.most {
		t.most = n
		return t.again(f, fmt.Sprintf("an answer of this model has at most %d tokens", n))
	}
	if part := t.unknownPart(f); part != "" {
		t.without[part] = true
		return t.again(f, "the server does not take "+part+": asked without")
	}
	tries := mostTries
	if f.unreached() {
		tries = fewTries
	}
	if f.passes() && t.tries < tries-1 {
		t.tries++
		return t.pause(f, "asking again")
	}
	return t.fail(f)
}

// unknownPart is the part of the request that a server has refused, "" for none.
func (t *turn) unknownPart(f *fault) string {
	if !f.refusesPart() {
		return ""
	}
	says := func(word string) bool { return strings.Contains(strings.ToLower(f.message), word) }
	switch {
	case says("encrypted") && t.Kind == gateway.OpenAI && !t.without[partReasoning]:
		return partReasoning
	case says("stream_options") && !t.without[partUsage]:
		return partUsage
	case t.form != nil && !t.without[partForm]:
		return partForm // which servers refuse in all kinds of words
	}
	return ""
}

// again asks again at once, and says on the record why.
func (t *turn) again(f *fault, why string) error {
	t.Then(t.ask)
	return t.Emit(transcript.SystemEvent, map[string]any{"subtype": "asked_again", "text": why, "error": f.Error()}, f.raw)
}

// pause asks again after a while, and tells the person and the record.
func (t *turn) pause(f *fault, why string) error {
	pause := f.after
	if pause < 0 {
		pause = min(shortestPause<<(t.tries+t.cuts-1), longestPause)
		pause = pause/2 + time.Duration(t.jitter()*float64(pause/2))
	}
	if pause > longestPause {
		f.message += fmt.Sprintf("; the server asks to wait %s", pause.Round(time.Second))
		return t.fail(f)
	}
	text := fmt.Sprintf("%s; %s in %s", f.Error(), why, pause.Round(100*time.Millisecond))
	if err := t.Emit(transcript.SystemEvent, map[string]any{"subtype": "retry", "text": text, "try": t.tries + t.cuts + 1,
		"pause_ms": pause.Milliseconds()}, f.raw); err != nil {
		return err
	}
	if t.Tell != nil {
		t.Tell(t.spec.Role + ": " + text)
	}
	t.Then(func() error {
		if err := t.wait(t.Turn, pause); err != nil {
			return err
		}
		t.Then(t.ask)
		return nil
	})
	return nil
}

// fail ends the turn with an error that is on the record.
func (t *turn) fail(f *fault) error {
	text := "ask the model " + t.spec.Model.Name
	if t.Provider != "" {
		text += " of " + t.Provider
	}
	text += ": " + f.Error()
	if way := t.wayOut(f); way != "" {
		text += "; " + way
	}
	err := errors.New(text)
	return errors.Join(err, t.Emit(transcript.Error, map[string]any{"message": text}, f.raw))
}
