// Package flow is what happens in a quest, and in which order: it seats the
// roles in their rooms, takes their turns, and changes the files of .campaign/
// through the engine, so that everything happens once.
//
// Each flow is one interaction of the engine with one record for each seat:
// consult, evaluate (checkpoint and confrontation), define, setup, council,
// debrief. It ends at a boundary of the story and leaves nothing pending; what
// comes next is the person's word.
//
// The rules are package quest's, the rooms package room's, the durability
// package engine's. The flow refuses to put words into anybody's mouth: what an
// agent said is taken from the record, and what it did not say is said not to
// be there. A conversation file is made from the record alone, by the same
// function that later proves it (Verify).
//
// It stores nothing of its own: files through engine.Commit, words through the
// seat's record, where an event (eventConversation) says which turns make up
// which file.
package flow
