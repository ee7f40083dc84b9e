package combat

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Command is one thing that a game master does to a fight.
type Command struct {
	Verb     string    `json:"verb"`
	Who      string    `json:"who,omitempty"`
	Fighters []Fighter `json:"fighters,omitempty"` // of start and join
	After    string    `json:"after,omitempty"`    // of delay
	Text     string    `json:"text,omitempty"`     // of ready and concentrate
	Add      []string  `json:"add,omitempty"`      // conditions
	Remove   []string  `json:"remove,omitempty"`
	Damage   int       `json:"damage,omitempty"`
	Bonus    int       `json:"bonus,omitempty"` // of the save that keeps concentration
	Crit     bool      `json:"crit,omitempty"`
}

// Verbs are what a command can begin with.
var Verbs = []string{"start", "next", "join", "leave", "delay", "ready", "condition", "concentrate", "damage", "down",
	"save", "stabilise", "heal", "reveal", "end"}

// Conditions are those that can be put on somebody.
var Conditions = []string{"blinded", "charmed", "deafened", "exhausted", "frightened", "grappled", "incapacitated",
	"invisible", "paralysed", "petrified", "poisoned", "prone", "restrained", "stunned", "unconscious"}

// foreign spellings of conditions.
var spelt = map[string]string{"paralyzed": "paralysed", "exhaustion": "exhausted"}

var name = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// maxFighters bounds a fight.
const maxFighters = 40

// Parse reads a command. The error is for whoever said it.
func Parse(text string) (Command, error) {
	verb, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	verb, rest = strings.ToLower(verb), strings.TrimSpace(rest)
	if verb == "stabilize" {
		verb = "stabilise"
	}
	c := Command{Verb: verb}
	switch verb {
	case "next", "end":
		if rest != "" {
			return c, fmt.Errorf("combat %s takes nothing behind it", verb)
		}
		return c, nil
	case "start", "join":
		return c, c.fighters(rest)
	case "leave", "down", "save", "stabilise", "heal", "reveal":
		return c, c.who(rest)
	case "ready", "concentrate":
		who, what, _ := strings.Cut(rest, ":")
		c.Text = strings.TrimSpace(what)
		return c, c.who(who)
	case "delay":
		who, after, ok := strings.Cut(rest, " after ")
		if c.After = strings.TrimSpace(after); !ok || !name.MatchString(c.After) {
			return c, fmt.Errorf("combat delay WHO after WHOM: it says behind whom they wait")
		}
		return c, c.who(who)
	case "condition":
		return c, c.conditions(rest)
	case "damage":
		return c, c.damage(rest)
	}
	return c, fmt.Errorf("combat knows no %q: %s", clip(verb), strings.Join(Verbs, ", "))
}

func (c *Command) who(text string) error {
	c.Who = strings.TrimSpace(text)
	if !name.MatchString(c.Who) {
		return fmt.Errorf("combat %s: %q is no name of a fighter: small letters, digits and dashes", c.Verb, clip(c.Who))
	}
	return nil
}

// fighters reads "tilda-brannock +2, goblins +1 surprised hidden".
func (c *Command) fighters(text string) error {
	for item := range strings.SplitSeq(text, ",") {
		words := strings.Fields(item)
		if len(words) == 0 {
			continue
		}
		f := Fighter{Name: words[0]}
		if !name.MatchString(f.Name) {
			return fmt.Errorf("combat %s: %q is no name of a fighter: small letters, digits and dashes", c.Verb, clip(f.Name))
		}
		for _, w := range words[1:] {
			n, err := strconv.Atoi(w)
			switch {
			case err == nil && n >= -99 && n <= 99:
				f.Bonus = n
			case w == "surprised":
				f.Surprised = true
			case w == "hidden":
				f.Hidden = true
			default:
				return fmt.Errorf("combat %s: %q is no bonus, nor surprised or hidden", c.Verb, clip(w))
			}
		}
		if slices.ContainsFunc(c.Fighters, func(o Fighter) bool { return o.Name == f.Name }) {
			return fmt.Errorf("combat %s names %s twice", c.Verb, f.Name)
		}
		c.Fighters = append(c.Fighters, f)
	}
	if len(c.Fighters) == 0 || len(c.Fighters) > maxFighters {
		return fmt.Errorf("combat %s needs one to %d fighters: NAME BONUS, NAME BONUS", c.Verb, maxFighters)
	}
	return nil
}

func (c *Command) conditions(text string) error {
	words := strings.Fields(text)
	if len(words) < 2 {
		return fmt.Errorf("combat condition WHO +NAME -NAME: %s", strings.Join(Conditions, ", "))
	}
	for _, w := range words[1:] {
		what := strings.ToLower(w[1:])
		if to := spelt[what]; to != "" {
			what = to
		}
		switch {
		case !slices.Contains(Conditions, what) || w[0] != '+' && w[0] != '-':
			return fmt.Errorf("combat condition: %q is none of +NAME and -NAME with %s", clip(w), strings.Join(Conditions, ", "))
		case w[0] == '+':
			c.Add = append(c.Add, what)
		default:
			c.Remove = append(c.Remove, what)
		}
	}
	return c.who(words[0])
}

func (c *Command) damage(text string) error {
	words := strings.Fields(text)
	usage := fmt.Errorf("combat damage WHO NUMBER, and save BONUS or crit behind it if wanted")
	if len(words) < 2 {
		return usage
	}
	n, err := strconv.Atoi(words[1])
	if err != nil || n < 0 || n > 9999 {
		return usage
	}
	c.Damage = n
	for i := 2; i < len(words); i++ {
		switch {
		case words[i] == "crit":
			c.Crit = true
		case words[i] == "save" && i+1 < len(words):
			i++
			if c.Bonus, err = strconv.Atoi(words[i]); err != nil || c.Bonus < -99 || c.Bonus > 99 {
				return usage
			}
		default:
			return usage
		}
	}
	return c.who(words[0])
}

func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:39]) + "…"
	}
	return s
}
