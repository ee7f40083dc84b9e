// Package seat is one agent at work: it opens the room with what the role is
// granted, opens the gateway and the toolbox, starts the agent, takes its
// turns, and puts all of it on one record, with a receipt for every turn.
//
// A seat is opened for one run. When the run was cut, opening it again reads
// the record first: a turn whose reply is durable is never asked for again; one
// that was not finished is asked again, and its receipt counts both. An agent
// that runs in this process gets files through the room's fs.FS and is said to
// be in-process; every other one is a process in the room, and nothing starts
// when the room cannot be shown to be locked as its role requires.
//
// It refuses to go on when something cannot be recorded. It stores the record
// in the workspace's .conclave/records and nothing else; the room is gone when
// the seat is closed.
package seat
