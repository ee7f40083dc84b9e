// Package tracer kills the program after every single write of a cycle. Its
// test runs the real conclave at tables with people, secrets, dice, vetoes,
// saves and journals, stops it by ptrace at every system call that changes a
// file or a name below the workspace, and kills it with SIGKILL right after the
// n-th, for every n. Then the people at the table go on as people do who look
// at where things stand, and in the end everything must be as in a session that
// nobody disturbed: the story and every file, what each seat was asked and
// answered, every die, every journal.
//
// What changes the disk is told by the system, not by the program: no hook, no
// label and no mock stands between them, so that a write which nobody thought
// of is found as well. Flushing counts for nothing here: what a process has
// written outlives it; a machine that loses power is another matter.
//
// It needs Linux, and to be allowed to trace its own children, which every
// process is unless a container forbids it. Where it is forbidden the test
// fails and says so. The package has no code outside its tests.
package tracer
