package dice

import (
	"fmt"
	"strconv"
)

// dicePart reads a dice term from its d on; start is where its count began.
func (p *parser) dicePart(start int, count int64) (node, error) {
	p.pos++ // the d
	p.skip()
	if count < 1 || count > maxTermDice {
		return nil, &limitError{fmt.Sprintf("%d dice in one term, 1 to %d", count, maxTermDice)}
	}
	if p.dice += int(count); p.dice > maxDice {
		return nil, &limitError{fmt.Sprintf("more than %d dice in all", maxDice)}
	}
	d := &diceNode{count: int(count)}
	switch {
	case p.take("%"):
		d.sides = 100
	case p.take("f"):
		d.sides, d.fate = 3, true
	default:
		at := p.pos
		n, err := p.integer("a number of sides, % or F")
		if err != nil {
			return nil, err
		}
		if n < 1 || n > maxSides {
			return nil, p.errorAt(at, fmt.Sprintf("1 to %d sides", maxSides), strconv.FormatInt(n, 10))
		}
		d.sides = int(n)
	}
	if err := p.modifiers(d, start == p.leading); err != nil {
		return nil, err
	}
	labels, err := p.labels()
	d.labels = labels
	return d, err
}

func (p *parser) modifiers(d *diceNode, leading bool) error {
	var adv, dis bool
	start := p.pos
	for {
		mark := p.pos
		spaced := p.skip()
		at := p.pos
		ok, err := p.advantage(d, leading, &adv, &dis)
		if err == nil && !ok {
			ok, err = p.modifier(d, spaced)
		}
		if err != nil {
			return err
		}
		if !ok {
			p.pos = mark
			break
		}
		if (adv || dis) && (d.keep.kind != "") {
			return p.errorAt(at, "either adv/dis or a keep", "both")
		}
	}
	if adv != dis {
		d.count, d.keep = 2, keepMod{"kh", 1}
		if dis {
			d.keep.kind = "kl"
		}
		p.dice++
	}
	return p.sensible(d, start)
}

// advantage reads adv or dis. Both together are a normal roll.
func (p *parser) advantage(d *diceNode, leading bool, adv, dis *bool) (bool, error) {
	at := p.pos
	switch {
	case p.take("adv"):
		*adv = true
	case p.take("dis"):
		*dis = true
	default:
		return false, nil
	}
	if !leading || d.count != 1 || d.sides != 20 || d.fate {
		return false, p.errorAt(at, "adv and dis only after a leading 1d20", strconv.Quote(p.src[at:p.pos]))
	}
	return true, nil
}

// modifier reads one modifier and reports whether there was one. A d after a
// space starts a new expression unless its second letter makes it a drop.
func (p *parser) modifier(d *diceNode, spaced bool) (bool, error) {
	next := p.peekAt(p.pos + 1)
	switch p.peek() {
	case '!':
		return true, p.explode(d)
	case 'e':
		p.pos++
		n, err := p.small("a face to explode on")
		if err != nil {
			return false, err
		}
		return true, p.setExplode(d, explodeMod{"!", cond{"=", n}})
	case 'r':
		return true, p.rerollMod(d)
	case 'k':
		return true, p.keep(d, "k")
	case 'p':
		if next != 'l' && next != 'h' {
			return false, nil
		}
		return true, p.keep(d, "d")
	case 'd':
		if spaced && next != 'l' && next != 'h' {
			return false, nil
		}
		return true, p.keep(d, "d")
	case 'm':
		return true, p.bound(d)
	}
	return false, nil
}

func (p *parser) twice(what string, given bool) error {
	if !given {
		return nil
	}
	return p.errorAt(p.pos, "one "+what+" per term", "a second")
}

func (p *parser) explode(d *diceNode) error {
	p.pos++
	m := explodeMod{kind: "!"}
	if p.take("!") {
		m.kind = "!!"
	} else if p.take("p") {
		m.kind = "!p"
	}
	if op := p.operator(); op != "" {
		n, err := p.small("a face to explode on")
		if err != nil {
			return err
		}
		m.on = cond{op, n}
	}
	return p.setExplode(d, m)
}

