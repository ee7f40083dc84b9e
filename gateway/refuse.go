package gateway

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
)

// rule is a reason to refuse, as it stands in the record and the receipt.
type rule string

const (
	ruleToken     rule = "token"
	rulePath      rule = "path"
	ruleHost      rule = "host"
	ruleSize      rule = "size"
	ruleEncoding  rule = "encoding"
	ruleBody      rule = "body"
	ruleModel     rule = "model"
	ruleReference rule = "reference"
	ruleBudget    rule = "budget"
	ruleKey       rule = "key"
	ruleRecord    rule = "record"
	ruleUpstream  rule = "upstream"
	ruleClosed    rule = "closed"
	ruleBusy      rule = "busy"
)

// status and kind are what the APIs themselves use for the like.
func (r rule) status() (code int, kind string) {
	switch r {
	case ruleToken:
		return http.StatusUnauthorized, "authentication_error"
	case ruleSize:
		return http.StatusRequestEntityTooLarge, "request_too_large"
	case ruleEncoding, ruleBody:
		return http.StatusBadRequest, "invalid_request_error"
	case ruleBusy:
		return http.StatusTooManyRequests, "rate_limit_error"
	case ruleBudget:
		return http.StatusPaymentRequired, "billing_error"
	case ruleUpstream:
		return http.StatusBadGateway, "api_error"
	case ruleRecord, ruleClosed:
		return http.StatusInternalServerError, "api_error"
	}
	return http.StatusForbidden, "permission_error"
}

// refusal is a no with its reason and the way out.
type refusal struct {
	rule    rule
	message string
}

// writeRefusal answers in the words of the API that was asked.
func writeRefusal(w http.ResponseWriter, family *api, no *refusal) {
	code, _ := no.rule.status()
	b, _ := json.Marshal(family.refuse(&refusal{no.rule, "conclave: " + no.message})) // plain strings always encode
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(b)))
	if no.rule != ruleUpstream && no.rule != ruleBusy {
		// The kits of these APIs heed this: asking again changes nothing.
		h.Set("X-Should-Retry", "false")
	}
	w.WriteHeader(code)
	_, _ = w.Write(b) // a program that went away misses it
}

// refuse records a refusal, with the request's bytes if there are any, and
// answers it. When it cannot be recorded, that is the answer.
func (g *Gateway) refuse(w http.ResponseWriter, r *http.Request, x *exchange, body []byte, no *refusal) {
	no = &refusal{no.rule, g.scrub.Replace(no.message)}
	head := refusedHead{
		Rule: string(no.rule), Method: clip(r.Method), Path: clip(g.scrub.Replace(r.URL.Path)),
		Message: no.message, Bytes: int64(len(body)),
	}
	if x != nil {
		head.ID, head.Model = x.ID, x.Model
	}
	if err := g.recordRefused(head, body); err != nil {
		no = g.broken(err)
	}
	writeRefusal(w, g.family(r), no)
}

type refusedHead struct {
	ID      string `json:"id,omitempty"`
	Rule    string `json:"rule"`
	Method  string `json:"method"`
	Path    string `json:"path"`
	Model   string `json:"model,omitempty"`
	Message string `json:"refusal"`
	Bytes   int64  `json:"request_bytes"`
}

// recordRefused counts a refusal; one too many for the summary is too many for
// the record.
func (g *Gateway) recordRefused(head refusedHead, body []byte) error {
	if !g.ledger.refused(Refusal{Rule: head.Rule, Method: head.Method, Path: head.Path, Message: head.Message}) {
		return nil
	}
	if err := g.event(slog.LevelWarn, "gateway.refused", "a request was refused", head); err != nil {
		return err
	}
	if len(body) == 0 || head.ID == "" {
		return nil
	}
	return g.opts.Blobs.AppendBlob(refusedChannel+"/"+head.ID, body)
}

func (g *Gateway) event(level slog.Level, event, message string, context any) error {
	if g.opts.Events == nil {
		return nil
	}
	return g.opts.Events.Event(level, event, message, context)
}

// broken notes that the record has failed and returns what to tell the agent.
func (g *Gateway) broken(err error) *refusal {
	g.ledger.breakDown(err)
	return &refusal{ruleRecord, "the record cannot be written, and nothing passes unrecorded: the turn has to stop"}
}
