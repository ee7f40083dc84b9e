package config

import (
	"fmt"
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

// checkSeat refuses the name of a seat that nobody would ever sit in: whoever
// misspells one would play with somebody else, and not know it.
func checkSeat(name string) error {
	base, character, dotted := strings.Cut(name, ".")
	if dotted {
		for _, seat := range perCharacter {
			if base == seat && character != "" {
				return nil
			}
		}
		return misspelt(name, nearest.Of(base, perCharacter), "."+character)
	}
	known := []string{"default", "journal keeper", Relay}
	for _, role := range policy.Roles() {
		known = append(known, string(role))
	}
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
			"journal-keeper, journal-keeper.CHARACTER, relay, relay.CHARACTER)", name)
	}
	return fmt.Errorf("there is no seat %q; did you mean %s?", name, near+rest)
}
