package gm

import (
	"fmt"
	"strings"
	"testing"
)

func TestRequiredRolls(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "",
		"Roll well, friend.":                 "",
		"1d20+3":                             "1d20+3||",
		"- `1d20 + 3 | Stealth | dc 15`\n":   "1d20 + 3|Stealth|15",
		"1d20 | a | adv | whatever\n4d6k3\n": "1d20|a| adv 4d6k3||",
		"1d20 | a | sealed":                  "1d20|a|",
		"15\n2d6 | x | adv\n1d200 | y | adv": "2d6|x| 1d200|y|",
		"1d20+5 >= 15 | z | dc 12":           "1d20+5 >= 15|z|",
		strings.Repeat("1d4\n", 50):          strings.TrimSpace(strings.Repeat("1d4|| ", MaxPlayerRolls)),
	} {
		var got []string
		for _, r := range requiredRolls(text, tilda) {
			s := r.Expr + "|" + r.Purpose + "|"
			if r.DC != nil {
				s += fmt.Sprint(*r.DC)
			}
			if r.Adv {
				s += " adv"
			}
			got = append(got, s)
		}
		eq(t, text, strings.Join(got, " "), want)
	}
}
