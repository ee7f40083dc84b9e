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
	top, err := g.api.readTop(body, to.asked.model)
	if err != nil {
		return &refusal{ruleBody, fmt.Sprintf("the request's body cannot be judged: %v", err)}
	}
	x.Model = clip(top.model)
	x.maxOutput = top.maxOutput()
	if !allowed(g.opts.Models, top.model) {
		return &refusal{ruleModel, fmt.Sprintf(
			"the model %q is not allowed in this room (allowed: %s): ask for one of these, or have it added to the role's models",
			clip(top.model), listed(g.opts.Models))}
	}
	if err := top.selfContained(); err != nil {
		return &refusal{ruleReference, fmt.Sprintf(
			"%v, so what the model sees would not all be on the record: put it into the request itself", err)}
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
	api     *api
	model   string
	members map[string][]byte // by the name that the API knows them under
	names   []string          // as they are written
	nested  bool              // it stands in another
}

// readTop reads a request of a model that stands in its body, or in the path.
func (a *api) readTop(body []byte, inPath string) (top, error) {
	t := top{api: a, model: inPath}
	var err error
	if t.members, t.names, err = a.object(body); err != nil {
		return t, err
	}
	raw, ok := t.members["model"]
	name, isText := jsontext.String(raw)
	switch {
	case inPath == "" && (!isText || name == ""):
		return t, errors.New(`it has no "model"`)
	case inPath == "":
		t.model = name
	case ok && strings.TrimPrefix(name, "models/") != inPath:
		return t, fmt.Errorf("it names the model %q, and its path %q", clip(name), clip(inPath))
	}
	return t, nil
}

// maxOutput is how many tokens an answer may have, as the request says; 0: it
// does not.
func (t top) maxOutput() int64 {
	config, _, err := t.api.object(t.members["generationconfig"])
	if err != nil {
		config = nil
	}
	most, answers := int64(0), int64(1)
	for _, m := range []map[string][]byte{t.members, config} {
		for _, name := range []string{"max_tokens", "max_output_tokens", "max_completion_tokens", "maxoutputtokens"} {
			most = max(most, count(m[name]))
		}
		answers = max(answers, count(m["n"]), count(m["candidatecount"]))
	}
	return most * min(answers, 1<<10)
}

// object reads an object strictly. A key that stands there twice, or in
// another case, may be read one way here and another way by the model's server,
// and a rule that looked at the wrong one would be none.
func (a *api) object(obj []byte) (out map[string][]byte, names []string, err error) {
	out = map[string][]byte{}
	var seen keys
	err = jsontext.Walk(obj, func(key, value []byte) error {
		name, ok := keyText(key)
		if !ok {
			return errNoText
		}
		if err := seen.add(a.same(name)); err != nil {
			return err
		}
		names = append(names, name)
		out[a.known(name)] = value
		return nil
	})
	return out, names, err
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
