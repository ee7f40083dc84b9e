// Package rolls is the dice of a table: where their log and what proves it lie,
// when it is opened, which numbers a player's own rolls get, and who is told of
// them. What an expression means and whether a roll was fair is package dice's;
// what a game master asks for, table/gm's.
//
// The log lies in the campaign, where everybody can read it; the seed, and where
// the log stood, lie in the table's own state. Opening the log begins an epoch:
// so it is opened when dice are first needed, and its seed is shown at the end
// of the session. Every roll has an id that the caller makes of what it is for:
// the same roll asked for again, after a kill or by another attempt, is read and
// does not fall again.
//
// It refuses to roll on a log that does not hold, with the way on (Way); Seal is
// that way, and leaves the break in the log for ever.
package rolls
