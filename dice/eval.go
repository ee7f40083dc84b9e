package dice

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Result is what one expression came to.
type Result struct {
	Expr    string   `json:"expr"` // canonical, with its comparison
	Dice    []Die    `json:"dice"`
	Total   int64    `json:"total"`
	Outcome *Outcome `json:"outcome,omitempty"`
	Natural int      `json:"natural,omitempty"` // 20 or 1 on the one kept d20 of the leftmost term
	Text    string   `json:"text"`              // the house's display
}

// Outcome is the result of a comparison. Margin is positive on the side of
// success: how far the total went beyond the target.
type Outcome struct {
	Op      string `json:"op"`
	Target  int64  `json:"target"`
	Success bool   `json:"success"`
	Margin  int64  `json:"margin"`
}

// Die is one die of a term and all the faces that it showed.
type Die struct {
	Term     int    `json:"term"`  // number of the dice term in the expression, from 1
	Sides    string `json:"sides"` // "20", or "F" for fate dice
	Faces    []int  `json:"faces"` // in the order they fell
	Replaced int    `json:"rerolled,omitempty"`
	Value    int    `json:"value"`
	Exploded bool   `json:"exploded,omitempty"`
	Extra    bool   `json:"extra,omitempty"` // fell because another die exploded
	Added    bool   `json:"added,omitempty"` // fell because of ra, after all the others
	Dropped  bool   `json:"dropped,omitempty"`
}

// Eval rolls every expression in order, drawing from one source.
func (r Roll) Eval(src source) ([]Result, error) {
	ev := &evaluator{src: src}
	out := make([]Result, 0, len(r.Exprs))
	for _, e := range r.Exprs {
		res, err := ev.expr(e)
		if err != nil {
			return nil, err
		}
		out = append(out, res)
	}
	return out, nil
}

type evaluator struct {
	src   source
	drawn int
	terms [][]Die // of the expression at hand
}

func (ev *evaluator) expr(e Expr) (Result, error) {
	ev.terms = nil
	total, err := ev.node(e.root)
	if err != nil {
		return Result{}, fmt.Errorf("roll %s: %w", e, err)
	}
	res := Result{Expr: e.String(), Total: total, Dice: []Die{}}
	for _, t := range ev.terms {
		res.Dice = append(res.Dice, t...)
	}
	if e.compare != nil {
		if res.Outcome, err = judge(*e.compare, total); err != nil {
			return Result{}, fmt.Errorf("roll %s: %w", e, err)
		}
	}
	res.Natural = natural(leftmost(e.root), ev.terms)
	res.Text = display(e, ev.terms, res)
	return res, nil
}

func judge(c Compare, total int64) (*Outcome, error) {
	o := &Outcome{Op: c.Op, Target: c.Target, Success: compares(c.Op, total, c.Target)}
	hi, lo := total, c.Target
	if strings.HasPrefix(c.Op, "<") {
		hi, lo = lo, hi
	}
	var err error
	o.Margin, err = arith('-', hi, lo)
	return o, err
}

// leftmost returns the first dice term if nothing stands before it.
func leftmost(n node) *diceNode {
	switch n := n.(type) {
	case *diceNode:
		return n
	case *binNode:
		return leftmost(n.l)
	case *groupNode:
		return leftmost(n.x)
	}
	return nil
}

func natural(d *diceNode, terms [][]Die) int {
	if d == nil || d.sides != 20 || len(terms) == 0 {
		return 0
	}
	kept := slices.DeleteFunc(slices.Clone(terms[0]), func(die Die) bool { return die.Dropped })
	if len(kept) != 1 {
		return 0
	}
	faces := kept[0].Faces[kept[0].Replaced:]
	if len(faces) == 1 && (faces[0] == 20 || faces[0] == 1) {
		return faces[0]
	}
	return 0
}

func (ev *evaluator) node(n node) (int64, error) {
	switch n := n.(type) {
	case *numNode:
		return n.value, nil
	case *groupNode:
		return ev.node(n.x)
	case *negNode:
		x, err := ev.node(n.x)
		if err != nil {
			return 0, err
		}
		return arith('-', 0, x)
	case *binNode:
		l, err := ev.node(n.l)
		if err != nil {
			return 0, err
		}
		r, err := ev.node(n.r)
		if err != nil {
			return 0, err
		}
		return arith(n.op, l, r)
	case *diceNode:
		return ev.dice(n)
	}
	return 0, fmt.Errorf("unknown part %T", n)
}

var (
	errOverflow = errors.New("the number does not fit in 64 bits")
	errZero     = errors.New("division by zero")
)

