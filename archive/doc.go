// Package archive keeps one SQLite file over everything that was recorded and
// collected, and keeps what the agents' own programs delete. It stores and takes
// up; archive/search and archive/sql answer from it, through a read-only handle
// on its tables (Reader, Path) and the entries as they may be shown (Show).
//
// # What it stores
//
// The raw store: the bytes of every source file, cut into blocks at line (of a
// record: frame) boundaries that depend on the content, compressed, and kept
// once per SHA-256, so that the same lines in two places cost nothing. From it
// any source can be written out again, byte for byte.
// Everything else is derived from the raw store and can be dropped: one row per
// log record or transcript entry that says where its line is, the usage
// figures, and an FTS5 index over the words of each entry. Texts are redacted
// before they are indexed and again whenever they are shown; the raw store
// keeps the bytes, or it could prove nothing. The file is 0600.
//
// # What it promises
//
// A refresh takes up each file where it was left. It reads the sources only,
// takes no lock of theirs, and so never delays whoever writes them. Each
// commit is whole: a refresh that is killed leaves what it had committed, and
// the next one goes on from there. One refresh at a time holds the writer's
// lock, further ones wait; readers are never kept waiting. Whether an archive
// grew in many refreshes, in one, or was rebuilt: the answers are the same.
//
// # What it refuses
//
// A file of a later version of this package.
package archive
