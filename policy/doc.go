// Package policy decides who may know what.
//
// A role asks for a kind of knowledge and gets a Decision: allowed or denied,
// in which form, for what reason, and where the rule comes from. One table
// serves quests and tabletop sessions. The package is pure: it opens no file,
// starts nothing, and gives the same answer everywhere, so that a record made
// on another machine can be judged with it. Withheld, which says of a path of a
// project whether it may be in a role's room, looks into a file only through
// what it is handed, and only where the name leaves it open.
//
// What it promises: the zero Decision denies; a role or a kind that the table
// does not name is denied, with a reason; every pair of a known role and a
// known kind has a written reason and a source. docs/ISOLATION.md is rendered
// from the same table, and a test keeps the two equal.
//
// What it refuses: nothing is allowed because nobody thought of it. Knowledge
// that fits no kind is of the kind Unknown, which no role is granted.
//
// Rooms enforce the decisions, audit proves them; neither has a list of its
// own.
package policy
