package modelstub

import (
	"encoding/json"
	"fmt"
	"strings"
)

// geminiAnswer puts a reply into the words of generateContent. Each piece of a
// stream tells the usage so far, and the last has no words and says why it is
// the last.
//
// Recordings of the real server, by which this was corrected, are public in
// pydantic/pydantic-ai below tests/models/cassettes/test_google:
// test_google_stream_usage_is_live_mid_stream.yaml (thoughts that are counted
// and not told) and test_google_streaming_tool_call_thought_signature.yaml (a
// call with its signature and without an id).
func geminiAnswer(tag string, n int, req Request, r Reply) answer {
	if strings.Contains(req.Path, ":countTokens") {
		return answer{whole: encode(object{"totalTokens": len(req.Body) / 4}), fault: geminiFault(r)}
	}
	head := object{"modelVersion": orElse(req.Model(), "gemini-stub"), "responseId": fmt.Sprintf("stub%s_%06d", tag, n)}
	a := answer{fault: geminiFault(r), list: !strings.Contains(req.Path, "alt=sse")}
	var all []any
	u := r.usage()
	for _, b := range r.Blocks {
		for _, part := range geminiParts(b) {
			all = append(all, part)
			told := min(int64(len(all)), u.Output)
			a.piece(head, r, told, object{"content": saidByModel(part), "index": 0})
		}
	}
	a.hold = len(a.events)
	stop := geminiStops[r.stopReason()]
	last := object{"content": saidByModel(object{"text": ""}), "index": 0, "finishReason": stop}
	a.piece(head, r, u.Output, last)
	status := orElse(r.ErrorType, "UNAVAILABLE")
	fault := object{"code": 503, "message": orElse(r.ErrorMessage, midStream), "status": status}
	a.broken = event{data: encode(object{"error": fault}), end: "\r\n\r\n"}
	whole := head.with("candidates", []any{last.with("content", saidByModel(all...))})
	if !r.NoUsage {
		whole["usageMetadata"] = geminiUsage(u, u.Output)
	}
	a.whole = encode(whole)
	return a
}

func saidByModel(parts ...any) object { return object{"role": "model", "parts": parts} }

// geminiStops are the reasons to stop in the words of this API.
var geminiStops = map[string]string{
	"end_turn": "STOP", "tool_use": "STOP", "max_tokens": "MAX_TOKENS", "refusal": "SAFETY",
}

func (a *answer) piece(head object, r Reply, output int64, candidate object) {
	o := head.with("candidates", []any{candidate})
	if !r.NoUsage {
		o["usageMetadata"] = geminiUsage(r.usage(), output)
	}
	a.events = append(a.events, event{data: encode(o), end: "\r\n\r\n"})
}

// geminiParts is a block in pieces. A call comes whole.
func geminiParts(b Block) []object {
	var parts []object
	switch b.Kind {
	case ToolUse:
		call := object{"name": b.Name, "args": json.RawMessage(orElse(string(b.Input), "{}"))}
		if b.ID != "" {
			call["id"] = b.ID
		}
		return []object{{"functionCall": call, "thoughtSignature": "c3R1Yg=="}}
	case Thinking:
		for _, p := range pieces(b.Text) {
			parts = append(parts, object{"text": p, "thought": true})
		}
	case RedactedThinking: // it is counted and not told
	default:
		for _, p := range pieces(b.Text) {
			parts = append(parts, object{"text": p})
		}
	}
	return parts
}

// geminiUsage counts as that API does: the prompt includes what the cache gave,
// the answer does not include the thoughts.
func geminiUsage(u Usage, output int64) object {
	in := u.Input + u.CacheRead + u.CacheWrite
	thoughts := u.Thoughts
	o := object{
		"promptTokenCount": in, "candidatesTokenCount": max(0, output-thoughts),
		"totalTokenCount":     in + max(output, thoughts),
		"promptTokensDetails": []any{object{"modality": "TEXT", "tokenCount": in}},
	}
	if thoughts > 0 {
		o["thoughtsTokenCount"] = thoughts
	}
	if u.CacheRead > 0 {
		o["cachedContentTokenCount"] = u.CacheRead
	}
	return o
}

// geminiStatuses are the words of the API by HTTP status.
var geminiStatuses = map[int]string{
	400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
	429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 529: "UNAVAILABLE",
}

func geminiFault(r Reply) []byte {
	status := orElse(r.ErrorType, orElse(geminiStatuses[r.Status], "UNKNOWN"))
	fault := object{"code": r.Status, "message": orElse(r.ErrorMessage, status), "status": status}
	if r.RetryAfter > 0 { // this API says it in the body, too
		fault["details"] = []any{object{"@type": "type.googleapis.com/google.rpc.RetryInfo",
			"retryDelay": fmt.Sprintf("%ds", seconds(r.RetryAfter))}}
	}
	return encode(object{"error": fault})
}

// geminiView reads what the helpers of Request tell.
func geminiView(r Request) view {
	type part struct {
		Text     string
		Thought  bool
		Response *struct {
			ID, Name string
			Response json.RawMessage
		} `json:"functionResponse"`
	}
	type content struct {
		Role  string
		Parts []part
	}
	var b struct {
		Contents []content
		System   content `json:"systemInstruction"`
		Tools    []struct {
			Functions []struct{ Name string } `json:"functionDeclarations"`
		}
		Config struct {
			Schema     json.RawMessage `json:"responseSchema"`
			JSONSchema json.RawMessage `json:"responseJsonSchema"`
		} `json:"generationConfig"`
	}
	_ = json.Unmarshal(r.Body, &b) // what cannot be read is empty
	_, name, _ := strings.Cut(r.Path, "/models/")
	name, method, _ := strings.Cut(name, ":")
	v := view{model: name, stream: strings.HasPrefix(method, "stream"), schema: b.Config.JSONSchema}
	if v.schema == nil {
		v.schema = b.Config.Schema
	}
	text := func(c content) string {
		var out []string
		for _, p := range c.Parts {
			if p.Text != "" && !p.Thought {
				out = append(out, p.Text)
			}
		}
		return strings.Join(out, "\n")
	}
	v.system = text(b.System)
	for _, t := range b.Tools {
		for _, f := range t.Functions {
			v.tools = append(v.tools, f.Name)
		}
	}
	for _, c := range b.Contents {
		if c.Role == "model" {
			v.results = nil
			continue
		}
		if t := text(c); t != "" {
			v.lastUser = t
		}
		for _, p := range c.Parts {
			if f := p.Response; f != nil {
				v.results = append(v.results, geminiResult(f.ID, f.Name, f.Response))
			}
		}
	}
	v.auxiliary = strings.HasPrefix(method, "countTokens") || v.schema != nil && len(v.tools) == 0
	return v
}

// geminiResult is what a tool gave back: an object, whose usual members are
// output and error.
func geminiResult(id, name string, response json.RawMessage) ToolResult {
	var o struct{ Output, Error string }
	_ = json.Unmarshal(response, &o) // another object is its own text
	text := orElse(orElse(o.Output, o.Error), string(response))
	return ToolResult{ID: orElse(id, name), Text: text, IsError: o.Error != ""}
}
