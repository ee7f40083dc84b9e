package dice

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// display is the house style:
//
//	1d20+5 = [14]+5 = 19 vs DC 15 — success (+4)
//	4d6k3 = [5, ~~3~~, 6, 4] = 15
//
// Dropped dice and rerolled faces are struck, an exploded die has a "!".
func display(e Expr, terms [][]Die, res Result) string {
	b := &writer{terms: terms}
	b.WriteString(e.Text)
	if len(terms) > 0 {
		b.WriteString(" = ")
		e.root.print(b)
	}
	fmt.Fprintf(b, " = %d", res.Total)
	if res.Natural != 0 {
		fmt.Fprintf(b, " (natural %d)", res.Natural)
	}
	if o := res.Outcome; o != nil {
		sign := o.Op
		if c, _ := e.Compare(); c.VS {
			sign = "vs DC"
		}
		b.WriteString(o.text(sign))
	}
	return b.String()
}

// text is what came of the comparison.
func (o *Outcome) text(sign string) string {
	word := "failure"
	if o.Success {
		word = "success"
	}
	return fmt.Sprintf(" %s %d — %s (%+d)", sign, o.Target, word, o.Margin)
}

func diceText(set []Die) string {
	parts := make([]string, len(set))
	for i, d := range set {
		parts[i] = dieText(d)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func dieText(d Die) string {
	var old string
	for _, f := range d.Faces[:d.Replaced] {
		old += "~~" + strconv.Itoa(f) + "~~ "
	}
	faces := d.Faces[d.Replaced:]
	s := strconv.Itoa(d.Value)
	if sum := faceSum(d); sum != d.Value {
		s = fmt.Sprintf("%d→%d", sum, d.Value)
	} else if len(faces) > 1 {
		s = strings.Trim(strings.ReplaceAll(fmt.Sprint(faces), " ", "+"), "[]")
	}
	if d.Exploded {
		s += "!"
	}
	if d.Dropped {
		s = "~~" + s + "~~"
	}
	return old + s
}

// ToldLine is a line that Told has written.
var ToldLine = regexp.MustCompile(`(?m)^Roll #[0-9]+ · .*\n?`)

// Told is a roll on one line, as a viewer may know it.
func (l Line) Told(v Viewer) string {
	head := fmt.Sprintf("Roll #%d · %s", l.N, l.Who)
	if l.Purpose != "" {
		head += " · " + l.Purpose
	}
	if l.Event == EventVoid {
		return head + ": " + l.Input + " could not be finished: " + l.Note
	}
	seen := v.redact(l, func(uint64) (Line, bool) { return l, false })
	if len(seen.Results) == 0 {
		return fmt.Sprintf("Roll #%d · the game master rolls dice", l.N)
	}
	return head + ": " + strings.ReplaceAll(seen.Text(), "\n", "; ")
}
