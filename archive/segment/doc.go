// Package segment lays out what SQLite's FTS5 keeps of documents: the leaves of
// one segment of its index, and the record that says which segments there are.
//
// FTS5 makes a segment of what a transaction inserts, one word at a time and in
// the thread of the one writer: half of that writer's time. A Builder makes the
// same segment, byte for byte, beside it; whoever writes the database puts it
// into FTS5's own tables (_data and _idx). FTS5 answers from it, merges it with
// others and checks it as one of its own.
//
// It knows indexes of one column with detail=none, whose documents are never
// deleted: a document is a number and its words, and a word's list is the numbers
// of the documents that have it. In such an index it does not matter which of two
// segments is the older. So a segment is put on the level of its size, and the
// small ones of many refreshes are merged with each other before they are merged
// with large ones.
//
// FTS5 remembers the structure on a connection, and reads it again when another
// one has written. Who has put a segment in tells it to merge nothing (Forget),
// before anything else is asked of it by the same connection.
//
// It stores nothing and knows no database. It refuses a structure of the form
// that FTS5 has for tables with deletes.
package segment
