package dice

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// syntaxError says where an expression stopped making sense.
type syntaxError struct {
	column   int    // in characters, from 1
	expected string // what could have stood there
	found    string // what stands there; empty when expected says it all
}

func (e *syntaxError) Error() string {
	s := fmt.Sprintf("dice expression, column %d: expected %s", e.column, e.expected)
	if e.found != "" {
		s += ", found " + e.found
	}
	return s
}

// limitError says which limit an expression or a roll went beyond.
type limitError struct{ what string }

func (e *limitError) Error() string { return "dice limit: " + e.what }

// Parse reads the whole input or refuses it.
func Parse(input string) (Roll, error) {
	if len(input) > maxBytes {
		return Roll{}, &limitError{fmt.Sprintf("expression of %d bytes, at most %d", len(input), maxBytes)}
	}
	return parse(input)
}

// parse has no limit of length: the canonical form of an input can be longer
// than the input.
func parse(input string) (Roll, error) {
	p := &parser{src: input}
	if err := p.checkText(); err != nil {
		return Roll{}, err
	}
	return p.input()
}

type parser struct {
	src   string
	pos   int
	depth int
	// leading is the start of the expression being read: only a 1d20 that
	// stands there may be followed by adv or dis.
	leading int
	dice    int
}

func (p *parser) checkText() error {
	for i, r := range p.src {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(p.src[i:]); n == 1 {
				return p.errorAt(i, "text in UTF-8", "a broken byte")
			}
		}
		if unicode.IsControl(r) && r != '\t' {
			return p.errorAt(i, "one line of text", "a control character")
		}
	}
	return nil
}

func (p *parser) errorAt(pos int, expected, found string) error {
	return &syntaxError{utf8.RuneCountInString(p.src[:pos]) + 1, expected, found}
}

func (p *parser) expected(what string) error { return p.expectedAt(p.pos, what) }

func (p *parser) expectedAt(pos int, what string) error {
	if pos >= len(p.src) {
		return p.errorAt(pos, what, "the end")
	}
	r, _ := utf8.DecodeRuneInString(p.src[pos:])
	return p.errorAt(pos, what, strconv.Quote(string(r)))
}

// skip moves over white space and reports whether there was any.
func (p *parser) skip() bool {
	start := p.pos
	for p.pos < len(p.src) && (p.src[p.pos] == ' ' || p.src[p.pos] == '\t') {
		p.pos++
	}
	return p.pos > start
}

// peek returns the next byte in lower case, or 0 at the end.
func (p *parser) peek() byte { return p.peekAt(p.pos) }

