// Package tail follows one file that somebody else writes, line by line.
//
// It is pulled: Next, Line, Offset, as for a finished file, and Next is false
// when there is nothing more for now. It has no goroutine, no clock and no
// watcher; whoever follows decides when to look again.
//
// Lines end at \n bytes and nowhere else, and have any length; who cannot hold
// any sets MaxLine and is given a longer one in pieces. A line whose
// end is not there yet is held back; Finish says that no end will come, and
// then it is delivered as it is. Memory is one read (64 KiB) and the line that
// was delivered last: a long line is not gathered, its end is looked for first
// and then it is read once, at its exact size.
//
// # What becomes of it when
//
//   - the file is not there yet: Next is false, State is Absent, and it is
//     opened as soon as it is there;
//   - it grows: the new lines are delivered;
//   - it is removed, or its directory is moved away: what was written up to
//     then, and what a writer that still has it open adds, is delivered from
//     the open handle; State is Gone. If it comes back it is the case that it
//     looks like, one of the next three;
//   - another file takes its place (rotation, or a rewritten copy): the old one
//     is read to its end, its last line without an end is delivered, and then
//     the new one is begun at its first byte under the next Generation;
//   - it becomes shorter, or the bytes before the place that was reached are no
//     longer those that were read: it is begun anew under the next Generation.
//     A rest of a line that was read already is delivered first; a longer one
//     than is held in memory cannot be, and is counted as Lost;
//   - it may not be read any more: State is Denied and Err says why; it is
//     tried again at each Next, and goes on where it stood.
//
// What a Generation has in common with the one before it is for the caller to
// find out, who knows what it has done with the lines: see package collect.
//
// # What it promises
//
// Within a generation each byte is delivered once and in order. Position is
// the file's identity, the place up to which lines were delivered, and the
// SHA-256 of all bytes before it, for whoever has to go on after a restart.
//
// It refuses anything but regular files: reading a pipe or a device would wait
// for ever.
package tail
