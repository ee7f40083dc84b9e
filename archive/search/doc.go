// Package search finds entries of an archive by their words, the best first.
//
// The index knows single words and whose they are; it names candidates, and their
// texts decide: whether the words stand together, how well they fit, which piece
// is worth showing. Texts come from the archive as it shows them, secrets taken
// out, so that a search can neither find nor show one.
//
// It reads the archive through its read-only handle and stores nothing. It refuses
// a query that names no word to look for.
package search
