// Package git is the only caller of git. It asks about a workspace that
// anybody may have written, and nothing that stands there can start a program.
//
// # How
//
// Git runs what a repository's configuration names: filters, hooks, monitors,
// drivers, helpers, the commands of remotes. Many of their names are chosen by
// the repository itself (filter.NAME.clean), so that no list of settings
// switches them all off. Therefore git never sees that configuration. Open
// makes a private directory that git takes for its own: with a configuration
// of ours, the commit that HEAD names, and copies of the index, the list of
// shallow commits and the list of ignored files. Of the repository itself git
// reads the objects only. Whatever attributes, submodules or commands the
// workspace names, nothing defines them; there is no remote to fetch from, no
// other object directory, no replacement, no graft.
//
// Of the repository's configuration ten settings are taken over by name and
// value (those that say how files lie on this disk), and the addresses of the
// remotes, as text. Everything of it is read without following links out of
// it, without waiting for a FIFO, and up to a bound.
//
// Git itself is looked for on PATH, never in a relative directory of it nor in
// the workspace, and gets an environment of ours alone.
//
// # Commits, trees and files
//
// Objects hands out what was committed, as it was stored. No attribute, filter,
// driver or replacement has a say, and every object is held against its name, so
// that a commit's name stands for all that it contains (as far as its hash does:
// SHA-1 is not what it was, and collisions are not looked for). A revision is a
// branch, a tag, a branch of a remote, HEAD or the name of a commit, with ~ and ^;
// the rest of git's language is refused, and so is a name that means two things.
// A tree that git would not have written is refused: names that are paths, names
// that stand there twice. Extract writes files first and links last, so that
// nothing is written through one, and never leaves its directory.
//
// # What it refuses
//
// A repository is a directory ".git" in the workspace or above it, as long as
// whoever owns the directory owns the workspace too: never a bare one. A file
// ".git" is followed only if what it leads to leads back, as a linked work tree
// and a submodule do: else a clone could show another repository. For the same
// reason the objects must lie in the repository: links there, and
// objects/info/alternates, are refused. References in a reftable are read from
// 2.45 on. Every refusal is an error that says what and why; none of them says
// that there is no repository, which is ErrNone.
//
// # What it promises
//
// Nothing is written to the workspace. A call ends in bounded time (patience)
// with bounded memory and output. What could not be found out is an error,
// never a guess. Who owns the repository does not matter: all of it is data.
//
// Two answers can differ from those of git as the person runs it: files that
// only a filter would tell from changed ones count as changed once they were
// touched, and so do files that only the person's own list of ignored files
// hides.
package git
