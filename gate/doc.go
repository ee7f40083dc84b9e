// Package gate holds the rules of the judge that can be called: what a case is,
// and what the votes on it come to. It starts no agents and builds no rooms;
// gate/flow does.
//
// # A case
//
// A case is what lies before the judges, and nothing else: criteria, or for the
// Guardian an expectation, and the work. Its digest is over all of that and over
// how it is judged (role, rule, number of judges): SHA-256 over fields that each
// begin with their length, so that no two cases share one. The order in which
// work was named does not count, and neither does where the criteria came from
// or what was left out of the work: the same texts before the same judges are
// the same case.
//
// Without a change the work is files of the workspace (quest.OpenWork). With one
// it is the whole commit HEAD, or what is named of it, and beside it the change
// from BASE as text (ChangeFile). All of that is read from git's objects: what
// lies in the workspace does not count, nothing that the repository is set up to
// do is done, and of the commits themselves – messages, names, notes, branches –
// nothing is taken but their files. Of what was there before, the text shows only
// what could have been work.
//
// # Who wrote the criteria
//
// They are committed if they were read from a commit that was there before: with
// a change from what was named as BASE, else by a file that has the same bytes at
// the commit that counts as the base. They are the quest's if they are its own,
// and everything else is the caller's.
//
// # What governs
//
// Who judges and by what is not the change's to say. The places that say it come
// from BASE, and a change that touches one is refused with its name
// (*TouchedError), however it is spelt, added, moved, or made a link. With
// BASE...HEAD the change begins where both came apart, and what governs is what
// BASE has now: else the change could choose an older one.
//
// # Votes
//
// Each judge says of each criterion that it is met, or not met, or does not
// judge it. Partially met is not met. Who failed, gave no verdict, or answered
// what nobody could read has not judged. Decide counts; it never says met
// because something is missing:
//
//   - a failed check makes its criterion not met, whatever the votes;
//   - a criterion on which fewer than a majority of all judges voted is not judged;
//   - by the rule "all" a criterion is met if every judge says so, and not met if
//     one says that it is not;
//   - by the rule "majority" it is what more than half of all judges say;
//   - whatever else there is, is not judged.
//
// The case is not met if one criterion is not met, else not judged if one is not
// judged, else met. A case without criteria cannot be decided.
//
// # Independence
//
// Judges of one family are repeats of one judge: they err together. A family is
// a vendor and its line of models, without version and size, wherever the model
// is served. Judges are called independent only if all families are known and
// differ.
package gate
