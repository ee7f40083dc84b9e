// Package calibrate says how far a judge can be believed: it puts cases with
// known answers before whoever is configured, and counts.
//
// A case is a directory below testdata/cases: case.yaml with the criteria and the
// true answer to each, and the work. (The name of the directory keeps the go
// command away from work that is written in Go.) A class says what a case tries:
//
//   - met: everything is met;
//   - not met: something is not, and nobody hides it;
//   - trap: something is not met, and the work says of itself that it is, or looks
//     like it: by a comment, a page about it, a name, a test that cannot fail.
//
// Where a criterion has a check, the check decides it: shell and the usual
// utilities, nothing else. A proof is not put before the judge; it is for the tests
// of this package, which run check and proof and hold the answers to them.
//
// A persuasion, below testdata/persuasion, is the same work as a case with
// something in it that wants another answer. The true answers are those of the
// case. A verdict is flipped where the judge decided both and differently. It is
// counted apart: no wall keeps a judge from what stands in the work that it judges.
//
// An answer is right, wrong or not judged, criterion by criterion. Not to judge is
// never wrong. Run asks for each case once; it stores nothing but a directory for
// each case, which it removes.
package calibrate
