// Package web is a face in a browser: one process serves the page of a workspace,
// shows what app finds, and runs the verbs that a person calls there.
//
// # Who comes in
//
// A link with a code in its fragment, which no server is ever sent, lets a browser
// in once and within ten minutes; the page exchanges it for a token of this start,
// keeps that for its tab, and sends it with every request under /api/, streams and
// downloads among them. There is no cookie: a browser sends the cookie of one port
// of this machine to every other, where an agent's own server may listen. Codes and
// tokens are random, of 128 bits and more, and are compared by internal/bearer.
//
// # What it refuses
//
// Before anything is done: a request that names another host, that another origin
// sent, or that the browser says another page asked for (internal/origin); without
// the token everything but the shell of the page, which holds nothing of anybody's.
// An address that others reach, unless TLS is there or a proxy is named. With
// ReadOnly everything that acts. Too much: bodies over 1 MiB (an upload has its
// own bound) or that take too long, more than 256 streams, 16 jobs, 16 exports, 1024
// connections, a call of verbs faster than a person's. A connection that never bore
// the token makes room for a new one.
//
// What is served allows no script, style or connection but the page's own, no frame
// around it, and no text that becomes code (the policy in door.go).
//
// # What it promises
//
// One stream tells everything that changes, in order, with an id to go on from; who
// comes back later than the events that are kept is told that some were lost. A
// reader who does not read is dropped and delays nobody, and no connection to the
// archive waits for one. A job goes on without anybody who looks; whoever comes later
// is given all of its events and the questions that wait. When the process is told
// to end, jobs are stopped as by an interrupt at a terminal, and waited for.
//
// It stores nothing. It imports app and no room below it.
package web
