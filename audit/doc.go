// Package audit judges a record: what was each role given, what did it ask
// for, did anything reach it that it must not know, and was its room shown to
// be locked.
//
// It is pure. It reads a record and the policy and nothing else, so it can
// judge a record that was made on another machine. It refuses to pass what it
// cannot see: gaps are findings or are named.
package audit
