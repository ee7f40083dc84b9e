package frontmatter

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// limits bound what a YAML text may hold.
type limits struct{ depth, scalar int }

// offsetError is a fault at an offset of the YAML text.
type offsetError struct {
	offset int
	msg    string
}

// tree is a YAML text with its parsed form. root is nil for an empty text.
type tree struct {
	src  []byte
	root *yaml.Node
}

type pair struct{ key, value *yaml.Node }

// parseTree reads one YAML document and refuses what has no place in a file
// that people share: aliases and anchors (bombs), merge keys, custom tags,
// duplicate keys, deep nesting, huge scalars, forbidden characters.
func parseTree(src []byte, lim limits) (*tree, *offsetError) {
	if err := checkCharacters(src); err != nil {
		return nil, err
	}
	doc, err := unmarshal(src)
	t := &tree{src: src}
	if err != nil {
		return nil, t.syntaxError(err)
	}
	if len(doc.Content) == 0 {
		return t, nil
	}
	t.root = doc.Content[0]
	if err := t.check(t.root, lim, 1); err != nil {
		return nil, err
	}
	if t.root.Kind == yaml.ScalarNode && t.root.Tag == "!!null" {
		t.root = nil
	}
	return t, nil
}

// unmarshal calls the library and turns a panic of its parser into an error:
// the text comes from strangers.
func unmarshal(src []byte) (doc yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	err = yaml.Unmarshal(src, &doc)
	return doc, err
}

func checkCharacters(src []byte) *offsetError {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		switch {
		case r == utf8.RuneError && n <= 1:
			return &offsetError{i, "not UTF-8; save the file as UTF-8"}
		case r < 0x20 && r != '\t' && r != '\n' && r != '\r', r == 0x7f, r > 0x7f && r < 0xa0 && r != 0x85, r == 0xfffe, r == 0xffff, r == 0xfeff:
			return &offsetError{i, fmt.Sprintf("control character U+%04X; remove it", r)}
		}
		i += n
	}
	return nil
}

func (t *tree) check(n *yaml.Node, lim limits, depth int) *offsetError {
	fault := func(format string, args ...any) *offsetError {
		return &offsetError{t.offset(n), fmt.Sprintf(format, args...)}
	}
	switch {
	case depth > lim.depth:
		return fault("nested more than %d levels deep", lim.depth)
	case n.Kind == yaml.AliasNode:
		return fault("alias *%s: anchors and aliases are not read; write the value out", n.Value)
	case n.Anchor != "":
		return fault("anchor &%s: anchors and aliases are not read; write the value out", n.Anchor)
	case n.Style&yaml.TaggedStyle != 0:
		return fault("tag %s: tags are not read; write the plain value", n.Tag)
	case len(n.Value) > lim.scalar:
		return fault("value is %d bytes long; at most %d are read", len(n.Value), lim.scalar)
	}
	if n.Kind == yaml.MappingNode {
		if err := t.checkKeys(n); err != nil {
			return err
		}
	}
	for _, child := range n.Content {
		if err := t.check(child, lim, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (t *tree) checkKeys(n *yaml.Node) *offsetError {
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			continue // an alias is found by check, a list as a key is nobody's key
		}
		if key.Tag == "!!merge" {
			return &offsetError{t.offset(key), "merge key <<: not read; write the keys out"}
		}
		if first := seen[key.Value]; first != nil {
			return &offsetError{t.offset(key), fmt.Sprintf("key %q stands here a second time; keep one", key.Value)}
		}
		seen[key.Value] = key
	}
	return nil
}

func (t *tree) isMapping() bool { return t.root.Kind == yaml.MappingNode }
func (t *tree) isFlow() bool    { return t.root.Style&yaml.FlowStyle != 0 }

// isScalar takes an empty value for a scalar: "emoji:" has the text "".
func isScalar(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode }

func (t *tree) pairs() []pair {
	var pairs []pair
	for i := 0; i+1 < len(t.root.Content); i += 2 {
		pairs = append(pairs, pair{t.root.Content[i], t.root.Content[i+1]})
	}
	return pairs
}

// offset finds the byte where a node starts. The library counts lines by YAML's
// breaks (CR, NEL, LS and PS too) and columns in characters.
func (t *tree) offset(n *yaml.Node) int {
	at := 0
	for line := 1; line < n.Line && at < len(t.src); line++ {
		at = nextYAMLLine(t.src, at)
	}
	for column := 1; column < n.Column && at < len(t.src); column++ {
		_, size := utf8.DecodeRune(t.src[at:])
		at += size
	}
	return at
}

func nextYAMLLine(src []byte, at int) int {
	for at < len(src) {
		r, n := utf8.DecodeRune(src[at:])
		at += n
		switch r {
		case '\r':
			if at < len(src) && src[at] == '\n' {
				at++
			}
			return at
		case '\n', 0x85, 0x2028, 0x2029:
			return at
		}
	}
	return at
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// syntaxError places a library error. The library's line is that of the context
// and often one off, and it knows no column; the first line that the text cannot
// be cut before is where a person has to look.
func (t *tree) syntaxError(err error) *offsetError {
	m := yamlLine.FindStringSubmatch(err.Error())
	msg := "not YAML: " + strings.TrimPrefix(err.Error(), m[0])
	line, _ := strconv.Atoi(m[1])
	lines := bytes.SplitAfter(t.src, []byte("\n"))
	if len(lines) <= 200 {
		line = len(lines)
		for good := len(t.src); line > 1; line-- {
			good -= len(lines[line-1])
			if doc, err := unmarshal(t.src[:good]); err == nil && (len(doc.Content) == 0 || doc.Content[0].Kind == yaml.MappingNode) {
				break
			}
		}
	}
	line = min(max(line, 1), len(lines))
	offset := 0
	for _, l := range lines[:line-1] {
		offset += len(l)
	}
	text := lines[line-1]
	offset += len(text) - len(bytes.TrimLeft(text, " "))
	return &offsetError{min(offset, len(t.src)), msg}
}
