package gateway

import (
	"bytes"
	"fmt"
	"strings"

	"conclave/internal/jsontext"
)

// cursor goes once over the messages of a request, which have been checked to
// be JSON. Conversations are long and every call repeats them, so that this
// pass is what the gateway adds to the first byte; it jumps from quote to
// quote.
type cursor struct {
	api *api
	b   []byte
	i   int
}

// content looks for sources that are addresses or identifiers. It does not
// look into what a tool was called with: that is the tool's own.
func (c *cursor) content(depth int) error {
	if depth > maxDepth {
		return errTooDeep
	}
	switch c.peek() {
	case '{':
		return c.object(depth)
	case '[':
		for c.i++; c.more(); {
			if err := c.content(depth + 1); err != nil {
				return err
			}
		}
	default:
		c.skip()
	}
	return nil
}

func (c *cursor) object(depth int) error {
	var p part
	var seen keys
	for c.i++; c.more(); {
		name, ok := jsontext.String(c.skip())
		if !ok {
			return errNoText
		}
		// A key in another case is no key to the provider, or the same one.
		name = c.api.same(name)
		if err := seen.add(name); err != nil {
			return fmt.Errorf("a part of a message cannot be judged: %w", err)
		}
		if err := c.member(&p, name, depth); err != nil {
			return err
		}
	}
	return p.refers()
}

func (c *cursor) member(p *part, name string, depth int) error {
	switch c.api.within[name] {
	case kindOf:
		p.kind, _ = jsontext.String(c.skip())
	case toolList:
		if c.peek() != '[' {
			return c.content(depth + 1)
		}
		return c.api.checkTools(c.skip(), 0)
	case address:
		return c.address(&p.url, depth)
	case fetched:
		return c.address(&p.fetch, depth)
	case fileOf:
		if raw := c.peekText(); bytes.Contains(raw, []byte(":")) || bytes.IndexByte(raw, '\\') >= 0 {
			return c.address(&p.fetch, depth)
		}
		return c.content(depth + 1)
	case kept:
		return c.kept(&p.file, depth)
	case apart:
		c.skip()
	default:
		return c.content(depth + 1)
	}
	return nil
}

// address notes a text that is neither empty nor the thing itself.
func (c *cursor) address(to *string, depth int) error {
	if c.peek() != '"' {
		return c.content(depth + 1)
	}
	raw := c.skip()
	if bytes.HasPrefix(raw, []byte(`"data:`)) {
		return nil
	}
	if text, _ := jsontext.String(raw); text != "" && !strings.HasPrefix(text, "data:") {
		*to = text
	}
	return nil
}

// kept notes what the provider keeps: by its name, or as an object that has one.
func (c *cursor) kept(to *string, depth int) error {
	if c.peek() != '{' {
		return c.address(to, depth)
	}
	at := *c
	if id, ok := jsontext.String(jsontext.Get(at.skip(), "id")); ok {
		*to = id
	}
	return c.content(depth + 1)
}

// peekText returns the next value if it is a string.
func (c *cursor) peekText() []byte {
	if c.peek() != '"' {
		return nil
	}
	at := *c
	return at.skip()
}

// peek returns the first byte of the next token, 0 at the end.
func (c *cursor) peek() byte {
	for ; c.i < len(c.b); c.i++ {
		switch b := c.b[c.i]; b {
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			return b
		}
	}
	return 0
}

// more says whether an object or array goes on, and steps over its end.
func (c *cursor) more() bool {
	switch c.peek() {
	case 0:
		return false
	case '}', ']':
		c.i++
		return false
	}
	return true
}

// skip steps over the next value and returns it.
func (c *cursor) skip() []byte {
	first := c.peek()
	start, depth := c.i, 0
	for c.i < len(c.b) {
		switch c.b[c.i] {
		case '"':
			c.text()
		case '{', '[':
			depth++
			c.i++
		case '}', ']':
			depth--
			c.i++
		default:
			c.i++
			if depth == 0 && first != '"' && c.atDelimiter() {
				return c.b[start:c.i]
			}
			continue
		}
		if depth <= 0 {
			return c.b[start:c.i]
		}
	}
	return c.b[start:c.i]
}

// atDelimiter says whether a number or a word has ended.
func (c *cursor) atDelimiter() bool {
	return c.i >= len(c.b) || strings.IndexByte(" \t\r\n,:]}", c.b[c.i]) >= 0
}

// text steps over a string.
func (c *cursor) text() {
	c.i++
	for c.i < len(c.b) {
		n := bytes.IndexByte(c.b[c.i:], '"')
		if n < 0 {
			c.i = len(c.b)
			return
		}
		slashes := 0
		for slashes < n && c.b[c.i+n-1-slashes] == '\\' {
			slashes++
		}
		c.i += n + 1
		if slashes%2 == 0 {
			return
		}
	}
}
