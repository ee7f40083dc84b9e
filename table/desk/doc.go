// Package desk is a person's place at a table: what a line means that is typed
// there, and what can be looked up.
//
// A person types words, and lines that begin with a slash. Commands is the one
// table of those lines: who may type each, at which kind of question, and what it
// is for. Help is made of it, and so is what is said of a line that is not in it.
// Nothing that begins with one slash is ever sent as speech: a word that the table
// does not have is refused, and the question stands. Two slashes begin a line that
// is to begin with one.
//
// There are three kinds of seats – a player's, the game master's, and nobody's,
// from which the table is watched and spoken to – and two kinds of questions. Asked
// is one that a cycle puts to a seat and waits for; Free is what anybody may say
// between cycles. Voiced is said of an Asked one where an agent finds words for the
// person's (table/relay). Split tells the commands of an answer from its words. Some
// commands are part of a game master's turn, and table/gm makes forms of them;
// the others are done at once.
//
// A Desk looks things up for a seat: sheet, journal, party, what happened last, and
// for the game master the overview, the story's state and the beats. It reads what
// an agent in that seat could be given (table.Reader, story.TextOf), and nothing else.
// It writes nothing.
//
// People are understood leniently: a first name will do (table.Roster.Find). What an
// agent says does not come through here.
package desk
