// Package session is the one reader of agents' files: where they lie
// (DefaultRoots), what they are (Identify, Sniff), how they are followed (Follow),
// what a line means and what it cost (a Mapper's items, Facts and Words).
//
// What differs from program to program is a Kind (package kind), given by a
// package of its own: session/claude, session/codex. The table of them is here,
// and nowhere else: adding a program is its package and a line in that table.
// Entries that are on a record already are read by Words and FactsOf.
//
// It stores nothing and never writes to a file that it reads. It refuses
// anything but regular files. It promises that a line means the same whoever
// asks: a collector, an archive, a driver that follows its own program.
package session
