package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"conclave/internal/jsontext"
)

// readBody takes in the whole request: it must be on the record before a byte
// of it is sent.
func (g *Gateway) readBody(r *http.Request) ([]byte, *refusal) {
	tooLarge := &refusal{ruleSize, fmt.Sprintf(
		"the request has more than %d bytes: shorten the conversation, or have the limit raised", g.opts.MaxRequest)}
	if r.ContentLength > g.opts.MaxRequest {
		return nil, tooLarge
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return nil, &refusal{ruleEncoding, fmt.Sprintf(
			"the request is compressed (%s) and could not be read on the record: switch request compression off", clip(e))}
	}
	buf := bytes.NewBuffer(make([]byte, 0, min(max(r.ContentLength, 0), g.opts.MaxRequest)+bytes.MinRead))
	n, err := buf.ReadFrom(io.LimitReader(r.Body, g.opts.MaxRequest+1))
	if err != nil {
		return nil, &refusal{ruleBody, "the request ended early: nothing was sent"}
	}
	if n > g.opts.MaxRequest {
		return nil, tooLarge
	}
	return buf.Bytes(), nil
}

// check looks into the body of a request and notes the model that it names.
func (g *Gateway) check(to route, x *exchange, body []byte) *refusal {
	if key := g.opts.Upstream.Key; len(key) >= guardLeast && bytes.Contains(body, []byte(key)) {
		return &refusal{ruleKey, "the request holds the real key, which must never be in a room: replace that key now"}
	}
	if !to.model {
		if len(body) > 0 {
			return &refusal{ruleBody, "this request takes no body: send none"}
		}
		return nil
	}
	top, err := readTop(body)
	if err != nil {
		return &refusal{ruleBody, fmt.Sprintf("the request's body cannot be judged: %v", err)}
	}
	x.Model = clip(top.model)
	if !allowed(g.opts.Models, top.model) {
		return &refusal{ruleModel, fmt.Sprintf(
			"the model %q is not allowed in this room (allowed: %s): ask for one of these, or have it added to the role's models",
			clip(top.model), listed(g.opts.Models))}
	}
	if g.opts.Remote {
		return nil
	}
	if err := top.selfContained(); err != nil {
		return &refusal{ruleReference, fmt.Sprintf(
			"%v, so what the model sees would not all be on the record: put it into the request itself, or have remote tools allowed for this role", err)}
	}
	return nil
}

func allowed(models []string, name string) bool {
	for _, m := range models {
		if head, ok := strings.CutSuffix(m, "*"); ok && strings.HasPrefix(name, head) || m == name {
			return true
		}
	}
	return false
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// top is the outermost object of a request.
type top struct {
	model   string
	members map[string][]byte
}

func readTop(body []byte) (top, error) {
	var t top
	var err error
	if t.members, err = members(body); err != nil {
		return t, err
	}
	var ok bool
	if t.model, ok = jsontext.String(t.members["model"]); !ok || t.model == "" {
		return t, errors.New(`it has no "model"`)
	}
	return t, nil
}

// members reads an object strictly. A key that stands there twice, or in
// another case, may be read one way here and another way by the model's server,
// and a rule that looked at the wrong one would be none.
func members(obj []byte) (map[string][]byte, error) {
	out, seen := map[string][]byte{}, map[string]bool{}
	err := jsontext.Walk(obj, func(key, value []byte) error {
		name, ok := keyText(key)
		if !ok {
			return errors.New("a key is no text")
		}
		fold := strings.ToLower(name)
		if seen[fold] {
			return fmt.Errorf("the key %q stands there twice", clip(name))
		}
		seen[fold] = true
		out[name] = value
		return nil
	})
	return out, err
}

// keyText is the text of a key that is given as it is written.
func keyText(key []byte) (string, bool) {
	if bytes.IndexByte(key, '\\') < 0 {
		return string(key), true
	}
	return jsontext.String(append(append([]byte{'"'}, key...), '"'))
}
