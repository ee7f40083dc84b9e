package model

import (
	"bytes"
	"encoding/json"
	"strings"

	"conclave/internal/jsontext"
)

// openai speaks OpenAI Responses.
type openai struct{}

func (openai) path(string) string { return "/v1/responses" }

func (openai) body(r request) any {
	b := object{"model": r.model, "stream": true, "store": false, "input": openaiInput(r.talk)}
	if r.system != "" {
		b["instructions"] = r.system
	}
	if !r.without[partReasoning] {
		// Nothing is kept there, so what the model thought goes along.
		b["include"] = list{"reasoning.encrypted_content"}
	}
	if len(r.tools) > 0 {
		var tools list
		for _, t := range r.tools {
			tools.add(object{"type": "function", "name": t.Name, "description": t.Description,
				"parameters": t.Schema, "strict": false})
		}
		b["tools"] = tools
	}
	if r.form != nil {
		b["text"] = object{"format": object{"type": "json_schema", "name": formName,
			"schema": r.form.Schema(), "strict": false}}
	}
	return b
}

// formName is what the APIs that want one are told as the name of a form.
const formName = "answer"

func openaiInput(talk []message) list {
	var out list
	for _, m := range talk {
		switch {
		case m.user != nil:
			var content list
			if m.user.text != "" || len(m.user.images) == 0 {
				content.add(object{"type": "input_text", "text": m.user.text})
			}
			for _, img := range m.user.images {
				content.add(object{"type": "input_image", "detail": "auto", "image_url": dataURL(img)})
			}
			out.add(object{"type": "message", "role": "user", "content": content})
		case m.answer != nil && m.answer.native == nil:
			out.add(object{"role": "assistant", "content": m.answer.text()})
		case m.answer != nil:
			out.raws(m.answer.native)
		default:
			for _, r := range m.results {
				out.add(object{"type": "function_call_output", "call_id": r.call.id, "output": r.spoken()})
			}
		}
	}
	return out
}

// spoken is a result for the APIs that have no mark for a failure.
func (r result) spoken() string {
	if r.failed {
		return "error: " + r.text
	}
	return r.text
}

func (openai) decoder() decoder { return &openaiDecoder{items: map[string]*block{}} }

type openaiDecoder struct {
	items map[string]*block // by output_index, as it is written
	whole []json.RawMessage // items that have ended, in their order
}

func (d *openaiDecoder) event(a *answer, e event) error {
	m := jsontext.Members(e.data, "type", "output_index", "item", "delta", "response", "refusal")
	at := string(m[1])
	b := d.items[at]
	switch kind := jsontext.Text(m[0]); kind {
	case "response.created", "response.in_progress", "response.queued":
		a.model = jsontext.Text(jsontext.Get(m[4], "model"))
	case "response.output_item.added":
		b = d.item(a, at, m[2])
	case "response.output_text.delta", "response.reasoning_summary_text.delta", "response.reasoning_text.delta",
		"response.function_call_arguments.delta":
		if b != nil {
			b.text.WriteString(jsontext.Text(m[3]))
		}
	case "response.refusal.delta":
		a.refusal += jsontext.Text(m[3])
	case "response.output_item.done":
		if b == nil {
			b = d.item(a, at, m[2])
		}
		d.done(a, b, m[2])
	case "response.completed", "response.incomplete":
		d.ended(a, m[4])
	case "response.failed", "error":
		a.raw = append(a.raw, e.raw...)
		return newFault(0, failure(e.data))
	default:
		// Parts that begin and end, and pieces of what comes whole with its item.
		if b == nil && !bytes.HasPrefix(m[0], []byte(`"response.`)) {
			b = a.foreign()
		}
	}
	if b == nil {
		a.raw = append(a.raw, e.raw...)
		return nil
	}
	b.raw = append(b.raw, e.raw...)
	return nil
}

// failure is the error in the words that errors have.
func failure(data []byte) []byte {
	if r := jsontext.Get(data, "response", "error"); len(r) > 0 {
		return append(append([]byte(`{"error":`), r...), '}')
	}
	return data
}

func (d *openaiDecoder) item(a *answer, at string, item []byte) *block {
	m := jsontext.Members(item, "type", "call_id", "name")
	var b *block
	switch jsontext.Text(m[0]) {
	case "message":
		b = a.open(words)
	case "reasoning":
		b = a.open(thought)
	case "function_call":
		b = a.open(call)
		b.id, b.name = jsontext.Text(m[1]), jsontext.Text(m[2])
	default:
		b = a.open(foreign)
	}
	d.items[at] = b
	return b
}

// done takes an item as it is whole; what was told in pieces is the same.
func (d *openaiDecoder) done(a *answer, b *block, item []byte) {
	m := jsontext.Members(item, "content", "summary", "arguments", "call_id", "name", "encrypted_content")
	whole := b.text.String()
	switch b.sort {
	case words:
		whole = texts(m[0], "output_text", "text")
		a.refusal = first(texts(m[0], "refusal", "refusal"), a.refusal)
	case thought:
		whole = first(texts(m[1], "summary_text", "text"), whole)
	case call:
		whole = jsontext.Text(m[2])
		b.id, b.name = first(jsontext.Text(m[3]), b.id), first(jsontext.Text(m[4]), b.name)
	case foreign:
		whole = string(item)
	}
	b.complete(whole)
	b.ended = true
	if b.sort == thought && len(m[5]) < 3 || b.sort == words && whole == "" {
		return // it could not be taken back: nothing of it is kept there, or in it
	}
	d.whole = append(d.whole, json.RawMessage(bytes.Clone(item)))
}

// complete puts the whole in place of pieces. What was shown is not taken back:
// a server whose pieces differ from the whole is taken by its pieces.
func (b *block) complete(whole string) {
	if b.shown > 0 && (len(whole) < b.shown || whole[:b.shown] != b.text.String()[:b.shown]) {
		return
	}
	b.text.Reset()
	b.text.WriteString(whole)
}

func (d *openaiDecoder) ended(a *answer, response []byte) {
	m := jsontext.Members(response, "model", "status", "incomplete_details")
	a.model = first(jsontext.Text(m[0]), a.model)
	switch a.end, a.why = done, jsontext.Text(m[1]); jsontext.Text(jsontext.Get(m[2], "reason")) {
	case "":
	case "content_filter":
		a.end, a.why = refused, "content_filter"
	default:
		a.end, a.why = outOfRoom, jsontext.Text(jsontext.Get(m[2], "reason"))
	}
	if a.refusal != "" {
		a.end, a.why = refused, first(a.why, "refusal")
	}
}

func (d *openaiDecoder) finish(a *answer) { a.native = d.whole }

// texts joins a member of those parts of a list that are of one type.
func texts(parts []byte, kind, member string) string {
	var out strings.Builder
	_ = jsontext.Elements(parts, func(p []byte) error { // what is no list has none
		if jsontext.Text(jsontext.Get(p, "type")) == kind {
			out.WriteString(jsontext.Text(jsontext.Get(p, member)))
		}
		return nil
	})
	return out.String()
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
