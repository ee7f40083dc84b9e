package policy

import "slices"

// Fallback is the level that a role's room has on a system that cannot give
// the one it requires, and every artefact then says so. The empty Level is a
// refusal: whoever judges the work, plays a character or keeps a journal is
// worth nothing in a weaker room, unless the person says in their own
// configuration that it will do.
func Fallback(role Role) Level {
	if slices.Contains(partyRoles(), role) || role == Gandalf || role == GM {
		return fenced
	}
	return ""
}

// MayLogIn says whether a role may be played with the person's own login, in a
// room that is sealed but for a forwarder to the program's vendor. Its walls on
// this machine are whole; what passes to the vendor is not observed. Whoever
// judges the work may not: that a verdict was given without knowledge of the
// party's reasons is shown by what the judge's model was sent, and here nobody
// saw that.
func (r Role) MayLogIn() bool { return r.Known() && !r.Evaluator() }

// Forwards says whether a room of this level led to a vendor unseen.
func (l Level) Forwards() bool { return l == forwarded }
