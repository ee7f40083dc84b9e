package table

import (
	"fmt"
	"slices"
	"strings"

	"conclave/policy"
)

// Find finds a character by what a person calls it: its slug, its name, its
// first name, or another word of either, in capitals or not; the first of these
// that somebody has counts, if only one has it. It is for people's words: what
// an agent typed is matched exactly (Get), or refused.
func (r Roster) Find(called string) (Character, error) {
	called = strings.ToLower(strings.TrimSpace(called))
	for _, fits := range []func(Character) bool{
		func(c Character) bool { return c.Slug == called },
		func(c Character) bool { return strings.ToLower(c.Name) == called },
		func(c Character) bool { return slices.Contains(firstNames(c), called) },
		func(c Character) bool { return slices.Contains(wordsOf(c), called) },
	} {
		var found []Character
		for _, c := range r.Characters {
			if called != "" && fits(c) {
				found = append(found, c)
			}
		}
		switch len(found) {
		case 0:
			continue
		case 1:
			return found[0], nil
		}
		var slugs []string
		for _, c := range found {
			slugs = append(slugs, c.Slug)
		}
		return Character{}, fmt.Errorf("%s may be %s: say which", quoted(called), strings.Join(slugs, " or "))
	}
	return Character{}, r.unknown(called)
}

func (r Roster) unknown(called string) error {
	hint := ""
	if near := r.Suggest(called); near != "" {
		hint = "; did you mean " + near + "?"
	}
	return fmt.Errorf("%s is no character here%s\nthere are: %s", quoted(called), hint, strings.Join(r.Slugs(), ", "))
}

// NameOf is how a character is shown to people; a slug that is none stays what it is.
func (r Roster) NameOf(slug string) string {
	if c, ok := r.Get(slug); ok {
		return c.Name
	}
	return slug
}

// Called is how the people at a table call who sits in a seat: the game master by
// the office, a character by its first name, or by the whole name where that is a
// title, or another one's, too.
func (r Roster) Called(seat string) string {
	switch seat {
	case string(policy.GM):
		return "the game master"
	case SeatTable, "":
		return "the table"
	}
	c, ok := r.Get(seat)
	if !ok {
		return seat
	}
	first, _, _ := strings.Cut(c.Name, " ")
	found, err := r.Find(first)
	title := strings.HasSuffix(first, ".") || slices.Contains(titles, strings.ToLower(first))
	if err != nil || found.Slug != seat || title {
		return c.Name
	}
	return first
}

// titles begin names, and are none.
var titles = strings.Fields("the sir dame lord lady master mistress dr mr mrs ms captain sergeant brother sister " +
	"father mother old young saint king queen prince princess")

func firstNames(c Character) []string {
	first, _, _ := strings.Cut(c.Slug, "-")
	name, _, _ := strings.Cut(strings.ToLower(c.Name), " ")
	return []string{first, name}
}

func wordsOf(c Character) []string {
	return append(strings.Split(c.Slug, "-"), strings.Fields(strings.ToLower(c.Name))...)
}

// Nearest finds which of some words one may have meant; "" for none.
func Nearest(word string, words []string) string { return nearest(word, words) }
