// Package usage counts the tokens that session files and records tell of, and what
// they cost, each response of a model once, however many files have it.
//
// It reads the files themselves: most lines of Claude Code's
// files have no figures and are passed over without being looked at; rollouts and
// records are read as an archive takes them up (archive.Responses), so that both
// say the same. Of files that are there no more it takes what an archive has. What
// two files tell of one response is told apart by transcript.ResponseKey; of
// copies the one that has more counts, and then that of the session that began
// first (see "Identity" in package session). What a program has counted beyond the
// responses that it wrote down, as for a compaction, is one more response of its
// session and model (session.Accounts).
//
// What was counted is kept in a cache, one file, which is replaced as a whole and
// can be deleted at any time; one that is damaged or of another version is not
// there. It refuses to sum by what it does not know, and a model without a price
// costs nothing and is named.
package usage
