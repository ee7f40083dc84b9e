// Package bundle writes, reads, verifies and prunes debug bundles: one zip that
// tells all of one run to someone who was not there.
//
// # What it stores
//
// A bundle has one root directory, debug_bundle/, and in it the files of the
// bundle format 1.0.0, so that every reader of that format opens it: the
// manifest with a SHA-256 of every file, what was asked and what came back, the
// state before and after, every log record of the run, its transcript, the
// environment, the configuration, the figures, the error. Beside them stand
// receipts.jsonl and record/run.record: a copy of the record in which the
// payloads that held secrets are withheld and whose chain still verifies to the
// head that the manifest names.
//
// # What it promises
//
// Writing is streamed: memory does not grow with the run. A bundle is there
// whole or not at all, under whatever moment the program is killed; it is
// read-only, and no bundle is ever written over another file. Secrets are taken
// out before anything is written, also to temporary files, and the manifest
// says how many of what kind were taken out where. transcript.jsonl holds
// exactly the transcript.entry records of logs/app.jsonl, in order.
//
// Retention and the storage hook come after the bundle and never make it fail.
//
// # What it refuses
//
// A damaged record. In reading: names that escape, that are said twice or that
// are no UTF-8, links, encrypted, overlapping and over-compressed files, sizes
// and checksums that are not as stated, and absurd numbers of anything. Nothing
// is extracted before it was checked, and never outside of the directory that
// was named.
package bundle
