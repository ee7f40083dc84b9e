// Package flow is what happens in a quest, and in which order: it seats the
// roles in their rooms, takes their turns, and changes the files of .campaign/
// through the engine, so that everything happens once.
//
// The rules are package quest's, the rooms package room's, the durability
// package engine's. The flow refuses to put words into anybody's mouth: what an
// agent said is taken from the record, and what it did not say is said not to
// be there.
package flow
