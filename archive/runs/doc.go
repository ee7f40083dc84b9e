// Package runs reads an archive as a page does: which runs there are and how each
// stands, one run by windows of its entries, and what has changed since.
//
// # A run
//
// A run is what the archive calls one (the column run of its sources): a session
// with its subagents, a record, a log. Its entries are those that
// Archive.Entries yields for it, neither more nor fewer. A run all of whose
// entries stand in another one, too, is not listed: that a session was recorded
// does not make it two. It can be asked for by its name all the same.
//
// # The order of entries
//
// Entries of one lane – a session's own agent, or one of its subagents – are in
// the order of their source. Lanes are woven together by time: an entry that
// bears no time has that of the one before it. An entry's number counts from 0 in
// that order. What is appended comes behind as a rule; where it does not, because
// a lane was taken up late, the numbers behind it change, and so does the Epoch
// of the run's Sheet, so that who holds numbers knows. The last few (Unsettled) may
// change without that: who reads on asks for them again.
//
// # How a run stands
//
//   - Stale: its last entry is more than a day old, or none bears a time.
//   - Idle: it is over (its record is sealed, its files are gone), or somebody
//     left off in the midst: neither of the following holds.
//   - Waiting: it waits for a person. The last that was said or done in its main
//     lane are words of the agent, with which it ended its turn, or a question
//     that it put to the person and that has no answer.
//   - Working: it is not waiting, and its last entry is less than a minute old; or
//     less than ten minutes, and the last change of one of its files less than one.
//     Of what is older a change alone says nothing: files are copied and restored.
//
// They are looked at in this order, and the first that holds is it.
//
// # What it costs
//
// Each response of a model counts once in the whole archive, for the source that
// the view usage gives it to. The cost of a run is that of its responses of models
// with a known price; where a response is of another model, the run cost at least
// that. It is unknown (nil) when none of its responses has a price.
//
// # What it keeps
//
// In memory it has a few figures of every lane, and the places of the entries of the
// runs that were asked for last. Update brings both up to what the archive holds, and
// reads no more of it than has changed. Texts come from the archive when they are
// asked for, secrets taken out.
//
// On the disk nothing but those figures, in one file beside the archive, and only
// when it is told to (Keep): of a large archive they take seconds to count. Who opens
// that archive next takes them up, and what has changed since. A file that is not
// whole, or of another archive, or of one that was rebuilt, is as none.
package runs
