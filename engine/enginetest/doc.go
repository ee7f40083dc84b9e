// Package enginetest proves that a program built on the engine survives its
// death: KillEverywhere runs it, kills it with SIGKILL at every single point at
// which the engine calls its crash hook, lets it continue in a new process, and
// compares what it left with what an undisturbed run leaves.
//
// It runs the test binary again, so Program.Run must not depend on anything
// but the directory it is given. It stores nothing outside of the test's
// temporary directories. Workspace gives a test a directory whose engine
// database is ready, which saves the quarter of a second that making one takes.
package enginetest
