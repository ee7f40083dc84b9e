// Package quest is Campaign Mode as rules over the files of .campaign/: what a
// quest is, in which order its phases may follow, what each role may be shown
// of it, what counts as a verdict, how a conversation is written down.
//
// It runs nobody and asks nobody. Everything here turns bytes and facts into
// values, or values into bytes; only Store touches the disk, through os.Root,
// only inside the workspace, and only to read. Flows write, through the engine.
//
// Files are truth: quest.md, the council's report and the conversations are
// plain Markdown that people and other tools edit. They are read tolerantly;
// what is not understood – unknown keys, unknown sections – is kept byte for
// byte. A damaged file gives Faults with line numbers and, where there is an
// honest one, a repair that can be offered. Nothing is guessed, and a file that
// someone changed meanwhile is never overwritten.
//
// A conversation file holds every message byte for byte, so its own text may
// contain headings and speaker tags, and no reader could split it again.
// Therefore a file is proved the other way round: Verify renders it anew from
// what was really exchanged and compares bytes.
//
// What it refuses: a phase that does not follow, a verdict that contradicts
// itself, work outside the workspace or through a link that leaves it, a
// conversation that would replace another, an evaluator's text that carries
// words from a source withheld from it.
package quest
