// Package journal keeps the journals of a party: party/{character}-journal.md,
// one entry for every round of narrative that the character heard.
//
// An Entry has a title and five points (table.EntryLabels). ParseEntry reads what
// a keeper wrote, wherever the points stand; what could pass for the start of
// another entry is escaped, so that a file has as many entries as were written.
//
// Append is the intent to add an entry: made durable first, done then, and done
// again after a kill, which finds out how far the last attempt came. What a
// person wrote into the file meanwhile is never overwritten; the entry is planned
// anew.
//
// Jobs says whose entries a round of narrative sets off. A Job holds its own
// round's inputs: what happens later cannot change what it describes. Book
// follows the jobs of a campaign: entries of one character are written in order;
// one that cannot be written is parked, and the later ones wait with it.
//
// It stores, under .conclave/tables/{campaign}/: journal/{character}.json (the
// newest cycle whose entry is written or parked) and
// journal-pending/{cycle}-{character}.json (a parked job). It asks no agent and
// takes no lock: package table/flow does, and calls.
//
// # What a journal keeper is told, and says
//
// Header lines ("Campaign:", "Character:", "Cycle:"), a blank line, and
// table.Campaign.JournalContext as text: "# Your journal", "# What happened", "#
// What only you saw", "# Your notes". It answers with a heading "### Title" and the
// five bullets of the seed. A second message ("Event: repair") names the bullets
// that are missing.
package journal
