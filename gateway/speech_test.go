package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"conclave/gateway"
)

// speech is how a program and a model's server speak one API.
type speech struct {
	kind   gateway.Kind
	path   func(model string) string // of a call that costs
	free   string                    // a call that costs nothing; empty: there is none
	key    string                    // the header that bears the key
	word   map[string]string         // its own words for kinds of errors, where it has any
	inPath bool                      // the model stands in the path
	most   string                    // the member that bounds an answer
	user   string                    // a member that may hold any text

	whole  func(in, out int) string // an answer of so many tokens
	stream string                   // an answer that streams: 5 tokens in, 7 out
	delta  string                   // an event with words
}

// say is a request of a model, with more members.
func (s speech) say(model string, more ...string) string {
	members := []string{s.messages("hello")}
	if !s.inPath {
		members = append([]string{fmt.Sprintf(`"model":%q`, model)}, members...)
	}
	return "{" + strings.Join(append(members, more...), ",") + "}"
}

// messages is the member with the conversation.
func (s speech) messages(text string) string {
	switch s.kind {
	case gateway.OpenAI:
		return fmt.Sprintf(`"input":[{"role":"user","content":%q}]`, text)
	case gateway.Gemini:
		return fmt.Sprintf(`"contents":[{"role":"user","parts":[{"text":%q}]}]`, text)
	}
	return fmt.Sprintf(`"messages":[{"role":"user","content":%q}]`, text)
}

// error is a kind of error in the words of this API.
func (s speech) error(kind string) string {
	if w, ok := s.word[kind]; ok {
		return w
	}
	return kind
}

func at(path string) func(string) string { return func(string) string { return path } }

func usage(format string) func(in, out int) string {
	return func(in, out int) string { return fmt.Sprintf(format, in, out) }
}

var speeches = map[gateway.Kind]speech{
	gateway.Anthropic: {
		path: at("/v1/messages"), free: "/v1/messages/count_tokens", key: "X-Api-Key", most: `"max_tokens":%d`, user: `"metadata":{"user_id":%q}`,
		whole: usage(`{"usage":{"input_tokens":%d,"output_tokens":%d}}`), stream: stream,
		delta: `{"type":"content_block_delta","delta":{"type":"text_delta","text":"%s"}}`,
	},
	gateway.OpenAI: {
		path: at("/v1/responses"), key: "Authorization", most: `"max_output_tokens":%d`, user: `"metadata":{"user_id":%q}`,
		whole: usage(`{"usage":{"input_tokens":%d,"output_tokens":%d}}`),
		stream: "event: response.output_text.delta\r\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"zażółć 🐉\"}\r\n\r\n: ping\n\n" +
			"data: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":5,\"output_tokens\":7}}}\n\n",
		delta: `{"type":"response.output_text.delta","delta":"%s"}`,
	},
	gateway.Chat: {
		path: at("/v1/chat/completions"), key: "Authorization", most: `"n":1,"max_completion_tokens":%d`, user: `"user":%q`,
		whole: usage(`{"object":"chat.completion","usage":{"prompt_tokens":%d,"completion_tokens":%d}}`),
		stream: "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"zażółć 🐉\"},\"finish_reason\":null}],\"usage\":null}\n\n: ping\n\n" +
			"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":null}\r\n\r\n" +
			"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":7,\"total_tokens\":12}}\n\ndata: [DONE]\n\n",
		delta: `{"choices":[{"index":0,"delta":{"content":"%s"}}]}`,
	},
	gateway.Gemini: {
		path: func(model string) string { return "/v1beta/models/" + model + ":streamGenerateContent?alt=sse" }, inPath: true,
		free: "/v1beta/models/" + model + ":countTokens", key: "X-Goog-Api-Key",
		most: `"generationConfig":{"candidateCount":1,"maxOutputTokens":%d}`, user: `"labels":{"user":%q}`,
		word: map[string]string{
			"authentication_error": "UNAUTHENTICATED", "permission_error": "PERMISSION_DENIED", "invalid_request_error": "INVALID_ARGUMENT",
			"request_too_large": "INVALID_ARGUMENT", "rate_limit_error": "RESOURCE_EXHAUSTED", "billing_error": "FAILED_PRECONDITION",
			"api_error": "UNAVAILABLE",
		},
		whole: usage(`{"usageMetadata":{"promptTokenCount":%d,"candidatesTokenCount":%d}}`),
		stream: "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"zażółć 🐉\"}]}}],\"usageMetadata\":{\"promptTokenCount\":5,\"totalTokenCount\":5}}\r\n\r\n" +
			"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\".\"}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":5,\"candidatesTokenCount\":4,\"thoughtsTokenCount\":3}}\r\n\r\n",
		delta: `{"candidates":[{"content":{"parts":[{"text":"%s"}],"role":"model"}}]}`,
	},
}

// forKinds runs a test with each kind that the program has.
func forKinds(t *testing.T, test func(t *testing.T, s speech)) {
	t.Helper()
	for _, kind := range gateway.Kinds() {
		t.Run(string(kind), func(t *testing.T) { test(t, speechOf(t, kind)) })
	}
}

func speechOf(t *testing.T, kind gateway.Kind) speech {
	t.Helper()
	s, ok := speeches[kind]
	if !ok {
		t.Fatalf("no test speaks %s: say how in speeches", kind)
	}
	s.kind = kind
	return s
}

// with is options for an upstream of this kind.
func (s speech) with(o gateway.Options) gateway.Options {
	o.Upstream.Kind = s.kind
	return o
}

// call asks a model for an answer.
func (d *door) call(t testing.TB, s speech, model string, more ...string) answer {
	t.Helper()
	return d.ask(t, "POST", s.path(model), s.say(model, more...))
}
