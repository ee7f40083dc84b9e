package gateway

import (
	"fmt"
	"net"
	"net/http"
	"slices"
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
	model bool // it asks a model, and its body or its path names one
	asked
	no *refusal
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
	case r.Method == http.MethodGet && g.api.isModels(path):
		return route{where: upstream}
	case r.Method == http.MethodPost:
		return g.post(r)
	}
	return g.noPath(r)
}

func (g *Gateway) post(r *http.Request) route {
	to := route{where: upstream, model: true}
	for _, a := range apis {
		path, ok := strings.CutPrefix(r.URL.Path, a.version)
		if !ok {
			continue
		}
		if to.asked, ok = a.asks(path); !ok {
			continue
		}
		if a != g.api {
			return route{no: &refusal{rulePath, fmt.Sprintf(
				"%s is not what this room's model speaks (%s): choose a model of the other kind for this agent",
				clip(r.URL.Path), g.api.kind)}}
		}
		return to
	}
	return g.noPath(r)
}

func (g *Gateway) noPath(r *http.Request) route {
	return route{no: &refusal{rulePath, fmt.Sprintf(
		"%s %s is not open from this room: only calls of the model and of the room's tools are", r.Method, clip(r.URL.Path))}}
}

// isModels takes the list of models and one of its members.
func (a *api) isModels(path string) bool {
	rest, ok := strings.CutPrefix(path, a.version+"/models")
	if rest == "" {
		return ok
	}
	name, named := strings.CutPrefix(rest, "/")
	return ok && named && modelName(name)
}

// family is the API in whose words a request is refused.
func (g *Gateway) family(r *http.Request) *api {
	for _, a := range apis {
		if slices.ContainsFunc(a.under, func(under string) bool { return strings.HasPrefix(r.URL.Path, under) }) {
			return a
		}
	}
	return g.api
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
