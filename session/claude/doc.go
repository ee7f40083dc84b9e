// Package claude reads what Claude Code writes: where its files lie and what a
// line of them means.
//
// The mapping (Mapper) turns lines of a session file into transcript items. It
// is pure: no file, no clock, no goroutine. Every line gives at least one item,
// and the first of them carries the line as raw and, when the line is JSON, the
// same bytes again as detail.sdk_entry; nothing is decoded and encoded on the
// way. Lines of a type that the mapping does not know are items of type
// unknown and counted by name.
//
// What the program keeps beside a session's lines, the long results of tools, is
// read from where it lies once, and is a line of the session from then on (Beside).
//
// It drives nothing and writes nothing: package agent/claude does the one, its
// callers the other.
package claude
