// Package corpus holds what the embedded advisors say against real projects.
// It has no code of its own, only tests and what they are held by:
//
//   - testdata/projects.txt pins twelve projects by version and hash;
//     script/corpus.sh fetches them. testdata/manuscript and testdata/family are
//     two workspaces without code, written for this.
//   - Archives carry no history, so one is made: by a rule, with the same
//     authors, dates and commits every time (history_test.go).
//   - testdata/defects.json has the defects that are planted in a second copy of
//     each project: what is done to it, and what a finding must say to have
//     found it. The list was written before any finding was seen, and without
//     knowing the advisors' rules.
//   - testdata/verdicts.json has every finding that the six give on these trees,
//     each judged by a reader who saw finding and tree and nothing else: act,
//     nod, shrug or false, with the reason.
//
// TestCorpus holds a council on the trees, a few of them in make test and all in
// make matrix, and fails for a finding that nobody has judged, for one that is
// not given any more, and for a defect that is lost. TestVerdicts counts the
// list. A project that cannot be fetched is an error, not a reason to skip.
//
// docs/corpus.md says what was measured, and how to judge again.
package corpus
