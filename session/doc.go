// Package session is the one reader of agents' files: where they lie
// (DefaultRoots), what they are (Identify, Sniff), whose they are (Begin), how
// they are followed (Follow), what a line means and what it cost (a Mapper's
// items, Facts and Words).
//
// What differs from program to program is a Kind (package kind), given by a
// package of its own: session/claude, session/codex. The table of them is here,
// and nowhere else: adding a program is its package and a line in that table.
// A file that is nobody's is kept whole, under no program's name, if it was named.
// Entries that are on a record already are read by Words, FactsOf and Kept.
//
// # Identity
//
// A session has one identity, wherever its bytes are found: in the file that its
// program writes, in the directory into which the program moves what was put
// away, on a record, in a bundle, in the archive, in a file that was restored
// under another name, or nowhere any more. Whoever counts or shows asks for it
// here.
//
// A session is what its program calls it: the program, the id that it gave, and
// which of the session's agents (File.ID, Beginning.ID). Never a path, and never
// where or when it was found.
//
// What a program keeps beside the files of a session, in a file of its own, is a
// line of that session, too (File.Beside, Place).
//
// A line of it is its bytes, and which of equal ones it is. An entry is a line
// and which part of it. Two sources of one session have an entry in common when
// both have that line: it is counted once and shown once. The lines of all
// sources together are the session.
//
// A response of a model is what transcript.ResponseKey makes of its ids
// (Facts.Message, Facts.Request): the same in every file that tells of it, also
// in those of other sessions: a fork copies the history of the session that it
// was made from. It belongs to the session that began first (Beginning.At). What a
// program has counted and written into no line belongs to the session whose sums
// first have it (Accounts).
//
// When something happened, in which directory and with which model are what the
// lines say. The entry of a record tells besides when it was recorded, and where
// the record lies tells who recorded it: neither makes another day or project of
// it (Kept).
//
// It stores nothing and never writes to a file that it reads. It refuses
// anything but regular files. It promises that a line means the same whoever
// asks: a collector, an archive, a driver that follows its own program.
package session
