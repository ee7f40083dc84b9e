package policy

import (
	"slices"
	"sync"
)

// Role is a seat, whoever sits in it: an agent or a person.
type Role string

// The roles of quests and tables.
const (
	Bear          Role = "bear"
	Cat           Role = "cat"
	Owl           Role = "owl"
	Puppy         Role = "puppy"
	Rabbit        Role = "rabbit"
	Wolf          Role = "wolf"
	Gandalf       Role = "gandalf"
	Guardian      Role = "guardian"
	Dragon        Role = "dragon"
	Council       Role = "council" // one seat of the council, blind to the other five
	Simon         Role = "simon"
	GM            Role = "gm"
	Player        Role = "player"         // one character's player
	JournalKeeper Role = "journal-keeper" // keeps one character's journal
	Spectator     Role = "spectator"      // watches a table
)

// MaxJudges bounds how many judges of one role a gate asks, and so how many seats
// they have.
const MaxJudges = 15

// Level is how strongly a room is shut. The empty Level is no room at all.
type Level string

// The levels, strongest first.
const (
	sealed Level = "sealed" // own namespaces, Landlock and seccomp; the gateway is the only way out
	// forwarded is sealed, with a way to the hosts of a program's vendor whose
	// traffic nobody here can read: a seat that is played with a login.
	forwarded Level = "sealed but for a forwarder"
	fenced    Level = "fenced"   // Landlock and seccomp over the system's own file tree
	advisory  Level = "advisory" // nothing is enforced
)

func (l Level) rank() int {
	switch l {
	case sealed:
		return 4
	case forwarded:
		return 3
	case fenced:
		return 2
	case advisory:
		return 1
	}
	return 0
}

// Satisfies reports whether a room of level l is good enough where need is
// required. An unknown need is met by sealed alone, an unknown level meets
// nothing.
func (l Level) Satisfies(need Level) bool {
	want := need.rank()
	if want == 0 {
		want = sealed.rank()
	}
	return l.rank() >= want
}

// Required is the level a role's room must have unless the person lowers it:
// every seat that is a program is sealed, as nothing weaker keeps out what its
// role may not know.
func Required(Role) Level { return sealed }

// Roles lists every role, in the order of the table.
func Roles() []Role {
	return slices.Concat(questRoles(), tableRoles())
}

// Animals lists the six advisors in the order of the council.
func Animals() []Role { return []Role{Bear, Cat, Owl, Puppy, Rabbit, Wolf} }

// Known reports whether the table has a line for the role.
func (r Role) Known() bool { return slices.Contains(knownRoles(), r) }

// knownRoles is asked for every name of a project.
var knownRoles = sync.OnceValue(Roles)

// Evaluator reports whether the role judges the work: it receives no free text
// but the stage's expectation until its verdict stands.
func (r Role) Evaluator() bool { return r == Guardian || r == Dragon }

func questRoles() []Role {
	return append(Animals(), Council, Simon, Gandalf, Guardian, Dragon)
}

// AtTable reports whether the role is a seat's at a table: no quest furnishes its
// room.
func (r Role) AtTable() bool { return slices.Contains(tableRoles(), r) }

func tableRoles() []Role { return []Role{GM, Player, JournalKeeper, Spectator} }

// partyRoles are the seats that share one another's knowledge.
func partyRoles() []Role { return append(Animals(), Council, Simon) }

// ShownToCaller reports whether an agent that calls from outside may read what
// was said in this role's seat: the party's and the mentor's words it may, for it
// speaks with them. What an evaluator, a gate or a seat at a table was given and
// said stays inside, as does what no line of the table names.
func (r Role) ShownToCaller() bool {
	return slices.Contains(partyRoles(), r) || r == Gandalf
}

// ShownToCaller is the same for the file of a conversation.
func (k Kind) ShownToCaller() bool {
	return slices.Contains([]Kind{ConversationAnimals, ConversationCouncil, ConversationSimon, ConversationGandalf}, k)
}
