// Package receipt is what a stranger gets of a gate: one small file that says
// what was judged, by whom, behind which walls, and what came of it, and that can
// be checked on another machine without the workspace and without its records.
//
// # What it stores
//
// A receipt is one JSON document of three members, in this order: the signature,
// if there is one; the record, which is how the gate's own record ends; and the
// body, which is everything else. There is one way to write it: two spaces of
// indent, members in the order of the types here, UTF-8, nothing escaped that
// JSON does not want escaped, a newline at the end. So
//
//   - the bytes that are signed are the file without the one line of its
//     signature, and
//   - the bytes whose SHA-256 the record holds are the body as a document of its
//     own, which is its lines with two spaces less before them.
//
// # What it promises
//
// Read takes what Write would write, and nothing else: a document that differs
// from that in one byte, be it white space, is refused. A head follows from the
// body by the chain of package record: the last log record of a gate holds the
// body's digest, and the seal comes behind it. Whoever knows the head from
// elsewhere finds every change of an unsigned receipt; whoever knows the key finds
// every change of a signed one.
//
// Verify says what such a file proves by itself, and every line of what it says
// is a statement that was held against the file, never a repetition of it. It
// says "holds" only to a receipt that somebody vouches for: by a head that is
// known from elsewhere, or by the signature of a key that the reader allows.
//
// # What it refuses
//
// A format that it does not know (internal/newer), files over 64 MiB, signatures
// over anything but a receipt, keys of the kinds that ssh has given up.
//
// # What it does not prove
//
// That the model judged well, that the machine's owner told the truth, or that
// the kernel did what it said. docs/receipt.md says line by line what is proved,
// and to whom.
package receipt
