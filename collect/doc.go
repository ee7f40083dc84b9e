// Package collect follows the session files of agents that somebody else
// started, and puts what they hold on the record: Claude Code's main and
// subagent files, rollouts of Codex, the output of codex exec --json, and any
// directory or file that it is given. Map does the same for files that are
// only to be printed, without any state.
//
// # What it stores
//
// One record per session in .conclave/records, named after the session, with
// the main file and those of its subagents as sources, and what lies beside them
// (session.File.Place); a rollout of Codex is a session of its own. Each line of a
// file is at least one entry, and the first of them bears the line's own bytes. How far a file was read stands in the
// same record as the log event "collect.position": file, place, SHA-256 of all
// bytes up to it. So record and position cannot disagree. Beside the records,
// .conclave/collect holds an index of files that have not changed since they
// were last read (it can be deleted: they are then read again, and found to be
// known) and the paths that hooks have told (see Note).
//
// # What it promises
//
// No gap and no repeat, also when it is killed and started again: on the way
// up it reads the record, then the file from its beginning, and passes over
// what is on the record already. The lines themselves are compared, not only
// counted, so that the state of the mapping is that of a single run, and a file
// whose content has changed is noticed at its first line that differs.
//
// It is woken by file events and looks by itself every PollInterval in any
// case. A read limit bounds memory, never throughput: reading goes on until
// there is no more. At its stop it reads every file to the end that it then
// has, or as far as it gets in the time that it was given, delivers a last line
// without newline if it is whole, or if nobody has gone on with it for some
// time (half a line of a file that is being written waits for its other half),
// and draws up the Balance: what was read of what is there, what waits, and
// whatever is not accounted for.
//
// What Run has ended without an error for is durable, and so is what the index
// holds. When all that there is is read once, the records of several sessions are
// closed at a time, beside reading: each is synced as every record is, and a disk
// takes as long for many syncs at once as for one.
//
// What happens to a file that is rotated, shortened, replaced, removed, locked
// or late is stated in internal/tail. Content that is begun anew is compared
// line by line with what is on the record of that file: the lines that it has
// in common with it, from the first on, are not recorded twice; from the first
// one that differs everything is. A file that has moved is recognised by its
// session and goes on in the same record. If a second file claims the same
// place in a session while the first is still there, it gets a record of its
// own; a link to the first, or another name of it, is no second file. A last line without newline that was delivered at a stop and is then
// continued has its rest as a further entry: no byte is recorded twice.
//
// # What it refuses
//
// A second collector in the same workspace, and anything but regular files. It
// never writes to a file that it follows.
package collect
