package model

import (
	"encoding/json"

	"conclave/agent"
	"conclave/agent/structured"
	"conclave/gateway"
)

// api is how a kind of server is spoken to. It has no state; a decoder has that
// of one answer.
type api interface {
	// path is where the model is asked, with the query.
	path(model string) string
	// body is the request.
	body(r request) any
	// decoder reads one answer.
	decoder() decoder
}

// decoder reads the events of one answer.
type decoder interface {
	// event takes an event into the answer. An error is a *fault that the server
	// tells of.
	event(a *answer, e event) error
	// finish completes an answer whose stream has ended.
	finish(a *answer)
}

// request is what a model is asked.
type request struct {
	model   string
	system  string
	talk    []message
	tools   []agent.ToolOffer
	form    *structured.Form // asked for natively; nil for none
	most    int
	without map[string]bool
}

// The parts of a request that a server may not know.
const (
	partForm      = "the form of the answer"
	partReasoning = "encrypted reasoning"
	partUsage     = "the usage at the end of a stream"
)

var apis = map[gateway.Kind]api{
	gateway.Anthropic: anthropic{},
	gateway.OpenAI:    openai{},
	gateway.Chat:      chat{},
	gateway.Gemini:    gemini{},
}

type object = map[string]any

// list collects parts of a request.
type list []any

func (l *list) add(v ...any) { *l = append(*l, v...) }

// raws are parts that came from the server.
func (l *list) raws(parts []json.RawMessage) {
	for _, p := range parts {
		*l = append(*l, p)
	}
}
