package model

import (
	"encoding/base64"
	"encoding/json"
	"strconv"

	"conclave/agent"
	"conclave/internal/jsontext"
)

// chat speaks chat completions, as OpenAI made them and many servers speak them
// in their own ways: what one of them leaves out is done without.
type chat struct{}

func (chat) path(string) string { return "/v1/chat/completions" }

func (chat) body(r request) any {
	b := object{"model": r.model, "stream": true, "messages": chatMessages(r)}
	if !r.without[partUsage] {
		b["stream_options"] = object{"include_usage": true}
	}
	if len(r.tools) > 0 {
		var tools list
		for _, t := range r.tools {
			tools.add(object{"type": "function", "function": object{
				"name": t.Name, "description": t.Description, "parameters": t.Schema}})
		}
		b["tools"] = tools
	}
	if r.form != nil {
		b["response_format"] = object{"type": "json_schema", "json_schema": object{
			"name": formName, "schema": r.form.Schema(), "strict": false}}
	}
	return b
}

func chatMessages(r request) list {
	var out list
	if r.system != "" {
		out.add(object{"role": "system", "content": r.system})
	}
	for _, m := range r.talk {
		switch {
		case m.user != nil:
			out.add(object{"role": "user", "content": chatTold(m.user)})
		case m.answer != nil && m.answer.native == nil:
			out.add(object{"role": "assistant", "content": m.answer.text()})
		case m.answer != nil:
			out.raws(m.answer.native)
		default:
			for _, x := range m.results {
				out.add(object{"role": "tool", "tool_call_id": x.call.id, "content": x.spoken()})
			}
		}
	}
	return out
}

func chatTold(u *told) any {
	if len(u.images) == 0 {
		return u.text // the plain form, which every server takes
	}
	var content list
	if u.text != "" {
		content.add(object{"type": "text", "text": u.text})
	}
	for _, img := range u.images {
		content.add(object{"type": "image_url", "image_url": object{"url": dataURL(img)}})
	}
	return content
}

func dataURL(img agent.Image) string {
	return "data:" + img.Type + ";base64," + base64.StdEncoding.EncodeToString(img.Data)
}

func (chat) decoder() decoder { return &chatDecoder{calls: map[string]*block{}} }

type chatDecoder struct {
	calls map[string]*block // by index, as it is written
}

func (d *chatDecoder) event(a *answer, e event) error {
	if string(e.data) == "[DONE]" {
		a.raw = append(a.raw, e.raw...)
		return nil
	}
	m := jsontext.Members(e.data, "choices", "model", "error", "usage")
	if len(m[2]) > 0 && string(m[2]) != "null" {
		a.raw = append(a.raw, e.raw...)
		return newFault(0, e.data)
	}
	a.model = first(jsontext.Text(m[1]), a.model)
	if m[0] == nil && m[3] == nil {
		b := a.foreign()
		b.raw = append(b.raw, e.raw...)
		return nil
	}
	var told *block
	_ = jsontext.Elements(m[0], func(choice []byte) error { // null where there is only usage
		c := jsontext.Members(choice, "index", "delta", "finish_reason")
		if at := string(c[0]); at != "" && at != "0" {
			return nil // one answer was asked for
		}
		told = d.delta(a, c[1])
		d.ended(a, jsontext.Text(c[2]))
		return nil
	})
	if told == nil {
		a.raw = append(a.raw, e.raw...)
		return nil
	}
	told.raw = append(told.raw, e.raw...)
	return nil
}

// delta takes a piece and returns the block that it is of, the last one where
// there are several.
func (d *chatDecoder) delta(a *answer, delta []byte) (b *block) {
	m := jsontext.Members(delta, "content", "reasoning_content", "reasoning", "refusal", "tool_calls")
	if t := first(jsontext.Text(m[1]), jsontext.Text(m[2])); t != "" {
		b = a.last(thought)
		b.text.WriteString(t)
	}
	if t := jsontext.Text(m[0]); t != "" {
		b = a.last(words)
		b.text.WriteString(t)
	}
	a.refusal += jsontext.Text(m[3])
	_ = jsontext.Elements(m[4], func(c []byte) error { // null where there are none
		b = d.call(a, c)
		return nil
	})
	return b
}

func (d *chatDecoder) call(a *answer, c []byte) *block {
	m := jsontext.Members(c, "index", "id", "function")
	f := jsontext.Members(m[2], "name", "arguments")
	at, id := string(m[0]), jsontext.Text(m[1])
	b := d.calls[at]
	// Some servers number all calls with nought, or not at all: another id is
	// another call, and so is another name.
	if b == nil || id != "" && id != b.id || id == "" && jsontext.Text(f[0]) != "" && at == "" {
		a.rest()
		b = a.open(call)
		b.id = first(id, "call_"+strconv.Itoa(len(a.blocks)))
		d.calls[at] = b
	}
	b.name = first(b.name, jsontext.Text(f[0]))
	if args := jsontext.Text(f[1]); args != "" {
		b.text.WriteString(args)
	} else if len(f[1]) > 0 && f[1][0] == '{' { // some give the object itself
		b.text.Write(f[1])
	}
	return b
}

func (d *chatDecoder) ended(a *answer, reason string) {
	if reason == "" {
		return
	}
	a.close()
	switch a.end, a.why = done, reason; reason {
	case "length":
		a.end = outOfRoom
	case "content_filter":
		a.end = refused
	}
	if a.refusal != "" {
		a.end = refused
	}
}

func (d *chatDecoder) finish(a *answer) {
	m := object{"role": "assistant", "content": nil}
	if t := a.text(); t != "" {
		m["content"] = t
	}
	var calls list
	for _, c := range a.calls() {
		calls.add(object{"id": c.id, "type": "function", "function": object{"name": c.name, "arguments": string(c.input())}})
	}
	if len(calls) > 0 {
		m["tool_calls"] = calls
	}
	if m["content"] != nil || len(calls) > 0 {
		a.keep(m)
	} else {
		a.native = []json.RawMessage{}
	}
}
