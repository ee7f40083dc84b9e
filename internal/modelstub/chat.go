package modelstub

import (
	"encoding/json"
	"fmt"
	"strings"
)

// chatAnswer puts a reply into the words of Chat Completions, as OpenAI streams
// them; the reasoning is where DeepSeek, Qwen, vLLM and llama.cpp have it.
//
// Recordings of the real servers, by which this was corrected, are public in
// pydantic/pydantic-ai below tests/models/cassettes:
// test_openai/test_run_stream_sync_streams_real_model.yaml (a call, its usage in
// a chunk without choices), test_openrouter/test_openrouter_stream_error.yaml (an
// error in a chunk) and test_openrouter_cache_streaming_e2e.yaml.
func chatAnswer(tag string, n int, req Request, r Reply) answer {
	c := chatStream{
		head: object{
			"id": fmt.Sprintf("chatcmpl-stub%s_%06d", tag, n), "object": "chat.completion.chunk", "created": 1762179802,
			"model": orElse(req.Model(), "chat-stub"), "system_fingerprint": "fp_stub",
		},
		counts: req.view().usage && !r.NoUsage,
	}
	message := object{"role": "assistant", "content": nil, "refusal": nil}
	c.delta(object{"role": "assistant", "content": "", "refusal": nil})
	var calls []any
	for i, b := range r.Blocks {
		if b.ID == "" {
			b.ID = fmt.Sprintf("call_stub%s_%06d_%d", tag, n, i)
		}
		switch b.Kind {
		case ToolUse:
			calls = append(calls, c.call(len(calls), b))
		case Thinking:
			c.text(message, "reasoning_content", b.Text)
		case RedactedThinking: // this API has no place for it
		case Refusal:
			c.text(message, "refusal", b.Text)
		default:
			c.text(message, "content", b.Text)
		}
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	stop := chatStops[r.stopReason()]
	hold := len(c.a.events)
	c.chunk(object{"index": 0, "delta": object{}, "logprobs": nil, "finish_reason": stop})
	if c.counts {
		c.add(c.head.with("choices", []any{}).with("usage", chatUsage(r)))
	}
	c.a.events = append(c.a.events, event{data: []byte("[DONE]")})
	c.a.hold = hold
	fault := object{"code": orElse(r.ErrorType, "server_error"), "message": orElse(r.ErrorMessage, midStream)}
	c.a.broken = event{data: encode(c.head.with("error", fault).with("choices",
		[]any{object{"index": 0, "delta": object{"content": ""}, "finish_reason": "error"}}))}
	whole := c.head.with("object", "chat.completion").with("choices",
		[]any{object{"index": 0, "message": message, "logprobs": nil, "finish_reason": stop}})
	if !r.NoUsage {
		whole["usage"] = chatUsage(r)
	}
	c.a.whole, c.a.fault = encode(whole), responsesFault(r)
	return c.a
}

// chatStops are the reasons to stop in the words of this API.
var chatStops = map[string]string{
	"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length", "refusal": "content_filter",
}

// chatStream collects the chunks of an answer.
type chatStream struct {
	a      answer
	head   object
	counts bool // the client asked for the usage
}

func (c *chatStream) add(o object) { c.a.events = append(c.a.events, event{data: encode(o)}) }

func (c *chatStream) chunk(choice object) {
	o := c.head.with("choices", []any{choice})
	if c.counts {
		o["usage"] = nil
	}
	c.add(o)
}

func (c *chatStream) delta(d object) {
	c.chunk(object{"index": 0, "delta": d, "logprobs": nil, "finish_reason": nil})
}

// text streams words, and adds them to the whole message.
func (c *chatStream) text(message object, member, text string) {
	for _, p := range pieces(text) {
		c.delta(object{member: p})
	}
	before, _ := message[member].(string)
	message[member] = before + text
}

// call streams a tool call: its name first, then its arguments in pieces.
func (c *chatStream) call(i int, b Block) object {
	input := orElse(string(b.Input), "{}")
	one := func(o object) { c.delta(object{"tool_calls": []any{o}}) }
	one(object{"index": i, "id": b.ID, "type": "function", "function": object{"name": b.Name, "arguments": ""}})
	for _, p := range pieces(input) {
		one(object{"index": i, "function": object{"arguments": p}})
	}
	return object{"id": b.ID, "type": "function", "function": object{"name": b.Name, "arguments": input}}
}

// chatUsage counts as that API does: input includes what the cache gave.
func chatUsage(r Reply) object {
	u := r.usage()
	in := u.Input + u.CacheRead + u.CacheWrite
	return object{
		"prompt_tokens": in, "completion_tokens": u.Output, "total_tokens": in + u.Output,
		"prompt_tokens_details":     object{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
		"completion_tokens_details": object{"reasoning_tokens": 0},
	}
}

// chatView reads what the helpers of Request tell.
func chatView(r Request) view {
	var b struct {
		Model   string
		Stream  bool
		Options struct {
			Usage bool `json:"include_usage"`
		} `json:"stream_options"`
		Tools []struct {
			Function, Custom struct{ Name string }
		}
		Format struct {
			Schema struct{ Schema json.RawMessage } `json:"json_schema"`
		} `json:"response_format"`
		Messages []struct {
			Role    string
			Content json.RawMessage
			CallID  string `json:"tool_call_id"`
		}
	}
	_ = json.Unmarshal(r.Body, &b) // what cannot be read is empty
	v := view{model: b.Model, stream: b.Stream, usage: b.Options.Usage, schema: b.Format.Schema.Schema}
	for _, t := range b.Tools {
		v.tools = append(v.tools, orElse(t.Function.Name, t.Custom.Name))
	}
	var system []string
	for _, m := range b.Messages {
		switch m.Role {
		case "system", "developer":
			system = append(system, itemText(m.Content))
		case "user":
			v.lastUser = itemText(m.Content)
		case "tool", "function":
			v.results = append(v.results, ToolResult{ID: m.CallID, Text: itemText(m.Content)})
		default:
			v.results = nil
		}
	}
	v.system = strings.Join(system, "\n")
	v.auxiliary = asksForATitle(v)
	return v
}
