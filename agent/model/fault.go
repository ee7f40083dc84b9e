package model

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"conclave/internal/jsontext"
)

// fault is what a server says went wrong, or that it did not say anything.
type fault struct {
	status  int // 0: in the middle of an answer, or there was none
	kind    string
	code    string
	message string
	after   time.Duration // when to ask again; -1: it does not say
	final   bool          // asking again changes nothing
	reached bool          // the server has answered
	raw     []byte
}

// Error is what a person is told.
func (f *fault) Error() string {
	if own, ok := strings.CutPrefix(f.message, gatewayWords); ok {
		return own
	}
	var what []string
	if f.status != 0 {
		what = append(what, strconv.Itoa(f.status))
	}
	for _, w := range []string{f.kind, f.code} {
		if w != "" && !slices.Contains(what, w) {
			what = append(what, w)
		}
	}
	if len(what) == 0 {
		return f.message
	}
	return fmt.Sprintf("%s (%s)", f.message, strings.Join(what, " "))
}

// newFault reads an error in the words of any of the APIs: their forms differ
// less than the servers that speak them.
func newFault(status int, body []byte) *fault {
	f := &fault{status: status, after: -1, reached: true, raw: body}
	b := body
	if len(b) > 0 && b[0] == '[' { // Gemini's, where it was asked without a stream
		_ = jsontext.Elements(b, func(v []byte) error { b = v; return nil }) // the last one will do
	}
	m := jsontext.Members(b, "error", "message", "detail", "code", "type")
	e := m[0]
	if len(e) == 0 || e[0] != '{' {
		e = b
	}
	i := jsontext.Members(e, "type", "status", "code", "message", "details", "metadata")
	f.kind = first(jsontext.Text(i[0]), jsontext.Text(i[1]))
	if f.kind == "error" {
		f.kind = ""
	}
	if f.code = jsontext.Text(i[2]); f.code == "" && string(i[2]) != "null" {
		f.code = string(i[2])
	}
	f.message = first(jsontext.Text(i[3]), jsontext.Text(m[0]), jsontext.Text(m[1]), jsontext.Text(m[2]))
	// OpenRouter repeats what the model's own server said.
	if raw := jsontext.Text(jsontext.Get(i[5], "raw")); raw != "" {
		f.message += ": " + raw
	}
	if f.message == "" {
		f.message = first(strings.TrimSpace(string(body[:min(len(body), 500)])), http.StatusText(status),
			"it says nothing of why")
	}
	if status == 0 && strings.HasPrefix(f.message, gatewayWords) {
		f.final = true // the gateway has cut the answer, and would refuse the next one
	}
	_ = jsontext.Elements(i[4], func(d []byte) error { // no list: nothing is told
		if t, err := time.ParseDuration(jsontext.Text(jsontext.Get(d, "retryDelay"))); err == nil {
			f.after = t
		}
		return nil
	})
	return f
}

// heed takes over what the head of a response says of asking again.
func (f *fault) heed(h http.Header, now time.Time) {
	switch h.Get("X-Should-Retry") {
	case "false":
		f.final = true
	case "true":
		f.final = false
	}
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 {
		f.after = time.Duration(ms * float64(time.Millisecond))
		return
	}
	v := h.Get("Retry-After")
	if secs, err := strconv.ParseFloat(v, 64); err == nil && secs >= 0 && secs < 1e9 {
		f.after = time.Duration(secs * float64(time.Second))
	} else if at, err := http.ParseTime(v); err == nil {
		f.after = max(0, at.Sub(now))
	}
}

// passing are the kinds and codes of faults that pass, where no status tells.
var passing = []string{
	"overloaded_error", "rate_limit_error", "api_error", "timeout_error", "server_error", "rate_limit_exceeded",
	"internal_error", "UNAVAILABLE", "RESOURCE_EXHAUSTED", "INTERNAL", "DEADLINE_EXCEEDED",
	"408", "429", "500", "502", "503", "504", "529",
}

// passes says whether asking again may help.
func (f *fault) passes() bool {
	if f.final || f.code == "insufficient_quota" {
		return false
	}
	switch f.status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout, 529:
		return true
	case 0:
		return !f.reached || slices.Contains(passing, f.kind) || slices.Contains(passing, f.code)
	}
	return false
}

// unreached says that no server has answered: the gateway says so in its place.
func (f *fault) unreached() bool {
	return !f.reached || f.status == http.StatusBadGateway && strings.HasPrefix(f.message, gatewayWords)
}

// gatewayWords is how the gateway begins what it says itself.
const gatewayWords = "conclave: "

// refusesPart says that the request itself is not understood.
func (f *fault) refusesPart() bool {
	switch f.status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusNotImplemented:
		return !f.final
	case http.StatusNotFound: // where no server behind a router has it
		return !f.final && strings.Contains(f.message, "response_format")
	}
	return false
}

// tooLong are the words by which servers say that a conversation does not fit.
var tooLong = regexp.MustCompile(`(?i)context.?(length|window|size)|prompt is too long|maximum context` +
	`|input token count|too many (input )?tokens|input (is|was) too (long|large)` +
	`|exceeds? the (available|maximum) (context|number of tokens)|context the overflows|request_too_large`)

// overflows says that the conversation does not fit the model's context.
func (f *fault) overflows() bool {
	if f.final && f.status != http.StatusRequestEntityTooLarge || f.status == http.StatusTooManyRequests {
		return false
	}
	return f.status == http.StatusRequestEntityTooLarge || tooLong.MatchString(f.code+" "+f.kind+" "+f.message)
}

var mostTokens = regexp.MustCompile(`(?i)max_tokens: \d+ > (\d+)`)

// bound is the most that the model can say in one answer, where the fault is
// that more was asked for; 0 where it is not.
func (f *fault) bound() int {
	m := mostTokens.FindStringSubmatch(f.message)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // digits, and few enough or none
	return n
}

// wayOut is what the person can do.
func (s *session) wayOut(f *fault) string {
	key := "the key of the provider"
	if s.KeyEnv != "" {
		key = "the key in " + s.KeyEnv
	}
	switch {
	case f.code == "insufficient_quota" || f.status == http.StatusPaymentRequired && !f.final:
		return "the account behind " + key + " has nothing left to spend: that is settled with the provider"
	case f.final:
		return "" // the gateway's own words name one
	case f.unreached():
		return "see whether it is running, and whether base_url is right; the turn can be asked again"
	case f.status == http.StatusUnauthorized:
		return "see whether " + key + " is whole and still valid"
	case f.status == http.StatusForbidden:
		return "see what " + key + " may be used for"
	case f.status == http.StatusNotFound:
		return fmt.Sprintf("see whether the model is called %q there, and whether base_url is right", s.spec.Model.Name)
	case f.passes():
		return "the turn can be asked again later: nothing of it is lost but this answer"
	}
	return ""
}
