// Package sql answers one SELECT over an archive, or over files that were opened
// as one, and says what there is to ask.
//
// # What it promises
//
// A query reads and does nothing else: its connection is opened read-only, and an
// authoriser allows SELECT over the tables that Describe lists, with the functions
// that are listed here, so that neither the raw store nor another file can be
// reached. Secrets are out before a query sees them, unless the archive was opened
// otherwise. Long columns are taken from the blocks of the archive, or from the
// files that were opened as one, when a query asks for them.
//
// # What it refuses
//
// More than one statement; the functions that the views are made with; a part of a
// query that is named like a table; a query that takes too long, needs too much
// memory or answers too much.
//
// It stores nothing: tables and views are the archive's.
package sql
