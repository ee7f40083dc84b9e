package frontmatter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Limits of a configuration file.
const (
	maxConfig       = 1 << 20
	maxConfigScalar = 64 << 10
	maxConfigDepth  = 32
)

// Decode reads the program's own YAML configuration into v, strictly: a field
// that v does not have is an error, and so is a second document. An empty text
// leaves v as it is. Struct fields are named by `yaml:"…"` tags. Several wrong
// fields are reported together (errors.Join); errors.As finds the first *Error.
func Decode(data []byte, v any) error {
	text := bytes.TrimPrefix(data, bom)
	if len(text) > maxConfig {
		return &Error{1, 1, fmt.Sprintf("file is %d bytes long; at most %d are read", len(text), maxConfig)}
	}
	d := &Document{src: text}
	t, fault := parseTree(text, limits{depth: maxConfigDepth, scalar: maxConfigScalar})
	if fault != nil {
		return d.errorAt(fault.offset, fault.msg)
	}
	if t.root == nil {
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(v); err != nil {
		return t.typeErrors(d, err)
	}
	var more yaml.Node
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		at := len(text)
		if i := bytes.Index(text, []byte("\n---")); i >= 0 {
			at = i + 1
		}
		return d.errorAt(at, "a second YAML document starts here; keep one")
	}
	return nil
}

// KeyLine is the line of a key of a configuration, 0 if it has none: a key of
// the whole, or, further keys given, one below the other.
func KeyLine(data []byte, keys ...string) int {
	t, fault := parseTree(bytes.TrimPrefix(data, bom), limits{depth: maxConfigDepth, scalar: maxConfigScalar})
	if fault != nil || t.root == nil {
		return 0
	}
	at, line := t.root, 0
	for _, key := range keys {
		if at.Kind != yaml.MappingNode {
			return 0
		}
		line = 0
		for i := 0; i+1 < len(at.Content) && line == 0; i += 2 {
			if at.Content[i].Value == key {
				at, line = at.Content[i+1], at.Content[i].Line
			}
		}
		if line == 0 {
			return 0
		}
	}
	return line
}

var (
	typeErrorLine = regexp.MustCompile(`^line (\d+): (.*)$`)
	unknownField  = regexp.MustCompile(`(?s)^field (.+?) not found in type .+$`)
	wrongType     = regexp.MustCompile("(?s)^cannot unmarshal !!(\\w+)(?: `(.*)`)? into (.+)$")
)

// typeErrors turns the library's report into errors with a column, in words
// that do not name the program's own types.
func (t *tree) typeErrors(d *Document, err error) error {
	var report *yaml.TypeError
	if !errors.As(err, &report) {
		line, column := d.position(d.header.start)
		return &Error{line, column, strings.TrimPrefix(err.Error(), "yaml: ")}
	}
	var all []error
	for _, text := range report.Errors {
		line, msg := 1, text
		if m := typeErrorLine.FindStringSubmatch(text); m != nil {
			line, _ = strconv.Atoi(m[1])
			msg = m[2]
		}
		name := ""
		if m := unknownField.FindStringSubmatch(msg); m != nil {
			name, msg = m[1], fmt.Sprintf("unknown field %q; check its spelling", m[1])
		} else if m := wrongType.FindStringSubmatch(msg); m != nil {
			name, msg = m[2], wrongTypeWords(m[1], m[2], m[3])
		}
		all = append(all, d.errorAt(d.header.start+t.locate(line, name), msg))
	}
	return errors.Join(all...)
}

func wrongTypeWords(have, value, want string) string {
	kinds := map[string]string{"str": "text", "int": "a number", "float": "a number", "bool": "true or false",
		"seq": "a list", "map": "a group of keys", "null": "nothing"}
	words := kinds[have]
	if words == "" {
		words = have
	}
	if value != "" {
		words = fmt.Sprintf("%q", value)
	}
	return fmt.Sprintf("%s does not fit here; wanted %s", words, wantWords(want))
}

func wantWords(goType string) string {
	switch {
	case strings.HasPrefix(goType, "int"), strings.HasPrefix(goType, "uint"), strings.HasPrefix(goType, "float"):
		return "a number"
	case goType == "string":
		return "text"
	case goType == "bool":
		return "true or false"
	case strings.HasPrefix(goType, "[]"):
		return "a list"
	}
	return "a group of keys"
}

// locate finds a scalar of that text on a line, or the line's first character.
func (t *tree) locate(line int, text string) int {
	at := 0
	for l := 1; l < line && at < len(t.src); l++ {
		at = nextYAMLLine(t.src, at)
	}
	rest, _ := lineAt(t.src, at)
	text = strings.TrimSuffix(text, "...")
	if i := bytes.Index(rest, []byte(text)); text != "" && i >= 0 {
		return at + i
	}
	for _, r := range string(rest) {
		if r != ' ' && r != '-' {
			break
		}
		at += utf8.RuneLen(r)
	}
	return at
}
