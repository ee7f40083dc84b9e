// Package seating is the seats of a table: who sits in one, what lies in the room
// around it, and how one of its turns is taken, once. It knows the three roles at
// a table, and neither cycles nor their order.
//
// A room holds exactly what the policy grants its role: the game master's the
// campaign below campaign/, a player's and a keeper's the parts of their view.
// Everything else that is secret is fingerprinted, so that the audit can show
// that it was not there. Whatever feeds a turn is on the record before anybody is
// asked.
//
// A turn has a time, but for a person's. One that fails says how (TurnError), and
// the cycle decides what follows; what only a person can mend halts it: a budget
// that is spent, a room that cannot be had, a person who is away. Whether a seat
// may be asked again at all is decided here, for every role (Again): where the
// model's server gave no answer, its agent has asked it as often as agents do, and
// a table that asked again would multiply that.
package seating
