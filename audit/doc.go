// Package audit judges a record: what was each role given, what did it ask
// for, did anything reach it that it must not know, and was its room shown to
// be locked.
//
// It is pure. It reads a record and the policy and nothing else, so it can
// judge a record that was made on another machine, and a copy with payloads
// withheld. Every source that a role is denied stands in the record as keyed
// digests of its eight-word windows; audit looks for them, and for canary
// words, in everything that reached the agent: the messages, the results of
// its tools, the bytes that its model was sent. It holds the manifest against
// the policy, the receipts against the turns, and the probe pairs against the
// level that the role requires.
//
// It refuses to pass what it cannot see. What is missing is a finding; what no
// record can show is named in Unseen: a paraphrase, fewer than eight words,
// packed text, and files that a program's own children read (there the probe
// pairs are the guarantee).
package audit
