// Package acp drives any program that speaks the Agent Client Protocol: JSON-RPC
// over stdio, one message a line. What crosses becomes entries by the mapping of
// session/acp.
//
// The protocol lets an agent ask its editor for files and terminals. The driver
// offers neither: the program runs in a room of its own, reads and writes there
// itself, and whoever asks all the same is told that there is no such thing here.
// So nothing outside of the room is ever read, written or started for it. What it
// wants leave for is answered by a rule, and stands on the record with the
// question: a tool of a kind that the role has, and a tool of the room, is allowed
// once; everything else is rejected; a turn that is being stopped allows nothing.
//
// Known programs (programs.go) are pointed at the room's gateway by files and
// variables in the room's home, and offer their model only the tools that the
// role has. The room's token is all that they are given. The person's own
// configuration can describe further ones, which keep the tools that they have.
// The room's tools are reached by MCP over HTTP, which a program has to offer; one
// that does not is refused for a seat with tools.
//
// The protocol has no instructions: where the program's own files have no place
// for them they stand before the first message. It has no form for an answer:
// package structured asks for it in words, and once more when it does not fit.
// Nor does it tell the calls of the model, so a limit of turns cannot be kept here
// and is refused.
//
// The driver refuses to start a program any way but through the Launcher it is
// given, and to put a prompt or a secret on a command line. It writes only below
// the session's Place. It promises that an entry is on the record before anyone is
// told of it, and that nothing it started is left after Stop.
package acp
