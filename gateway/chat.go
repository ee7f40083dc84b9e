package gateway

import (
	"bytes"
	"cmp"

	"conclave/internal/jsontext"
)

// chatAPI is Chat Completions, as OpenAI, OpenRouter, Ollama, vLLM, llama.cpp,
// LM Studio and many others speak it. They add members of their own, some of
// which fetch, search or remember: so those are listed that do not.
var chatAPI = &api{
	kind: Chat, version: "/v1", base: chatBase, under: []string{"/v1/chat/"},
	asks: paths(map[string]bool{"/chat/completions": true}),
	key:  bearerKey, refuse: openaiRefusal,
	cut: func(no *refusal) (string, any) { return "", openaiRefusal(no) },

	spelt: snakeKey, same: fold,
	members: []string{
		"model", "messages", "tools", "tool_choice", "parallel_tool_calls", "functions", "function_call",
		"stream", "stream_options", "max_tokens", "max_completion_tokens", "n", "stop", "seed",
		"user", "safety_identifier", "metadata",
		"response_format", "modalities", "audio", "prediction", "logit_bias", "logprobs", "top_logprobs",
		"reasoning", "reasoning_effort", "include_reasoning", "verbosity", "thinking", "enable_thinking", "preserve_thinking",
		"chat_template_kwargs", "usage", "service_tier", "prompt_cache_key", "prompt_cache_retention", "cache_prompt",
		"keep_alive",
		"vl_high_resolution_images",
	},
	own:  []string{"model", "metadata", "tools", "functions", "response_format", "audio"},
	tool: chatTool,
	within: map[string]role{
		"type": kindOf, "url": fetched, "image_url": fetched, "video_url": fetched, "audio_url": fetched, "file_url": fetched,
		"file_data": fileOf, "file_id": kept, "uuid": kept, "audio": kept, "cached_content": kept,
		"arguments": apart, "parameters": apart, "url_citation": apart,
	},

	event: chatEvent, whole: chatWhole,
}

// chatBase takes a base URL with a path as the programs of this API do: the
// path is all there is before "/chat/completions". One without has "/v1".
func chatBase(path string) string { return cmp.Or(path, "/v1") }

// chatTool lets functions pass, and tools of free text.
func chatTool(_ *api, tool map[string][]byte, _ int) error {
	kind, _ := jsontext.String(tool["type"])
	if kind == "function" && tool["function"] != nil || kind == "custom" && tool["custom"] != nil {
		return nil
	}
	if kind == "" {
		kind = string(tool["type"])
	}
	return runsElsewhere(kind)
}

var chatDone = []byte("[DONE]")

// chatEvent reads a chunk of a stream. Who counts at all counts in the last
// chunk, with or without choices; some count in each.
func chatEvent(m *meter, data []byte) bool {
	if bytes.Equal(bytes.TrimSpace(data), chatDone) {
		m.ended = true
		m.final = m.final || m.told
		return true
	}
	choices := jsontext.Get(data, "choices")
	if bytes.Contains(data, usageKey) {
		m.told = m.readChat(jsontext.Get(data, "usage")) || m.readChat(jsontext.Get(data, "x_groq", "usage")) || m.told
	}
	some := false
	err := jsontext.Elements(choices, func(choice []byte) error {
		some = true
		delta := jsontext.Get(choice, "delta")
		thoughts := jsontext.Get(delta, "reasoning_content")
		if _, ok := jsontext.String(thoughts); !ok { // some tell it under both names
			thoughts = jsontext.Get(delta, "reasoning")
		}
		m.say(jsontext.Get(delta, "content"), thoughts, jsontext.Get(delta, "refusal"))
		_ = jsontext.Elements(jsontext.Get(delta, "tool_calls"), func(call []byte) error { // there may be none
			m.say(jsontext.Get(call, "function", "name"), jsontext.Get(call, "function", "arguments"),
				jsontext.Get(call, "custom", "input"))
			return nil
		})
		if _, ok := jsontext.String(jsontext.Get(choice, "finish_reason")); ok {
			m.finished = true
		}
		return nil
	})
	if m.told && (m.finished || !some) {
		m.final = true
	}
	fault := jsontext.Get(data, "error")
	m.failed = m.failed || fault != nil && string(fault) != "null"
	return err == nil || jsontext.Get(data, "usage") != nil || fault != nil
}

func chatWhole(m *meter, body []byte) { m.final = m.readChat(jsontext.Get(body, "usage")) }

// readChat reads a usage of this API: the input includes what came from the
// cache, and the sum what a server does not count as its answer.
func (m *meter) readChat(obj []byte) bool {
	in, out, sum, cached, written := int64(-1), int64(-1), int64(-1), int64(0), int64(0)
	err := jsontext.Walk(obj, func(key, value []byte) error {
		switch string(key) {
		case "prompt_tokens":
			in = count(value)
		case "completion_tokens":
			out = count(value)
		case "total_tokens":
			sum = count(value)
		case "prompt_cache_hit_tokens":
			cached = max(count(value), cached)
		case "prompt_tokens_details":
			cached = max(count(jsontext.Get(value, "cached_tokens")), cached)
			written = max(count(jsontext.Get(value, "cache_write_tokens")), 0)
		}
		return nil
	})
	if err != nil || in < 0 && out < 0 {
		return false
	}
	in = max(in, 0)
	u := m.usage
	u.Output = max(out, sum-in, 0)
	u.CacheRead = min(cached, in)
	u.CacheWrite = min(written, in-u.CacheRead)
	u.Input = in - u.CacheRead - u.CacheWrite
	m.usage = u
	return true
}