// arith computes in 64 bits and refuses to overflow. Division rounds down.
func arith(op byte, a, b int64) (int64, error) {
	switch op {
	case '+':
		if c := a + b; (c > a) == (b > 0) {
			return c, nil
		}
	case '-':
		if c := a - b; (c < a) == (b > 0) {
			return c, nil
		}
	case '*':
		if a == 0 || b == 0 {
			return 0, nil
		}
		if c := a * b; c/b == a && !(a == -1 && b == math.MinInt64) && !(b == -1 && a == math.MinInt64) {
			return c, nil
		}
	case '/':
		if b == 0 {
			return 0, errZero
		}
		if a == math.MinInt64 && b == -1 {
			return 0, errOverflow
		}
		q := a / b
		if a%b != 0 && (a < 0) != (b < 0) {
			q--
		}
		return q, nil
	}
	return 0, errOverflow
}

func (ev *evaluator) draw(sides int) (int, error) {
	if ev.drawn++; ev.drawn > maxDice {
		return 0, &limitError{fmt.Sprintf("more than %d dice fell", maxDice)}
	}
	return ev.src.Face(sides)
}

func (ev *evaluator) dice(d *diceNode) (int64, error) {
	term := len(ev.terms) + 1
	ev.terms = append(ev.terms, nil)
	set, err := ev.explode(d)
	if err == nil {
		set, err = ev.reroll(d, set)
	}
	if err != nil {
		return 0, err
	}
	var sum int64
	finish(d, set)
	for i := range set {
		set[i].Term = term
		if !set[i].Dropped {
			sum += int64(set[i].Value)
		}
	}
	ev.terms[term-1] = set
	return sum, nil
}

// explode rolls the dice and whatever their explosions add.
func (ev *evaluator) explode(d *diceNode) ([]Die, error) {
	on := d.explode.on
	if !on.given() {
		on = cond{"=", d.sides}
	}
	var set []Die
	for range d.count {
		die := newDie(d)
		for extra := 0; ; extra++ {
			if extra > maxExplosions {
				return nil, &limitError{fmt.Sprintf("a die exploded more than %d times", maxExplosions)}
			}
			face, err := ev.draw(d.sides)
			if err != nil {
				return nil, err
			}
			die.Faces = append(die.Faces, face)
			hit := d.explode.kind != "" && on.match(face)
			die.Exploded = die.Exploded || hit
			if !hit {
				break
			}
			if d.explode.kind != "!!" {
				set = append(set, die)
				die = newDie(d)
				die.Extra = true
			}
		}
		set = append(set, die)
	}
	return set, nil
}

func newDie(d *diceNode) Die {
	if d.fate {
		return Die{Sides: "F"}
	}
	return Die{Sides: fmt.Sprint(d.sides)}
}

func (ev *evaluator) reroll(d *diceNode, set []Die) ([]Die, error) {
	if d.reroll.kind == "" {
		return set, nil
	}
	var out []Die
	for _, die := range set {
		add := 0
		for n := 0; d.reroll.on.match(faceSum(die)); n++ {
			if n >= maxRerolls {
				return nil, &limitError{fmt.Sprintf("a die was rerolled more than %d times", maxRerolls)}
			}
			face, err := ev.draw(d.sides)
			if err != nil {
				return nil, err
			}
			if d.reroll.kind == "ra" {
				add = face
				break
			}
			die.Replaced = len(die.Faces)
			die.Faces = append(die.Faces, face)
			if d.reroll.kind == "ro" {
				break
			}
		}
		if out = append(out, die); add != 0 {
			extra := newDie(d)
			extra.Faces, extra.Added = []int{add}, true
			out[len(out)-1].Exploded = true
			out = append(out, extra)
		}
	}
	return out, nil
}

func faceSum(die Die) int {
	sum := 0
	for _, f := range die.Faces[die.Replaced:] {
		sum += f
	}
	return sum
}

// finish sets values, then bounds, then what is dropped.
func finish(d *diceNode, set []Die) {
	for i := range set {
		v := faceSum(set[i])
		switch {
		case d.fate:
			v -= 2
			for j := range set[i].Faces {
				set[i].Faces[j] -= 2
			}
		case d.explode.kind == "!p" && set[i].Extra:
			v--
		}
		if d.min != 0 {
			v = max(v, d.min)
		}
		if d.max != 0 {
			v = min(v, d.max)
		}
		set[i].Value = v
	}
	drop(d.keep, set)
}

// drop marks dice. Among equals the earlier die is kept, so that the same
// faces always give the same record.
func drop(k keepMod, set []Die) {
	if k.kind == "" {
		return
	}
	order := make([]int, len(set)) // from worst to best, as the modifier sees it
	for i := range order {
		order[i] = i
	}
	high := k.kind == "kh" || k.kind == "dl"
	slices.SortStableFunc(order, func(a, b int) int {
		if set[a].Value == set[b].Value {
			return b - a
		}
		if (set[a].Value < set[b].Value) == high {
			return -1
		}
		return 1
	})
	n := k.n
	if k.kind[0] == 'k' {
		n = max(0, len(set)-k.n)
	}
	for _, i := range order[:min(n, len(order))] {
		set[i].Dropped = true
	}
}
