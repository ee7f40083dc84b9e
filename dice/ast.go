package dice

import (
	"fmt"
	"strconv"
	"strings"
)

// Limits of expressions. Going beyond one is always an error, never a silent stop.
const (
	maxBytes      = 256       // length of an input
	maxDepth      = 16        // nesting of parentheses and minus signs
	maxTermDice   = 500       // dice asked for by one term
	maxDice       = 1000      // dice that fall in one roll, rerolls and explosions included
	maxSides      = 1_000_000 // sides of a die
	maxExplosions = 100       // explosions of one die
	maxRerolls    = 100       // rerolls of one die
)

// Roll is a parsed input: one or more expressions and an optional comment.
type Roll struct {
	Exprs   []Expr
	Comment string
}

// Expr is one expression with its optional comparison.
type Expr struct {
	// Text is what was typed, without the comparison, white space collapsed.
	Text    string
	root    node
	compare *Compare
}

// Compare is the target of an expression.
type Compare struct {
	Op     string // ">=", ">", "<=", "<" or "="
	Target int64
	VS     bool // written as "vs": a difficulty class
}

// Compare returns the target of the expression, if it has one.
func (e Expr) Compare() (Compare, bool) {
	if e.compare == nil {
		return Compare{}, false
	}
	return *e.compare, true
}

// node is a part of an expression tree.
type node interface {
	print(*writer)
}

type numNode struct {
	value  int64
	labels []string
}

type negNode struct{ x node }

type binNode struct {
	op   byte // '+', '-', '*' or '/'
	l, r node
}

type groupNode struct {
	x      node
	labels []string
}

type diceNode struct {
	count, sides int
	fate         bool
	explode      explodeMod
	reroll       rerollMod
	min, max     int // 0 = not set
	keep         keepMod
	labels       []string
}

// cond selects faces: an operator and a number. The zero cond is "not given".
type cond struct {
	op string
	n  int
}

type explodeMod struct {
	kind string // "", "!", "!!" or "!p"
	on   cond   // not given = the highest face
}

type rerollMod struct {
	kind string // "", "r", "ro" or "ra"
	on   cond
}

type keepMod struct {
	kind string // "", "kh", "kl", "dh" or "dl"
	n    int
}

func (c cond) given() bool { return c.op != "" }

func (c cond) match(face int) bool { return compares(c.op, int64(face), int64(c.n)) }

func compares(op string, a, b int64) bool {
	switch op {
	case ">=":
		return a >= b
	case ">":
		return a > b
	case "<=":
		return a <= b
	case "<":
		return a < b
	}
	return a == b
}

func (c cond) String() string { return c.op + strconv.Itoa(c.n) }

// String is the canonical form: one spelling for everything that means the
// same. Parsing it again gives the same roll.
func (r Roll) String() string {
	parts := make([]string, len(r.Exprs))
	for i, e := range r.Exprs {
		parts[i] = e.String()
	}
	s := strings.Join(parts, " ")
	if r.Comment != "" {
		s += " # " + r.Comment
	}
	return s
}

// String is the canonical form of one expression with its comparison.
func (e Expr) String() string {
	var b writer
	e.root.print(&b)
	if c := e.compare; c != nil {
		op := c.Op
		if c.VS {
			op = "vs"
		}
		fmt.Fprintf(&b, " %s %d", op, c.Target)
	}
	return b.String()
}

// writer writes an expression: as it is asked for, or with the dice that fell.
type writer struct {
	strings.Builder
	terms [][]Die // nil: none fell yet
	next  int
}

func (b *writer) labels(labels []string) {
	for _, l := range labels {
		b.WriteString(" [" + l + "]")
	}
}

func (n *numNode) print(b *writer) {
	b.WriteString(strconv.FormatInt(n.value, 10))
	b.labels(n.labels)
}

func (n *negNode) print(b *writer) {
	b.WriteByte('-')
	n.x.print(b)
}

func (n *binNode) print(b *writer) {
	n.l.print(b)
	b.WriteByte(n.op)
	n.r.print(b)
}

func (n *groupNode) print(b *writer) {
	b.WriteByte('(')
	n.x.print(b)
	b.WriteByte(')')
	b.labels(n.labels)
}

func (n *diceNode) print(b *writer) {
	if b.terms != nil {
		b.WriteString(diceText(b.terms[b.next]))
		b.next++
		b.labels(n.labels)
		return
	}
	b.WriteString(strconv.Itoa(n.count) + "d")
	if n.fate {
		b.WriteByte('F')
	} else {
		b.WriteString(strconv.Itoa(n.sides))
	}
	b.WriteString(n.explode.kind)
	if n.explode.on.given() {
		b.WriteString(n.explode.on.String())
	}
	if n.reroll.kind != "" {
		b.WriteString(n.reroll.kind + n.reroll.on.String())
	}
	if n.min != 0 {
		b.WriteString("mi" + strconv.Itoa(n.min))
	}
	if n.max != 0 {
		b.WriteString("ma" + strconv.Itoa(n.max))
	}
	if n.keep.kind != "" {
		b.WriteString(n.keep.kind + strconv.Itoa(n.keep.n))
	}
	b.labels(n.labels)
}
