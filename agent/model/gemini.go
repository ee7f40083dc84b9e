package model

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"conclave/internal/jsontext"
)

// gemini speaks Google's generateContent.
type gemini struct{}

func (gemini) path(model string) string {
	return "/v1beta/models/" + strings.TrimPrefix(model, "models/") + ":streamGenerateContent?alt=sse"
}

func (gemini) body(r request) any {
	b := object{"contents": geminiContents(r.talk)}
	if r.system != "" {
		b["systemInstruction"] = object{"parts": list{object{"text": r.system}}}
	}
	if len(r.tools) > 0 {
		var tools list
		for _, t := range r.tools {
			tools.add(object{"name": t.Name, "description": t.Description, "parametersJsonSchema": t.Schema})
		}
		b["tools"] = list{object{"functionDeclarations": tools}}
	}
	if r.form != nil {
		b["generationConfig"] = object{"responseMimeType": "application/json", "responseJsonSchema": r.form.Schema()}
	}
	return b
}

func geminiContents(talk []message) list {
	var out list
	for _, m := range talk {
		role, parts := "user", list{}
		switch {
		case m.user != nil:
			if m.user.text != "" || len(m.user.images) == 0 {
				parts.add(object{"text": m.user.text})
			}
			for _, img := range m.user.images {
				parts.add(object{"inlineData": object{"mimeType": img.Type, "data": base64.StdEncoding.EncodeToString(img.Data)}})
			}
		case m.answer != nil:
			role = "model"
			parts.raws(m.answer.native)
			if m.answer.native == nil {
				parts.add(object{"text": m.answer.text()})
			}
		default:
			for _, r := range m.results {
				parts.add(object{"functionResponse": geminiResult(r)})
			}
		}
		if len(parts) > 0 {
			out.add(object{"role": role, "parts": parts})
		}
	}
	return out
}

func geminiResult(r result) object {
	key := "result"
	if r.failed {
		key = "error"
	}
	out := object{"name": r.call.name, "response": object{key: r.text}}
	if !strings.HasPrefix(r.call.id, ownID) {
		out["id"] = r.call.id
	}
	return out
}

// ownID is how ids begin that we give to calls without one.
const ownID = "conclave-call-"

func (gemini) decoder() decoder { return &geminiDecoder{} }

type geminiDecoder struct {
	parts []json.RawMessage // as they go back
}

func (d *geminiDecoder) event(a *answer, e event) error {
	m := jsontext.Members(e.data, "candidates", "promptFeedback", "modelVersion", "error", "usageMetadata")
	if len(m[3]) > 0 {
		a.raw = append(a.raw, e.raw...)
		return newFault(0, e.data)
	}
	a.model = first(jsontext.Text(m[2]), a.model)
	if why := jsontext.Text(jsontext.Get(m[1], "blockReason")); why != "" {
		a.end, a.why = refused, why
	}
	if m[0] == nil && m[1] == nil && m[4] == nil {
		b := a.foreign()
		b.raw = append(b.raw, e.raw...)
		return nil
	}
	var told *block
	_ = jsontext.Elements(m[0], func(candidate []byte) error { // none where the prompt was blocked
		c := jsontext.Members(candidate, "index", "content", "finishReason", "finishMessage")
		if at := string(c[0]); at != "" && at != "0" {
			return nil // one answer was asked for
		}
		_ = jsontext.Elements(jsontext.Get(c[1], "parts"), func(part []byte) error { // a last piece may have none
			if b := d.part(a, part); b != nil {
				told = b
			}
			return nil
		})
		d.ended(a, jsontext.Text(c[2]), jsontext.Text(c[3]))
		return nil
	})
	if told == nil {
		a.raw = append(a.raw, e.raw...)
		return nil
	}
	told.raw = append(told.raw, e.raw...)
	return nil
}

func (d *geminiDecoder) part(a *answer, part []byte) (b *block) {
	m := jsontext.Members(part, "text", "thought", "thoughtSignature", "functionCall")
	thinks := string(m[1]) == "true"
	empty := string(m[0]) == `""` && len(m[3]) == 0
	if !thinks && !empty || len(m[2]) > 0 { // what it signed must come back as it was
		d.parts = append(d.parts, json.RawMessage(bytes.Clone(part)))
	}
	switch {
	case len(m[3]) > 0:
		a.rest()
		f := jsontext.Members(m[3], "id", "name", "args")
		b = a.open(call)
		b.name = jsontext.Text(f[1])
		b.id = first(jsontext.Text(f[0]), ownID+strconv.Itoa(len(a.blocks)))
		b.text.Write(f[2])
		b.ended = true
	case thinks:
		b = a.last(thought)
		b.text.WriteString(jsontext.Text(m[0]))
	case len(m[0]) > 0:
		if t := jsontext.Text(m[0]); t != "" {
			b = a.last(words)
			b.text.WriteString(t)
		}
	case len(m[2]) == 0:
		b = a.foreign()
		b.text.Write(part)
	}
	return b
}

// refusing are the reasons to end that are a refusal.
var refusing = []string{
	"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
	"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT",
}

func (d *geminiDecoder) ended(a *answer, reason, message string) {
	if reason == "" || reason == "FINISH_REASON_UNSPECIFIED" {
		return
	}
	a.close()
	switch a.end, a.why = done, reason; {
	case reason == "MAX_TOKENS":
		a.end = outOfRoom
	case slices.Contains(refusing, reason):
		a.end, a.refusal = refused, message
	case reason != "STOP":
		a.end, a.refusal = broken, message
	}
}

func (d *geminiDecoder) finish(a *answer) {
	if a.native = d.parts; a.native == nil {
		a.native = []json.RawMessage{}
	}
}
