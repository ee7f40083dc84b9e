package model

import (
	"encoding/base64"

	"conclave/internal/jsontext"
)

// anthropic speaks Anthropic Messages.
type anthropic struct{}

func (anthropic) path(string) string { return "/v1/messages" }

func (anthropic) body(r request) any {
	b := object{"model": r.model, "max_tokens": r.most, "stream": true, "messages": anthropicMessages(r.talk)}
	// What stands before these marks stays the same from call to call, and need
	// not be read anew: tools, system text, the conversation so far.
	if r.system != "" {
		b["system"] = list{object{"type": "text", "text": r.system, "cache_control": ephemeral}}
	}
	if len(r.tools) > 0 {
		var tools list
		for i, t := range r.tools {
			tool := object{"name": t.Name, "description": t.Description, "input_schema": t.Schema}
			if i == len(r.tools)-1 {
				tool["cache_control"] = ephemeral
			}
			tools.add(tool)
		}
		b["tools"] = tools
	}
	if r.form != nil {
		b["output_config"] = object{"format": object{"type": "json_schema", "schema": r.form.Schema()}}
	}
	return b
}

var ephemeral = object{"type": "ephemeral"}

func anthropicMessages(talk []message) list {
	var out list
	for i, m := range talk {
		role, content := "user", list{}
		switch {
		case m.user != nil:
			content = anthropicTold(m.user)
		case m.answer != nil:
			role = "assistant"
			content.raws(m.answer.native)
			if m.answer.native == nil {
				content.add(object{"type": "text", "text": m.answer.text()})
			}
		default:
			for _, r := range m.results {
				content.add(object{"type": "tool_result", "tool_use_id": r.call.id, "content": r.text, "is_error": r.failed})
			}
		}
		if len(content) == 0 {
			continue // an answer of nothing is none
		}
		if last, ok := content[len(content)-1].(object); ok && i == len(talk)-1 {
			last["cache_control"] = ephemeral
		}
		out.add(object{"role": role, "content": content})
	}
	return out
}

func anthropicTold(u *told) (content list) {
	for _, img := range u.images {
		content.add(object{"type": "image", "source": object{
			"type": "base64", "media_type": img.Type, "data": base64.StdEncoding.EncodeToString(img.Data)}})
	}
	if u.text != "" || len(u.images) == 0 {
		content.add(object{"type": "text", "text": u.text})
	}
	return content
}

func (anthropic) decoder() decoder { return &anthropicDecoder{blocks: map[string]*block{}} }

type anthropicDecoder struct {
	blocks map[string]*block // by index, as it is written
}

func (d *anthropicDecoder) event(a *answer, e event) error {
	m := jsontext.Members(e.data, "type", "index", "content_block", "delta", "message", "error")
	b := d.blocks[string(m[1])]
	switch kind := jsontext.Text(m[0]); kind {
	case "message_start":
		a.model = jsontext.Text(jsontext.Get(m[4], "model"))
	case "content_block_start":
		b = d.start(a, string(m[1]), m[2])
	case "content_block_delta":
		if b != nil {
			d.delta(b, m[3])
		}
	case "content_block_stop":
		if b != nil {
			b.ended = true
		}
	case "message_delta":
		d.ended(a, jsontext.Text(jsontext.Get(m[3], "stop_reason")))
	case "message_stop", "ping":
	case "error":
		a.raw = append(a.raw, e.raw...)
		return newFault(0, e.data)
	default:
		b = a.foreign()
	}
	if b == nil {
		a.raw = append(a.raw, e.raw...)
		return nil
	}
	b.raw = append(b.raw, e.raw...)
	return nil
}

func (d *anthropicDecoder) start(a *answer, index string, open []byte) *block {
	m := jsontext.Members(open, "type", "id", "name", "text", "thinking", "input", "data")
	var b *block
	switch jsontext.Text(m[0]) {
	case "text":
		b = a.open(words)
		b.text.WriteString(jsontext.Text(m[3]))
	case "thinking":
		b = a.open(thought)
		b.text.WriteString(jsontext.Text(m[4]))
	case "redacted_thinking":
		b = a.open(thought)
		b.id = jsontext.Text(m[6])
	case "tool_use":
		b = a.open(call)
		b.id, b.name = jsontext.Text(m[1]), jsontext.Text(m[2])
		if in := string(m[5]); in != "" && in != "{}" && in != "null" {
			b.text.WriteString(in)
		}
	default:
		b = a.open(foreign)
		b.text.Write(open)
	}
	d.blocks[index] = b
	return b
}

func (d *anthropicDecoder) delta(b *block, delta []byte) {
	m := jsontext.Members(delta, "type", "text", "thinking", "partial_json", "signature")
	switch jsontext.Text(m[0]) {
	case "text_delta":
		b.text.WriteString(jsontext.Text(m[1]))
	case "thinking_delta":
		b.text.WriteString(jsontext.Text(m[2]))
	case "input_json_delta":
		b.text.WriteString(jsontext.Text(m[3]))
	case "signature_delta":
		b.note.WriteString(jsontext.Text(m[4]))
	}
}

func (d *anthropicDecoder) ended(a *answer, reason string) {
	if reason == "" {
		return
	}
	switch a.end, a.why = done, reason; reason {
	case "max_tokens", "model_context_window_exceeded":
		a.end = outOfRoom
	case "refusal":
		a.end = refused
	}
}

// finish makes the blocks that go back: thoughts with their signatures, as they
// came.
func (d *anthropicDecoder) finish(a *answer) {
	for _, b := range a.blocks {
		var v any
		switch text := b.text.String(); {
		case b.sort == words && text != "":
			v = object{"type": "text", "text": text}
		case b.sort == thought && b.id != "":
			v = object{"type": "redacted_thinking", "data": b.id}
		case b.sort == thought && b.note.Len() > 0:
			v = object{"type": "thinking", "thinking": text, "signature": b.note.String()}
		case b.sort == call:
			v = object{"type": "tool_use", "id": b.id, "name": b.name, "input": b.mapping()}
		default:
			continue
		}
		a.keep(v)
	}
}
