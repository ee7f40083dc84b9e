package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"conclave/internal/nearest"
	"conclave/policy"
)

// perCharacter are the seats of which every character has one, named after it:
// player.tilda-brannock.
var perCharacter = []string{string(policy.Player), string(policy.JournalKeeper), Relay}

// Relay is who lends a voice to the character of a person; relay.tilda-brannock to
// that one. Nobody does where it is not named.
const Relay = "relay"

// perJudge are the roles of which a gate may ask several, each in a seat of its
// own: dragon.2, dragon.3.
var perJudge = []string{string(policy.Dragon), string(policy.Guardian)}

// Judge is the seat of the n-th judge of a role: its own, where the configuration
// names it, or else the role's.
func (c Config) Judge(role string, n int) string {
	seat := fmt.Sprintf("%s.%d", role, n)
	if _, named := c.Agents[seat]; named {
		return seat
	}
	return role
}

// judge is which judge of its role a seat is for: the second, or a further one.
func judge(base, number string) (n int, ok bool) {
	n, err := strconv.Atoi(number)
	return n, err == nil && n >= 2 && strconv.Itoa(n) == number && slices.Contains(perJudge, base)
}

// Seats are those that a configuration can speak of: every role, and the seats of
// single characters that it names.
func (c Config) Seats() []string {
	list := castRoles()
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		if name != "default" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// castRoles are the roles that somebody plays: nobody is cast for who watches, and
// in council each of the six sits for itself.
func castRoles() []string {
	var list []string
	for _, role := range policy.Roles() {
		if role != policy.Council && role != policy.Spectator {
			list = append(list, string(role))
		}
	}
	return list
}

// checkSeat refuses the name of a seat that nobody would ever sit in: whoever
// misspells one would play with somebody else, and not know it.
func checkSeat(name string) error {
	base, character, dotted := strings.Cut(name, ".")
	if dotted {
		if n, ok := judge(base, character); ok {
			if n > policy.MaxJudges {
				return fmt.Errorf("nobody would ever sit in %q: a gate has at most %d judges, so that the last seat is %s.%[2]d",
					name, policy.MaxJudges, base)
			}
			return nil
		}
		for _, seat := range perCharacter {
			if base == seat && character != "" {
				return nil
			}
		}
		return misspelt(name, nearest.Of(base, perCharacter), "."+character)
	}
	known := append([]string{"default", "journal keeper", Relay}, castRoles()...)
	for _, seat := range known {
		if base == seat {
			return nil
		}
	}
	return misspelt(name, nearest.Of(base, known), "")
}

func misspelt(name, near, rest string) error {
	if near == "" || rest == "." {
		return fmt.Errorf("there is no seat %q (default, the names of the cast, gm, player, player.CHARACTER, "+
			"journal-keeper, journal-keeper.CHARACTER, relay, relay.CHARACTER, dragon.2 and guardian.2 of a gate)", name)
	}
	return fmt.Errorf("there is no seat %q; did you mean %s?", name, near+rest)
}
