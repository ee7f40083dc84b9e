package gateway

import (
	"fmt"
	"net"
	"net/http"
	"strings"
)

// where is who answers a request.
type where int

const (
	nowhere where = iota
	home          // the gateway, with nothing: somebody is there
	tools
	upstream
)

// route is where a request goes; no says why it goes nowhere.
type route struct {
	where where
	model bool // it asks a model, and its body names one
	paid  bool // it costs
	no    *refusal
}

// route decides by method and path alone. The order is that of certainty:
// what is written in an unusual way is not interpreted but refused.
func (g *Gateway) route(r *http.Request) route {
	path := r.URL.Path
	if r.URL.RawPath != "" || r.Method == http.MethodConnect {
		return g.noPath(r)
	}
	if h := r.URL.Host; h != "" && !strings.EqualFold(h, g.base.Host) && !loopback(r.URL.Hostname()) {
		return route{no: &refusal{ruleHost, fmt.Sprintf(
			"the host %q is not reachable from this room: only the model is, at the base URL that the program was given", clip(h))}}
	}
	switch {
	case path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		return route{where: home}
	case g.opts.Tools != nil && (path == "/mcp" || strings.HasPrefix(path, "/mcp/")):
		return route{where: tools}
	case r.Method == http.MethodGet && isModels(path):
		return route{where: upstream}
	case r.Method == http.MethodPost:
		return g.post(r)
	}
	return g.noPath(r)
}

func (g *Gateway) post(r *http.Request) route {
	to := route{where: upstream, model: true}
	speaks := Anthropic
	switch r.URL.Path {
	case "/v1/messages":
		to.paid = true
	case "/v1/messages/count_tokens":
	case "/v1/responses", "/v1/responses/compact":
		to.paid, speaks = true, OpenAI
	default:
		return g.noPath(r)
	}
	if speaks != g.opts.Upstream.Kind {
		return route{no: &refusal{rulePath, fmt.Sprintf(
			"%s is not what this room's model speaks (%s): choose a model of the other kind for this agent",
			r.URL.Path, g.opts.Upstream.Kind)}}
	}
	return to
}

func (g *Gateway) noPath(r *http.Request) route {
	return route{no: &refusal{rulePath, fmt.Sprintf(
		"%s %s is not open from this room: only calls of the model and of the room's tools are", r.Method, clip(r.URL.Path))}}
}

// isModels takes the list of models and one of its members.
func isModels(path string) bool {
	if path == "/v1/models" {
		return true
	}
	name, ok := strings.CutPrefix(path, "/v1/models/")
	if !ok || name == "" || strings.Trim(name, ".") == "" {
		return false
	}
	return strings.IndexFunc(name, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("._:-", c))
	}) < 0
}

// family is the API in whose words a request is refused.
func (g *Gateway) family(r *http.Request) Kind {
	switch {
	case strings.HasPrefix(r.URL.Path, "/v1/messages"):
		return Anthropic
	case strings.HasPrefix(r.URL.Path, "/v1/responses"):
		return OpenAI
	}
	return g.opts.Upstream.Kind
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// clip bounds what a program sent before it is repeated.
func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
