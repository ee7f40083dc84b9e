package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"conclave/internal/jsontext"
)

// check looks into the body of a request and notes the model that it names.
func (g *Gateway) check(to route, x *exchange, body []byte) *refusal {
	if g.needles.in(body) {
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
	x.maxOutput = max(count(top.members["max_tokens"]), count(top.members["max_output_tokens"]), 0)
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
	return slices.ContainsFunc(models, func(m string) bool {
		head, ok := strings.CutSuffix(m, "*")
		return ok && strings.HasPrefix(name, head) || m == name
	})
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
	out := map[string][]byte{}
	var seen keys
	err := jsontext.Walk(obj, func(key, value []byte) error {
		name, ok := keyText(key)
		if !ok {
			return errNoText
		}
		if err := seen.add(fold(name)); err != nil {
			return err
		}
		out[name] = value
		return nil
	})
	return out, err
}

var errNoText = errors.New("a key is no text")

// fold makes one of all the spellings that a lenient reader takes for the same
// key: upper and lower case, and the letters that fold to one of these (ſ, K).
func fold(name string) string {
	for i := range len(name) {
		if c := name[i]; c >= 0x80 || 'A' <= c && c <= 'Z' {
			return strings.ToLower(strings.ToUpper(name))
		}
	}
	return name
}

// keys are those of one object, folded.
type keys struct {
	few  []string
	many map[string]bool // the others
}

// add says whether a key stands there twice.
func (k *keys) add(name string) error {
	if slices.Contains(k.few, name) || k.many[name] {
		return fmt.Errorf("the key %q stands there twice", clip(name))
	}
	if len(k.few) < 16 {
		k.few = append(k.few, name)
		return nil
	}
	if k.many == nil {
		k.many = map[string]bool{}
	}
	k.many[name] = true
	return nil
}

// keyText is the text of a key that is given as it is written.
func keyText(key []byte) (string, bool) {
	if bytes.IndexByte(key, '\\') < 0 {
		return string(key), true
	}
	return jsontext.String(append(append([]byte{'"'}, key...), '"'))
}
