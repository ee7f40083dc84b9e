package desk

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"conclave/policy"
	"conclave/table"
)

// Seats are kinds of seats; several are added up.
type Seats int

// The kinds of seats.
const (
	Player Seats = 1 << iota
	GM
	Watcher   // at no seat: who sees what the whole party sees
	Everybody = Player | GM | Watcher
)

// KindOf is the kind of a seat by its name.
func KindOf(seat string) Seats {
	switch seat {
	case string(policy.GM):
		return GM
	case table.SeatTable, "":
		return Watcher
	}
	return Player
}

// At are kinds of questions; several are added up.
type At int

// The kinds of questions.
const (
	Asked    At = 1 << iota // by a cycle, which waits for the answer
	Free                    // between cycles: what do you do?
	Voiced                  // with Asked: somebody finds words for the person's
	Anywhere = Asked | Free
)

// Command is a line that begins with a slash.
type Command struct {
	Name, Args, Help string
	Seats            Seats
	At               At
	// Turn: it is part of a game master's turn and is told or done with it. The
	// others are done at once.
	Turn bool
	// Needs: something has to stand behind it.
	Needs bool
}

// Commands are all of them, in the order in which help tells them.
var Commands = slices.Concat(
	commands(Command{Seats: GM, At: Asked, Turn: true, Needs: true},
		"ask WHO: TEXT", "a quick question, answered before you go on",
		"decide WHO: TEXT", "one that deserves thought",
		"fight WHO: TEXT", "one turn in a fight",
		"secret WHO: TEXT", "a chance to do something that nobody sees",
		"tell WHO: TEXT", "told to nobody else",
		"roll EXPR | WHO | WHAT FOR | dc N", "dice; the last three only if wanted",
		"note TEXT", "kept in the story state, for you",
		"status WHO WORD", "present, dead, retired, benched or absent",
		"huddle WHO, WHO: TOPIC", "they talk; you hear it, nobody else",
		"combat start WHO +N, WHO +N", "a fight: then next, condition, damage, down, save, end"),
	commands(Command{Seats: GM, At: Asked, Turn: true},
		"scene TITLE | PLACE", "a new scene begins; alone: which one it is",
		"end", "the session is over after this"),
	commands(Command{Seats: GM, At: Asked},
		"preview", "what each player will see of what you have typed",
		"party", "the characters, who plays them, how they are",
		"overview", "what the campaign is about",
		"state", "the story state",
		"beats NAME", "the beats, or one of them"),
	commands(Command{Seats: GM, At: Asked, Needs: true}, "sheet WHO", "a character's sheet"),
	commands(Command{Seats: Player, At: Asked, Needs: true},
		"veto REASON", "you need to know more before you answer",
		"notes TEXT", "thoughts for your journal, told to nobody"),
	commands(Command{Seats: Player, At: Voiced},
		"options", "what your character might do; a number chooses",
		"mine", "say it in your own words, as you typed it"),
	commands(Command{Seats: GM | Player, At: Asked}, "drop LINE", "throw away what you have typed, or one line of it"),
	commands(Command{Seats: Player, At: Anywhere},
		"sheet", "your character",
		"journal", "what your character wrote down lately"),
	commands(Command{Seats: Player | Watcher, At: Anywhere, Needs: true}, "roll EXPR", "dice, in the log"),
	commands(Command{Seats: Player, At: Free, Needs: true},
		"again ANSWER", "answer differently, while another player is waited for"),
	commands(Command{Seats: Player, At: Free},
		"away", "an agent plays your character meanwhile",
		"back", "you play again, and are told what you missed"),
	commands(Command{Seats: Player | Watcher, At: Free, Needs: true}, "save NAME", "keep a save point"),
	commands(Command{Seats: Player | Watcher, At: Free}, "end", "the session is over"),
	commands(Command{Seats: Everybody, At: Anywhere},
		"who", "who is at the table",
		"recap", "the scene, and what happened last",
		"help", "this",
		"quit", "leave; the table waits where it is"),
)

// commands makes those of one kind, each of how it is typed and what it is for.
func commands(kind Command, usages ...string) (list []Command) {
	for i := 0; i < len(usages); i += 2 {
		kind.Name, kind.Args, _ = strings.Cut(usages[i], " ")
		kind.Help = usages[i+1]
		list = append(list, kind)
	}
	return list
}

// For are the commands of a kind of seat at a kind of question.
func For(seats Seats, at At) []Command {
	return slices.DeleteFunc(slices.Clone(Commands), func(c Command) bool { return c.Seats&seats == 0 || c.At&at == 0 })
}

