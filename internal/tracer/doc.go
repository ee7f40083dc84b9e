// Package tracer kills the program after every single write of a session. Its test
// runs the real conclave at tables with people, secrets, dice, vetoes, fights,
// talks, saves and journals, and stops it by ptrace at every system call that
// changes a file or a name of the workspace, of the home or of the directory for
// temporary files. What is there at each of these moments is kept, which is what
// SIGKILL would leave at it: nobody can change anything meanwhile, locks and
// sockets die with their holder, and a sample of real kills is held against it,
// byte by byte. From each of them the people at the table go on as people do who
// look at where things stand, and in the end everything must be as in a session
// that nobody disturbed: the story and every file, what each seat was asked and
// answered, every die, every journal. Some of those who go on are killed as well.
//
// Writes that leave the same to whoever goes on are one case. They are mostly those
// of a transaction of SQLite before its commit: the frames of its log that no
// commit follows count for nothing. One of each case, drawn by the commit, is
// tried; CONCLAVE_KILL_AT=597 or =3-70 tries single writes.
//
// What changes the disk is told by the system, not by the program: no hook, no
// label and no mock stands between them, so that a write which nobody thought
// of is found as well. Flushing counts for nothing here: what a process has
// written outlives it; a machine that loses power is another matter.
//
// make test tries a few cases of two scenarios, make matrix all of all of them, and
// says how many; so does
//
//	CONCLAVE_SAMPLE=all go test -v -run TestKillAfterEveryWrite ./internal/tracer
//
// When it was last run whole, scenario by scenario, in November 2026, seven
// scenarios had 9,346 writes, which are 3,392 cases. All of them went on as if
// nothing had been, for about 0.25 s of a core each.
//
// It needs Linux, and to be allowed to trace its own children, which every
// process is unless a container forbids it. Where it is forbidden the test
// fails and says so. The package has no code outside its tests.
package tracer
