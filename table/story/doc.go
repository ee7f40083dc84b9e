// Package story is what has happened at a table: the log, the state that it adds
// up to, the save points in it, and the story as it is told to a seat.
//
// The log lies under .conclave/tables/{campaign}/log/, one file for every event,
// {number}-{kind}.json, in the order of the numbers: a session begun or ended, a
// cycle committed, a save point made, gone back to, a campaign forked, a
// character renamed, a person away. Event is the stored form: fields may be
// added, none may change its meaning, and a file of a newer version is refused.
// Nothing is ever taken out of the log; files are written by package table/flow
// through the engine, which makes them appear once.
//
// Which events stand is said by one rule (standing, in log.go): a restore goes
// back to the event that it names, in whatever branch that lies; what lies
// between is undone. State, Story, PlayLog and Missed ask it, so that what is
// told is what the table knows.
//
// State is the log added up. It is a fold over the events and nothing else: no
// clock, no file but the log, each event once. Numbers, the session and the
// journals that were set off go on whatever is undone.
//
// A save point lies under saves/{name}/: the campaign's files, without tmp/, the
// dice log (which is never turned back) and hidden files, and save.json with its
// place in the log. It is made aside and named when it is whole and durable.
//
// Story, PlayLog and PlayerEdition tell a seat what it may know: the party's
// text and its own, and the game master everything. What a restore has undone is
// not told.
//
// The package takes no lock; who writes holds the campaign's.
package story
