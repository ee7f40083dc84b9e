// Package offline is the embedded party: agents for the ten roles of a quest
// that need no model, no key and no network. They look and count; they do not
// reason, and say so once in a session; in a council the first of the six says
// it for all.
//
// The six animals see the workspace through internal/project, which says what
// each file is, and try rules on it: bear.go to wolf.go list those of each
// field. A rule finds one kind of thing, is right in the languages that it
// names, and is silent where it cannot know; what it cannot see it says. Of
// what is found each names at most three, what bears on the person's words
// first, then what weighs most. Every citation is read again before it is
// spoken: what the line does not say is not said. Where not everything was read
// nothing is said to be absent. A look at a tree is shared by those who see the
// very same one.
//
// Gandalf asks and gives back the person's words; the Guardian and the Dragon
// believe a check that ran, and an exact fact about a named file that they can
// look up (proof.go says which); Simon joins what six others wrote.
//
// The package refuses to guess: an animal with nothing to report says that, an
// evaluator says "not judged" of everything that is neither checked nor such a
// fact – that words of a criterion stand somewhere in the work shows nothing –
// and a structured answer that it cannot derive is not given. It
// writes no file and reads none but through Spec.Files, up to limits.
//
// It stores nothing. A session's id says how many turns it has had; when a
// caller resumes it and sends the conversation so far ahead of the message, as
// package seat does, the session remembers it. Citations are paths of the
// workspace or of the named work ("doc/util.go:12"), or of the room where a
// file is in neither ("history.txt:1", "quest/criteria.md:3").
package offline
