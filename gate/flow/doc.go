// Package flow is what happens in a gate, and in which order: what the judges
// would get is searched for the party's reasoning; the criteria's checks are run,
// each in a room of its own; the judges are asked, each in a seat of its own and
// none knowing of another; their votes are counted; and a receipt is made.
//
// It decides no rule. What a case is, and what votes come to, is package gate's;
// how an evaluator is asked, quest/judging's; what it may know, policy's; what a
// receipt holds, receipt's.
//
// Every judge is a run with a record of its own, sealed when the judge has gone,
// whatever came of it, and audited before its votes count: a judge that was told
// what it must not know is no judge. The gate is a run too, with a small record:
// the case, the checks, the heads of the judges' records, the votes, the decision,
// and last the digest of the receipt's body. So the head of the gate's record
// holds everything of it.
//
// A gate needs no engine. One that was killed leaves records that are not sealed
// and no receipt; it is run again, from the beginning. A failure of a judge is
// never a verdict: it is an abstention, and the receipt says why.
package flow
