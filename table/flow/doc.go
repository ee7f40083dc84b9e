// Package flow is what happens at a table, and in which order: it takes the turns
// of the GM, the players and the keepers of journals, whom table/seating seats,
// and changes the files of campaigns/{campaign}/ through the engine, so that
// everything happens once. The rules are package table's, the dice package
// dice's, the rooms package room's, the durability package engine's.
//
// One interaction goes from something said to the GM to the commit of what it
// narrates. Within it: a turn of the GM; while the GM signals, a sub-cycle
// (prompts frozen, players asked at once, answers sealed until the last is in,
// the GM resumed with its notes and all of them); the commit; the clean-up of
// tmp/. Journals are interactions of their own in the background, one per cycle
// that has narrative and character that heard it, in order.
//
// It stores, under .conclave/tables/{campaign}/, what table/story, table/journal,
// table/people and table/rolls describe, and stale/ and late/ (what was set aside).
// Every campaign file is written by this package; no agent writes one.
//
// It refuses a second writer of a campaign, and to go on when something cannot
// be recorded. Every loop has a bound, and says what happens beyond it.
//
// What a GM is told and says, and who may be told what of it, is package
// table/gm's; what has happened, table/story's; entries of journals, table/journal's;
// who sits in a seat and what lies around it, table/seating's; how a person is
// asked and what they have left, table/people's; the dice, table/rolls's; what is seen from outside, table/look's and table/calls's.
//
// # What a player is told, and says
//
// The message of a player is header lines ("Campaign:", "Character:", "Scene:",
// "Request: QUICK_REACTION"), a blank line, and table.Campaign.PlayerContext as
// text: "# Your character", "# Your journal", "# What the party knows", "# The
// world", "# Not yet in your journal", "# Lately", "# The fight", "# The game master asks". The
// same parts are files in the room: sheet.md, journal.md, party-knowledge.md,
// world-primer.md, pending.md, lately.md, fight.md, prompt.md. Nothing else is there.
//
// A player answers with its words; a veto begins with the line "[VETO - need more
// input]" and a reason below; after a line "[NOTES]" follow notes for its journal.
// A second message ("Event: retry") says why an answer could not stand. A player
// may write two files itself, its response and its notes, by the seed's names
// (table.PlayerTurn); the response file is then its answer.
//
// A player with tools has one, roll, for its own character. What the prompt asks
// for is open to everybody once the last answer is in, in a secret action only to
// player and GM; any other roll is between these two for good. What was asked for
// and not rolled the engine rolls when the answer has come.
package flow
