// Package mcp is a face for agents: the verbs of app as tools of the Model
// Context Protocol, over standard input and output or over HTTP on this machine.
//
// # Who calls
//
// The caller is an agent that works outside of every room, in the place of the
// person who started the server. app.Remote decides what it cannot say and is not
// shown; nothing here filters a text. This package decides which verbs are tools,
// what they are called with and in which form their answers come.
//
// # What it promises
//
// A tool answers with structured content that fits its output schema, and with
// a short text. "exit" in it means what the exit code of a command means: 0 done,
// 1 the answer is no, 2 the call makes no sense, 3 something is missing here. What
// went wrong stands in "error" in the words that a person would read; a fault of
// the protocol is only what is none of a tool's. Nobody is asked anything: a verb
// that would ask says what the person has to do in a terminal.
//
// Of an evaluator the caller gets the verdict: outcome, findings with evidence,
// checks. Neither what it was given nor what it said on the way.
//
// A call that is cancelled ends its turn and the room around it, and so does the
// end of the connection, or over HTTP of the request that carries the call. The
// verbs of the quest are called one after the other, for it has one interaction
// at a time; others at most eight at once. Progress is sent where the client asked
// for it, and dropped rather than waited for.
//
// # What it refuses
//
// A message of more than 4 MiB. Over HTTP: an address that is not of this machine
// alone, a request without the token of this start, with another host's name or
// from another origin, a body that does not come within ten seconds, more than
// sixteen sessions.
//
// It stores nothing.
package mcp
