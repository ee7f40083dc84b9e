package project

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// jsonNode is a JSON value with the line it stands in.
type jsonNode struct {
	line  int
	text  string // of a string, number or truth
	keys  []string
	byKey map[string]*jsonNode
	list  []*jsonNode
}

func (n *jsonNode) get(keys ...string) *jsonNode {
	for _, k := range keys {
		if n == nil {
			return nil
		}
		n = n.byKey[k]
	}
	return n
}

func (n *jsonNode) value() Value {
	if n == nil {
		return Value{}
	}
	return Value{n.text, n.line}
}

// readJSON reads a text with comments and trailing commas too; nil for one
// that is no JSON.
func readJSON(text string) *jsonNode {
	text = plainJSON(text)
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	r := &jsonReader{d: d, text: text, line: 1}
	n, err := r.value(0)
	if err != nil {
		return nil
	}
	return n
}

type jsonReader struct {
	d       *json.Decoder
	text    string
	line    int
	counted int
}

func (r *jsonReader) token() (json.Token, int, error) {
	t, err := r.d.Token()
	if err != nil {
		return nil, 0, err
	}
	at := int(r.d.InputOffset())
	r.line += strings.Count(r.text[r.counted:at], "\n")
	r.counted = at
	return t, r.line, nil
}

var errDeep = errors.New("nested too deep")

func (r *jsonReader) value(depth int) (*jsonNode, error) {
	t, line, err := r.token()
	if err != nil {
		return nil, err
	}
	n := &jsonNode{line: line}
	switch t := t.(type) {
	case json.Delim:
		if depth > 64 {
			return nil, errDeep
		}
		return n, r.inside(n, t, depth)
	case string:
		n.text = t
	case json.Number:
		n.text = t.String()
	case bool:
		n.text = map[bool]string{true: "true", false: "false"}[t]
	}
	return n, nil
}

func (r *jsonReader) inside(n *jsonNode, open json.Delim, depth int) error {
	if open == '{' {
		n.byKey = map[string]*jsonNode{}
	}
	for r.d.More() {
		key := ""
		line := 0
		if open == '{' {
			t, at, err := r.token()
			if err != nil {
				return err
			}
			key, line = t.(string), at
		}
		v, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		if open == '{' {
			v.line = line
			if n.byKey[key] == nil {
				n.keys = append(n.keys, key)
			}
			n.byKey[key] = v
		} else {
			n.list = append(n.list, v)
		}
	}
	_, _, err := r.token()
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// plainJSON blanks comments and trailing commas, and keeps every line.
func plainJSON(s string) string {
	if !strings.Contains(s, "//") && !strings.Contains(s, "/*") && !strings.Contains(s, ",") {
		return s
	}
	b := []byte(strings.TrimPrefix(s, "\ufeff"))
	comma := -1
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '"':
			comma = -1
			for i++; i < len(b) && b[i] != '"' && b[i] != '\n'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case b[i] == '/' && i+1 < len(b) && b[i+1] == '/':
			for ; i < len(b) && b[i] != '\n'; i++ {
				b[i] = ' '
			}
		case b[i] == '/' && i+1 < len(b) && b[i+1] == '*':
			for ; i < len(b) && !(b[i] == '*' && i+1 < len(b) && b[i+1] == '/'); i++ {
				if b[i] != '\n' {
					b[i] = ' '
				}
			}
			for j := i; j < min(i+2, len(b)); j++ {
				b[j] = ' '
			}
			i++
		case b[i] == ',':
			comma = i
		case b[i] == '}' || b[i] == ']':
			if comma >= 0 {
				b[comma] = ' '
			}
			comma = -1
		case b[i] != ' ' && b[i] != '\n' && b[i] != '\t' && b[i] != '\r':
			comma = -1
		}
	}
	return string(b)
}
