// Package workspace is the one door to a directory that somebody else may have
// written: a clone, an unpacked archive, a share.
//
// What comes out of such a directory is opened by ReadFile and ReadDir, below a
// held directory, or by OpenIn and OpenDirIn, one name at a time, for those who
// have words of their own for what is refused: no link is followed, not even on
// the way;
// nothing but a regular file with one name is opened, so that a FIFO or a device
// neither waits nor fills the memory, and a hard link shows nothing from
// elsewhere; and a file larger than its kind may be is refused, never
// read in part. What is refused is a *Refused with the name and the way out.
//
// A Dir is a workspace that a command works in. It reads each file once and
// hands out those bytes ever after: what was judged is what is used, whatever
// becomes of the file meanwhile.
//
// Find walks up to the nearest workspace. It adopts none that belongs to
// somebody else: not the directory, and no file in it that marks or configures a
// workspace. That holds for root too, who owns everything and did not write it.
// A person who names a workspace adopts it. On Windows owners are not compared;
// there the trust that a workspace needs is the only question.
//
// The engine's own directory, .conclave, is checked as a whole: anything in it
// that is neither a file nor a directory would have put records where nobody
// looks for them, and is refused. The one exception is a socket of the person's
// own beside a lock, at which the lock's holder listens (internal/wire).
//
// The package stores nothing and trusts nobody: whether a text may be used is
// the question of package trust.
package workspace
