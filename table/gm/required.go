package gm

import (
	"regexp"
	"strings"

	"conclave/dice"
	"conclave/table"
)

// RollSection is the section of a prompt by which a GM asks a player for dice,
// one line each: "1d20+3 | Stealth | dc 15".
const RollSection = "Roll Required"

// MaxPlayerRolls bounds the dice of one request.
const MaxPlayerRolls = 12

var leadingD20 = regexp.MustCompile(`^1d20(\D|$)`)

// RequiredRolls are the dice that a prompt asks of a player: the lines of its
// section that are dice; the others are words.
func RequiredRolls(p table.Prompt, who string) []Roll {
	return requiredRolls(p.Section(RollSection), who)
}

func requiredRolls(section, who string) []Roll {
	var out []Roll
	for line := range strings.Lines(section) {
		parts := strings.Split(strings.Trim(line, " \t\r\n*-`"), "|")
		r := Roll{Expr: strings.TrimSpace(parts[0]), Who: who}
		roll, err := dice.Parse(r.Expr)
		if err != nil || !strings.Contains(roll.String(), "d") {
			continue
		}
		if len(parts) > 1 {
			r.Purpose = Clip(strings.TrimSpace(parts[1]), 200)
		}
		for _, p := range parts[min(2, len(parts)):] {
			_ = r.Option(strings.ToLower(strings.TrimSpace(p))) // a remark is no option
		}
		// What cannot be must not stop the table: the dice would refuse it.
		if _, has := roll.Exprs[0].Compare(); has {
			r.DC = nil
		}
		if !leadingD20.MatchString(roll.String()) {
			r.Adv, r.Dis = false, false
		}
		if out = append(out, r); len(out) == MaxPlayerRolls {
			break
		}
	}
	return out
}
