// Package people is the people at a table: how one in a seat is asked until there
// is an answer, what of their typing is one, what they have left for a question
// to come, and whom a table waits for. A person is an agent like any other: on
// the record, once.
//
// It stores, in the table's own state, drafts/{seat}.md (an answer that was left,
// until it is in a cycle: a kill between the two loses no words), unsent/{seat}.md
// (what somebody had typed when they left, to go on with) and awaited/{seat} (that
// somebody is asked, for whoever looks from outside). A person needs no lock to leave
// an answer: the seat is theirs.
//
// It promises that nobody else learns what a person has left, that one of them is
// asked in secret, or why an answer of theirs cannot be taken. What a line in a
// seat means is table/desk's, what a game master's turn means table/gm's.
package people