func (p *parser) setExplode(d *diceNode, m explodeMod) error {
	if err := p.twice("explosion", d.explode.kind != ""); err != nil {
		return err
	}
	d.explode = m
	return nil
}

func (p *parser) rerollMod(d *diceNode) error {
	if err := p.twice("reroll", d.reroll.kind != ""); err != nil {
		return err
	}
	p.pos++
	m := rerollMod{kind: "r"}
	switch {
	case p.take("o"):
		m.kind = "ro"
	case p.take("a"):
		m.kind = "ra"
	default:
		p.take("r")
	}
	m.on = cond{"=", 1}
	op := p.operator()
	if op == "" {
		op = "="
	}
	if op != "=" || digit(p.peek()) || p.src[p.pos-1] == '=' {
		n, err := p.small("a face to reroll")
		if err != nil {
			return err
		}
		m.on = cond{op, n}
	}
	d.reroll = m
	return nil
}

func (p *parser) keep(d *diceNode, verb string) error {
	if err := p.twice("keep or drop", d.keep.kind != ""); err != nil {
		return err
	}
	p.pos++
	kind := verb + "h"
	if verb == "d" {
		kind = "dl" // a bare drop takes the lowest
	}
	if p.take("h") {
		kind = verb + "h"
	} else if p.take("l") {
		kind = verb + "l"
	}
	m := keepMod{kind, 1}
	mark := p.pos
	spaced := p.skip()
	at := p.pos
	if spaced && !p.bareNumber() {
		p.pos = mark
	} else if digit(p.peek()) {
		n, err := p.small("how many dice")
		if err != nil {
			return err
		}
		m.n = n
	}
	if m.n < 1 || m.n > d.count {
		return p.errorAt(at, fmt.Sprintf("1 to %d dice to keep or drop", d.count), strconv.Itoa(m.n))
	}
	d.keep = m
	return nil
}

func (p *parser) bound(d *diceNode) error {
	at := p.pos
	var to *int
	switch {
	case p.take("mi"):
		to = &d.min
	case p.take("ma"):
		to = &d.max
	default:
		return p.expectedAt(p.pos, "mi or ma with a number")
	}
	if err := p.twice("mi and ma", *to != 0); err != nil {
		return err
	}
	n, err := p.small("a bound")
	if err != nil {
		return err
	}
	if n < 1 {
		return p.errorAt(at, "a bound of 1 or more", "0")
	}
	*to = n
	return nil
}

// small reads a number that can be compared with a face.
func (p *parser) small(what string) (int, error) {
	at := p.pos
	n, err := p.integer(what)
	if err != nil {
		return 0, err
	}
	if n > maxSides {
		return 0, p.errorAt(at, fmt.Sprintf("%s up to %d", what, maxSides), strconv.FormatInt(n, 10))
	}
	return int(n), nil
}

// sensible refuses terms that could never end or that mean nothing.
func (p *parser) sensible(d *diceNode, at int) error {
	faces := func(c cond) (all bool) { return c.match(1) && c.match(d.sides) }
	switch {
	case d.explode.kind != "" && (d.fate || d.sides == 1):
		return p.errorAt(at, "dice of two or more numbered sides to explode", "d1 or dF")
	case d.fate && (d.reroll.kind != "" || d.min != 0 || d.max != 0):
		return p.errorAt(at, "no reroll and no bound on fate dice", "one")
	case d.explode.on.given() && faces(d.explode.on):
		return p.errorAt(at, "an explosion that some face ends", "one that never ends")
	case d.reroll.kind == "r" && faces(d.reroll.on):
		return p.errorAt(at, "a reroll that some face ends", "one that never ends")
	case d.min != 0 && d.max != 0 && d.min > d.max:
		return p.errorAt(at, "mi not above ma", fmt.Sprintf("mi%d ma%d", d.min, d.max))
	}
	return nil
}