// Alone are the lines that are done at once, as they are typed; one that ends with
// a blank goes on with something.
func Alone(seats Seats, at At) (lines []string) {
	for _, c := range For(seats, at) {
		switch {
		case !c.Turn && c.Args != "":
			lines = append(lines, "/"+c.Name, "/"+c.Name+" ")
		case !c.Turn, c.Turn && !c.Needs && c.Args != "": // without a title, /scene is a question
			lines = append(lines, "/"+c.Name)
		}
	}
	return lines
}

// Find finds a command, or says what is wrong with it where it was typed.
func Find(word, rest string, seats Seats, at At) (Command, error) {
	i := slices.IndexFunc(Commands, func(c Command) bool { return c.Name == word && c.Seats&seats != 0 && c.At&at != 0 })
	switch {
	case i < 0:
		return Command{}, unknown(word, seats, at)
	case Commands[i].Needs && strings.TrimSpace(rest) == "":
		return Command{}, fmt.Errorf("/%s needs something behind it: %s", word, Commands[i].Usage())
	}
	return Commands[i], nil
}

// Meanwhile says whether a line can be done while a cycle is under way: it only
// looks, or is for that.
func Meanwhile(seat, line string) bool {
	word, rest, ok := IsCommand(line)
	c, err := Find(word, rest, KindOf(seat), Free)
	return ok && err == nil && c.Name != "quit" && (c.At&Asked != 0 || c.Name == "again")
}

// unknown says what there is instead of a word.
func unknown(word string, seats Seats, at At) error {
	for _, c := range Commands {
		switch {
		case c.Name != word:
		case c.Seats&seats != 0 && c.At == Voiced:
			return fmt.Errorf("/%s is for who has a voice lent to their character: agents: {relay: {agent: …}} in "+
				"conclave.yaml", word)
		case c.Seats&seats != 0 && at&Asked != 0:
			return fmt.Errorf("/%s is for between questions: answer first, or /quit", word)
		case c.Seats&seats != 0:
			return fmt.Errorf("/%s is for when the game master asks you something", word)
		}
	}
	var names []string
	for _, c := range For(seats, at) {
		names = append(names, c.Name)
	}
	hint := ""
	if near := table.Nearest(word, names); near != "" {
		hint = "Did you mean /" + near + "? "
	}
	return errors.New("/" + table.Clip(word, 40) + " is nothing here. " + hint + "There is: /" + strings.Join(names, ", /"))
}

// Usage is how a command is typed.
func (c Command) Usage() string { return strings.TrimSpace("/" + c.Name + " " + c.Args) }

// Help tells the commands of a kind of seat at a kind of question.
func Help(seats Seats, at At) string {
	var b strings.Builder
	b.WriteString(intro[seats][at&^Voiced] + "\n\n")
	if at&Voiced != 0 {
		b.WriteString(voiceIntro + "\n\n")
	}
	for _, c := range For(seats, at) {
		line(&b, c.Usage(), c.Help)
	}
	line(&b, "//…", "a line that begins with a slash")
	if seats == GM {
		b.WriteString("\nWHO is a character (a first name will do), several with commas, or all. An empty line ends your " +
			"turn. The game master's forms ([TO: …], [FILE: …] and the others) work as well.\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// column is where the help of a command begins.
const column = 21

func line(b *strings.Builder, usage, help string) {
	if len(usage) > column-3 {
		fmt.Fprintf(b, "  %s\n", usage)
		usage = ""
	}
	fmt.Fprintf(b, "  %-*s%s\n", column, usage, help)
}

// voiceIntro is said where somebody finds words for the person's.
const voiceIntro = "Your character has a voice of its own: what you type in a few words is put as it would say it, " +
	"you read that, and Enter sends it."

// intro is what help begins with.
var intro = map[Seats]map[At]string{
	GM: {Asked: "What you type is told to the whole party. Lines that begin with a slash do something else:"},
	Player: {
		Asked: "What you type is your answer. A backslash at the end of a line goes on in the next; behind a line [NOTES] " +
			"stand thoughts for your journal, told to nobody. Lines that begin with a slash do something else:",
		Free: "What you type is what your character does or says; an empty line lets the story go on. Lines that begin " +
			"with a slash do something else:",
	},
	Watcher: {
		Free: "What you type is said to the game master; an empty line lets the story go on. Lines that begin with a " +
			"slash do something else:",
	},
}
