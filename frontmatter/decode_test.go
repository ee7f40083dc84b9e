package frontmatter

import (
	"errors"
	"strings"
	"testing"
)

type config struct {
	Name   string `yaml:"name"`
	Limit  int    `yaml:"limit"`
	Inside struct {
		On bool `yaml:"on"`
	} `yaml:"inside"`
	Roles map[string]string `yaml:"roles"`
	List  []string          `yaml:"list"`
}

func TestDecode(t *testing.T) {
	var c config
	text := "\ufeffname: x\r\nlimit: 4\r\ninside:\r\n  on: true\r\nroles: {cat: offline}\r\nlist: [a, b]\r\n"
	if err := Decode([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	if c.Name != "x" || c.Limit != 4 || !c.Inside.On || c.Roles["cat"] != "offline" || len(c.List) != 2 {
		t.Errorf("decoded %+v", c)
	}
	c = config{Name: "kept"}
	if err := Decode([]byte("# nothing\n"), &c); err != nil || c.Name != "kept" {
		t.Errorf("empty config: %v %+v", err, c)
	}
}

func TestDecodeRefuses(t *testing.T) {
	cases := []struct {
		name, text   string
		line, column int
		reason       string
	}{
		{"unknown field", "name: x\nnmae: y\n", 2, 1, `unknown field "nmae"`},
		{"unknown field inside", "inside:\n  off: true\n", 2, 3, `unknown field "off"`},
		{"wrong type", "name: x\nlimit: many\n", 2, 8, `"many" does not fit here; wanted a number`},
		{"list for text", "name:\n  - x\n", 2, 5, "a list does not fit here; wanted text"},
		{"second document", "name: x\n---\nname: y\n", 2, 1, "second YAML document"},
		{"anchor", "list: &a [x]\n", 1, 7, "anchor"},
		{"duplicate", "name: x\nname: y\n", 2, 1, "second time"},
		{"not YAML", "name: x\n  y: z: 1\n", 2, 3, "not YAML"},
		{"huge", strings.Repeat("#", 1<<20+1), 1, 1, "at most"},
		{"a sentence", "hello\n", 1, 1, "wanted a group of keys"},
		{"huge scalar", "name: " + strings.Repeat("x", 1<<17), 1, 7, "131072 bytes"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var v config
			err := Decode([]byte(c.text), &v)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want an *Error", err)
			}
			if e.Line != c.line || e.Column != c.column || !strings.Contains(e.Msg, c.reason) {
				t.Errorf("got %v; want %d:%d with %q", e, c.line, c.column, c.reason)
			}
		})
	}
}