func (p *parser) peekAt(i int) byte {
	if i >= len(p.src) {
		return 0
	}
	c := p.src[i]
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// take consumes word, whatever its case, if it stands here.
func (p *parser) take(word string) bool {
	if len(p.src)-p.pos < len(word) || !strings.EqualFold(p.src[p.pos:p.pos+len(word)], word) {
		return false
	}
	p.pos += len(word)
	return true
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func (p *parser) input() (Roll, error) {
	var r Roll
	p.skip()
	for {
		if c := p.peek(); c == 0 || c == '#' {
			break
		}
		e, err := p.expr()
		if err != nil {
			return Roll{}, err
		}
		r.Exprs = append(r.Exprs, e)
		spaced := p.skip()
		if c := p.peek(); c == 0 || c == '#' {
			break
		}
		if !spaced || !p.startsTerm() {
			return Roll{}, p.expected("an operator, a comparison, a comment or the end")
		}
	}
	if len(r.Exprs) == 0 {
		return Roll{}, p.expected("a number, dice such as 1d20, or a parenthesis")
	}
	if p.peek() == '#' {
		r.Comment = strings.TrimSpace(p.src[p.pos+1:])
	}
	return r, nil
}

// startsTerm reports whether a further expression can begin here. A bare
// number cannot: "1d20 5" is more likely a forgotten plus than two results.
func (p *parser) startsTerm() bool {
	c := p.peek()
	return c == '(' || c == 'd' || (digit(c) && !p.bareNumber())
}

// bareNumber reports whether a number stands here that is not a count of dice.
func (p *parser) bareNumber() bool {
	i := p.pos
	for digit(p.peekAt(i)) {
		i++
	}
	if i == p.pos {
		return false
	}
	for c := p.peekAt(i); c == ' ' || c == '\t'; c = p.peekAt(i) {
		i++
	}
	return p.peekAt(i) != 'd'
}

func (p *parser) expr() (Expr, error) {
	start := p.pos
	p.leading = start
	root, err := p.sum()
	if err != nil {
		return Expr{}, err
	}
	e := Expr{Text: strings.Join(strings.Fields(p.src[start:p.pos]), " "), root: root}
	mark := p.pos
	p.skip()
	if e.compare, err = p.comparison(); err != nil {
		return Expr{}, err
	}
	if e.compare == nil {
		p.pos = mark
	}
	return e, nil
}

func (p *parser) comparison() (*Compare, error) {
	c := &Compare{}
	switch {
	case p.take("vs"):
		p.skip()
		if p.take("dc") {
			p.skip()
		}
		c.Op, c.VS = ">=", true
	default:
		if c.Op = p.operator(); c.Op == "" {
			return nil, nil
		}
	}
	p.skip()
	neg := p.take("-")
	p.skip()
	n, err := p.integer("a number to compare with")
	if err != nil {
		return nil, err
	}
	if c.Target = n; neg {
		c.Target = -n
	}
	return c, nil
}

// operator reads a comparison operator; "==" is "=".
func (p *parser) operator() string {
	for _, op := range []string{">=", "<=", "==", ">", "<", "="} {
		if p.take(op) {
			if op == "==" {
				return "="
			}
			return op
		}
	}
	return ""
}

func (p *parser) sum() (node, error) {
	return p.chain("+-", p.product)
}

func (p *parser) product() (node, error) {
	return p.chain("*/", p.unary)
}

// chain reads operands joined by operators of one rank, grouping to the left.
func (p *parser) chain(ops string, operand func() (node, error)) (node, error) {
	l, err := operand()
	if err != nil {
		return nil, err
	}
	for {
		mark := p.pos
		p.skip()
		c := p.peek()
		if c == 0 || strings.IndexByte(ops, c) < 0 {
			p.pos = mark
			return l, nil
		}
		p.pos++
		if c == '/' {
			p.take("/")
		}
		p.skip()
		r, err := operand()
		if err != nil {
			return nil, err
		}
		l = &binNode{c, l, r}
	}
}

func (p *parser) enter() error {
	if p.depth++; p.depth > maxDepth {
		return &limitError{fmt.Sprintf("nested deeper than %d", maxDepth)}
	}
	return nil
}

func (p *parser) unary() (node, error) {
	if p.peek() != '-' {
		return p.primary()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	p.pos++
	p.skip()
	x, err := p.unary()
	p.depth--
	if err != nil {
		return nil, err
	}
	return &negNode{x}, nil
}

func (p *parser) primary() (node, error) {
	switch c := p.peek(); {
	case c == '(':
		return p.group()
	case c == 'd':
		return p.dicePart(p.pos, 1)
	case !digit(c):
		return nil, p.expected("a number, dice such as 1d20, or a parenthesis")
	}
	start := p.pos
	n, err := p.integer("a number")
	if err != nil {
		return nil, err
	}
	mark := p.pos
	p.skip()
	if p.peek() == 'd' {
		return p.dicePart(start, n)
	}
	p.pos = mark
	labels, err := p.labels()
	return &numNode{n, labels}, err
}

func (p *parser) group() (node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	p.pos++
	p.skip()
	x, err := p.sum()
	p.depth--
	if err != nil {
		return nil, err
	}
	p.skip()
	if p.peek() == ',' {
		return nil, p.errorAt(p.pos, "a closing parenthesis (sets are not supported; roll the parts as separate expressions)", `","`)
	}
	if !p.take(")") {
		return nil, p.expected("an operator or a closing parenthesis")
	}
	labels, err := p.labels()
	return &groupNode{x, labels}, err
}

func (p *parser) labels() ([]string, error) {
	var out []string
	for {
		mark := p.pos
		p.skip()
		if p.peek() != '[' {
			p.pos = mark
			return out, nil
		}
		text, _, ok := strings.Cut(p.src[p.pos+1:], "]")
		if !ok {
			return nil, p.expectedAt(len(p.src), "a closing bracket of the label")
		}
		label := strings.Join(strings.Fields(text), " ")
		if label == "" || strings.Contains(label, "[") {
			return nil, p.errorAt(p.pos, "a label such as [fire]", strconv.Quote("["+text+"]"))
		}
		out = append(out, label)
		p.pos += len(text) + 2
	}
}

// integer reads an unsigned decimal number that fits in 63 bits.
func (p *parser) integer(what string) (int64, error) {
	start := p.pos
	for digit(p.peek()) {
		p.pos++
	}
	if start == p.pos {
		return 0, p.expected(what)
	}
	n, err := strconv.ParseInt(p.src[start:p.pos], 10, 64)
	if err != nil {
		return 0, p.errorAt(start, what+" below 2^63", strconv.Quote(p.src[start:p.pos]))
	}
	return n, nil
}
