package gateway

import (
	"strings"

	"conclave/internal/jsontext"
)

// responsesAPI is OpenAI Responses.
var responsesAPI = &api{
	kind: OpenAI, version: "/v1", base: versioned("/v1"), under: []string{"/v1/responses"},
	asks: paths(map[string]bool{"/responses": true, "/responses/compact": true}),
	key:  bearerKey, refuse: openaiRefusal, cut: responsesCut,

	spelt: snakeKey, same: fold, elsewhere: elsewhere, own: []string{"model", "metadata", "client_metadata", "tools"},
	tool: typedTool(localTools), within: partRoles,

	event: responsesEvent, whole: wholeUsage("usage"),
}

type codedError struct {
	innerError
	Param *string `json:"param"`
	Code  string  `json:"code"`
}

type openaiError struct {
	Error codedError `json:"error"`
}

func openaiRefusal(no *refusal) any {
	_, kind := no.rule.status()
	return openaiError{codedError{innerError{kind, no.message}, nil, "conclave_" + string(no.rule)}}
}

// responsesCut is how a response ends that failed.
func responsesCut(no *refusal) (string, any) {
	type failure struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	type response struct {
		Object string  `json:"object"`
		Status string  `json:"status"`
		Error  failure `json:"error"`
	}
	return "response.failed", struct {
		Type     string   `json:"type"`
		Response response `json:"response"`
	}{"response.failed", response{"response", "failed", failure{"conclave_" + string(no.rule), no.message}}}
}

// responsesEvent reads an event of a stream. What was said is told once more
// when it is whole, and once more at the end: the pieces alone are counted.
func responsesEvent(m *meter, data []byte) bool {
	switch kind := eventType(data); {
	case strings.HasSuffix(kind, ".delta"):
		delta := jsontext.Get(data, "delta")
		m.say(delta)
		return delta != nil
	case kind == "response.completed", kind == "response.incomplete", kind == "response.failed":
		m.final = m.read(jsontext.Get(data, "response", "usage")) || m.final
		m.ended, m.failed = true, m.failed || kind == "response.failed"
	case kind == "error":
		m.failed = true
	case strings.HasPrefix(kind, "response."):
	default:
		return false
	}
	return true
}
