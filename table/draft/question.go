package draft

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"conclave/table"
)

// Question is one that makes a campaign where no agent helps.
type Question struct {
	Key   string
	Text  string
	Lines bool // several lines answer it
}

// of the campaign, in their order.
var campaignQuestions = []Question{
	{"about", "What is the campaign about? The game master reads it.", true},
	{"known", "What do the characters know when it begins? Everybody reads it.", true},
	{"hidden", "What is true, and nobody knows it yet? Only the game master reads it.", true},
	{"world", "What does everybody in this world know?", true},
}

// of each character; NAME is its name.
var characterQuestions = []Question{
	{"who", "Who is NAME? Looks, manner, what they can do.", true},
	{"bond", "What does NAME hold on to? A bond, in a line.", false},
	{"flaw", "What goes wrong with NAME? A flaw, in a line.", false},
	{"ideal", "What does NAME believe in? An ideal, in a line.", false},
	{"secret", "What does nobody know of NAME? A secret, in a line.", false},
	{"triggers", "What would make NAME act in secret?", false},
}

const (
	keyName  = "name"  // of one more character
	keyParty = "party" // it is complete
	keySlug  = "slug"
)

// Next is the next question; false when all were answered.
func (d Draft) Next() (Question, bool) {
	for _, q := range campaignQuestions {
		if !slices.Contains(d.Answered, q.Key) {
			return q, true
		}
	}
	for i, c := range d.Characters {
		at := strconv.Itoa(i) + "."
		if c.Slug == "" {
			return Question{at + keySlug, "How is the file of " + c.Name + " to be called? Small letters a–z, digits and dashes.",
				false}, true
		}
		for _, q := range characterQuestions {
			if !slices.Contains(d.Answered, at+q.Key) {
				return Question{at + q.Key, strings.ReplaceAll(q.Text, "NAME", c.Name), q.Lines}, true
			}
		}
	}
	if slices.Contains(d.Answered, keyParty) {
		return Question{}, false
	}
	if len(d.Characters) == 0 {
		return Question{keyName, "What is the first character's name?", false}, true
	}
	return Question{keyName, "And the next one's name? (Enter when the party is complete.)", false}, true
}

// Answer takes the answer to a question. The error is for whoever gave it, who
// is asked again.
func (d *Draft) Answer(q Question, text string) error {
	text = strings.TrimSpace(text)
	number, key, ofCharacter := strings.Cut(q.Key, ".")
	switch {
	case q.Key == keyName:
		return d.nameAnother(text)
	case ofCharacter && key == keySlug:
		i, _ := strconv.Atoi(number)
		if err := CheckSlug(text, d.Slugs()); err != nil {
			return err
		}
		d.Characters[i].Slug = text
		return nil
	case ofCharacter:
		i, _ := strconv.Atoi(number)
		*d.Characters[i].field(key) = text
	default:
		*d.field(q.Key) = text
	}
	d.Answered = append(d.Answered, q.Key)
	return nil
}

func (d *Draft) nameAnother(name string) error {
	name = strings.Join(strings.Fields(name), " ")
	if name == "" && len(d.Characters) == 0 {
		return errors.New("a campaign needs at least one character")
	}
	if name == "" {
		d.Answered = append(d.Answered, keyParty)
		return nil
	}
	if most := (table.Caps{}).WithDefaults().Party; len(d.Characters) == most {
		return fmt.Errorf("%d characters is as many as sit at a table", most)
	}
	slug, err := table.Slugify(name)
	var bad *table.SlugError
	if errors.As(err, &bad) && !bad.Ask {
		return fmt.Errorf("character %w", err)
	}
	if err == nil && table.UniqueSlug(slug, d.Slugs()) != nil {
		slug = "" // somebody has it: it is asked for
	}
	d.Characters = append(d.Characters, Character{Name: name, Slug: slug})
	return nil
}

func (d *Draft) field(key string) *string {
	return map[string]*string{"about": &d.About, "known": &d.Known, "hidden": &d.Hidden, "world": &d.World}[key]
}

func (c *Character) field(key string) *string {
	return map[string]*string{"who": &c.Who, "bond": &c.Bond, "flaw": &c.Flaw, "ideal": &c.Ideal, "secret": &c.Secret,
		"triggers": &c.Triggers}[key]
}
