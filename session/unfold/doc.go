// Package unfold makes files of lines of what programs keep otherwise: databases,
// files that are rewritten whole, files of lines that were packed, and texts beside
// a session.
//
// Everything that reads sessions reads lines that are appended. A store of a
// program (kind.Kind.Store) is brought into that form: below a directory that is
// Conclave's own each session has a file, and each row that it has, and each that
// has changed since, is a line at its end:
//
//	{"from":"opencode","table":"part","key":"prt_…","session":"ses_…","row":{…}}
//
// A row that is gone from the store stays, and a line says that it is gone. A
// mapping of such lines tells what a row says once, however often the row came
// (see session/plain).
//
// A file of lines that its program has packed (kind.Packed) is unpacked under the
// name that it had, whole: it is the same session. One whose lines lie beside it is
// left alone, and Sweep takes away what was made of one that was unpacked since.
//
// A database is never opened where it lies: SQLite would make files beside it. It is
// copied, with its journal, and the copy is read, row by row: what is new is
// appended as it comes, so that memory grows with the number of rows and not with
// what they say. Lines are appended only, so who
// follows them misses nothing; what is there can be deleted at any time, and is
// made again from the store as that is then.
package unfold
