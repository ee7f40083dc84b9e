// Package claude drives the real Claude Code program. What its session files
// hold becomes entries by the mapping of session/claude.
//
// The driver (Agent) runs one process per session, with stream-json both ways,
// in the place and by the launcher that it is given. Its entries come from the
// session files, which hold more than the program says on stdout; stdout is
// control, kept as bytes on the channel "claude.stdout", and reconciled by uuid
// at the end of each turn: what was said there and never written is an entry
// too. System prompt, messages, schema and tokens never stand on a command
// line.
//
// It refuses to start a program outside its launcher and stores nothing itself.
// Probe looks at whether a login exists, not at what is in it; Lend alone reads
// one, from the person's environment, for a session that is to have it.
package claude
