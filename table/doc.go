// Package table holds the rules of a tabletop session over plain files: the
// directory campaigns/{campaign}/ with its party, its prompts and responses in
// tmp/, its journals and its secrets.
//
// It is rules and nothing more. It starts no agent, runs no cycle, keeps no
// state between calls and takes no lock: package table/flow says what happens
// when, and holds the campaign's lock while it does. What is here:
//
//   - names: Slugify, CheckSlug, LoadRoster. The file name of a sheet is the
//     character; what an agent typed is compared with the roster and never
//     becomes part of a path.
//   - what the GM writes: ParsePrompt with the seed's error forms, ParseNarrative
//     for text with audiences. Everything else of a GM's turn is package
//     table/gm's.
//   - what a player writes: SplitTurn, ParseResponse, MergeNotes, LintResponse,
//     QuoteForGM. Player text is data wherever it goes.
//   - journals: SplitJournal says where the entries of a journal begin. Writing
//     them is package table/journal's.
//   - secrets: Classify and Reader.May (deny by default), RemoveGM, Guard,
//     Campaign.PlayerContext, which lists the hash of every source it used.
//   - files: Dir opens only regular files with one name that are what they seem,
//     writes by rename, and sets aside what it does not know.
//
// # Text forms for agents without tools
//
// A GM ends a hand-off with a line [AWAIT_AI_PLAYERS: a, b]. Its narrative is
// for the party, except between [TO: a, b] and [/TO], which those characters
// read, and between [GM] and [/GM], which nobody else reads. A player's turn is
// its response; after a line [NOTES] come its notes for its journal.
//
// In files, <!-- gm -->…<!-- /gm --> is cut from what players get, and
// <!-- secret:id -->…<!-- /secret --> tags words that the guard must never let
// into a text for someone who does not have them. What begins like a tag is one;
// what is unclear is the GM's, to its end if that is clear, else to the end of the
// file, and Campaign.Findings names it (tags.go, regions.go: the only reader of
// tags).
//
// # Promises
//
// Nothing is cut to fit: a text beyond its cap is refused with its size. Nothing
// unknown is deleted or shown: it is set aside, and it is the GM's. Engine-private
// state lives under .conclave/tables/{campaign}/ at the workspace root, outside
// of the campaign.
package table
