// Package codex drives the Codex program through its app-server (JSON-RPC over
// stdio). What crosses becomes entries by the mapping of session/codex.
//
// The driver refuses to start a program any way but through the Launcher it
// is given, to put a prompt or a secret on a command line, and to run with a
// limit that it cannot keep. It writes only below the session's Place. It
// promises that an entry is on the record before anyone is told of it, that
// only an end of the session's own thread ends a turn, and that nothing it
// started is left after Stop.
package codex
