package gateway

import (
	"bytes"
	"net/http"
	"strings"

	"conclave/internal/jsontext"
)

// geminiAPI is generateContent. Its model stands in the path. Its keys have two
// spellings, that of JSON and that of the messages behind it (fileData,
// file_data), which its servers take for one.
var geminiAPI = &api{
	kind: Gemini, version: "/v1beta", base: versioned("/v1beta"), under: []string{"/v1beta/"},
	asks:   geminiPath,
	key:    func(h http.Header, key string) { h.Set("X-Goog-Api-Key", key) },
	list:   func(r *http.Request) { r.URL.RawQuery = "pageSize=1000" },
	refuse: geminiRefusal,
	cut:    func(no *refusal) (string, any) { return "", geminiRefusal(no) },

	spelt: camelKey, same: func(name string) string { return strings.ReplaceAll(fold(name), "_", "") }, lenient: true,
	inner: "generatecontentrequest",
	members: []string{
		"model", "contents", "systeminstruction", "tools", "toolconfig", "safetysettings", "generationconfig",
		"labels", "servicetier", "generatecontentrequest",
	},
	own:  []string{"model", "labels", "tools", "generatecontentrequest"},
	tool: geminiTool,
	within: map[string]role{
		"fileuri": fetched, "url": fetched, "uri": fetched, "fileid": kept, "cachedcontent": kept, "tools": toolList,
		"args": apart, "response": apart, "parameters": apart, "parametersjsonschema": apart,
		"responseschema": apart, "responsejsonschema": apart,
	},

	event: geminiEvent, whole: geminiWhole,
}

// geminiPath reads models/NAME:method.
func geminiPath(path string) (asked, bool) {
	rest, ok := strings.CutPrefix(path, "/models/")
	name, method, _ := strings.Cut(rest, ":")
	if !ok || !modelName(name) {
		return asked{}, false
	}
	paid, ok := map[string]bool{"generateContent": true, "streamGenerateContent": true, "countTokens": false}[method]
	return asked{paid, name}, ok
}

// camelKey is how this API writes its keys: fileData, or file_data.
func camelKey(name string) bool {
	odd := func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_')
	}
	return name != "" && 'a' <= name[0] && name[0] <= 'z' && strings.IndexFunc(name, odd) < 0
}

// geminiTool lets functions pass. Whatever else a tool is, the provider runs it,
// and an empty object switches it on.
func geminiTool(a *api, tool map[string][]byte, _ int) error {
	for name, value := range tool {
		if name != a.same("functionDeclarations") && string(value) != "null" {
			return runsElsewhere(name)
		}
	}
	return nil
}

type geminiError struct {
	Error struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Status  string `json:"status"`
	} `json:"error"`
}

func geminiRefusal(no *refusal) any {
	var e geminiError
	e.Error.Code, _ = no.rule.status()
	e.Error.Message = no.message
	switch no.rule {
	case ruleToken:
		e.Error.Status = "UNAUTHENTICATED"
	case ruleSize, ruleEncoding, ruleBody:
		e.Error.Status = "INVALID_ARGUMENT"
	case ruleBusy:
		e.Error.Status = "RESOURCE_EXHAUSTED"
	case ruleBudget:
		e.Error.Status = "FAILED_PRECONDITION"
	case ruleUpstream:
		e.Error.Status = "UNAVAILABLE"
	case ruleRecord, ruleClosed:
		e.Error.Status = "INTERNAL"
	default:
		e.Error.Status = "PERMISSION_DENIED"
	}
	return e
}

// geminiEvent reads a piece of an answer. Each tells the usage so far; the last
// says why the answer has ended.
func geminiEvent(m *meter, data []byte) bool {
	told := m.readGemini(jsontext.Get(data, "usageMetadata"))
	fault := jsontext.Get(data, "error") != nil
	m.failed = m.failed || fault
	known := told || fault
	if err := jsontext.Elements(jsontext.Get(data, "candidates"), func(candidate []byte) error {
		known = true
		_ = jsontext.Elements(jsontext.Get(candidate, "content", "parts"), func(part []byte) error { // there may be none
			m.say(jsontext.Get(part, "text"), jsontext.Get(part, "functionCall"), jsontext.Get(part, "executableCode"))
			return nil
		})
		if _, ok := jsontext.String(jsontext.Get(candidate, "finishReason")); ok {
			m.finished = true
		}
		return nil
	}); err == nil {
		known = true
	}
	if jsontext.Get(data, "promptFeedback", "blockReason") != nil {
		m.finished, known = true, true
	}
	m.told = m.told || told
	if m.finished && told {
		m.final = true
	}
	m.ended = m.ended || m.finished
	return known
}

// geminiWhole reads an answer that came at once, or a stream that came as a
// list.
func geminiWhole(m *meter, body []byte) {
	body = bytes.TrimSpace(body)
	if len(body) == 0 || body[0] != '[' {
		m.final = m.readGemini(jsontext.Get(body, "usageMetadata"))
		return
	}
	_ = jsontext.Elements(body, func(piece []byte) error { // what was cut off is not known
		geminiEvent(m, piece)
		return nil
	})
}

// readGemini reads a usage of this API: the input includes what came from the
// cache but not what tools put into it, and the answer is without the thoughts.
func (m *meter) readGemini(obj []byte) bool {
	g := m.gemini
	found := false
	err := jsontext.Walk(obj, func(key, value []byte) error {
		switch string(key) {
		case "promptTokenCount":
			set(&g.prompt, value, &found)
		case "toolUsePromptTokenCount":
			set(&g.tools, value, &found)
		case "cachedContentTokenCount":
			set(&g.cached, value, &found)
		case "candidatesTokenCount":
			set(&g.answer, value, &found)
		case "thoughtsTokenCount":
			set(&g.thoughts, value, &found)
		}
		return nil
	})
	if err != nil || !found {
		return false
	}
	m.gemini = g
	m.usage.CacheRead = min(g.cached, g.prompt)
	m.usage.Input = g.prompt + g.tools - m.usage.CacheRead
	m.usage.Output = g.answer + g.thoughts
	return true
}

// geminiCounts are the counts of a usage, each as it was told last.
type geminiCounts struct{ prompt, tools, cached, answer, thoughts int64 }
