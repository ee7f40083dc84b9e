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
