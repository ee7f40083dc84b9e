// Package profile is the cast and its costumes: who the ten members of the
// cast are, how a character profile dresses one of them, and how packs of nine
// profiles are read, checked and installed.
//
// What it is: three layers. The cast (Archetype, Face) is the one place for
// names, emoji, speaker tags, menu names and file name parts; whoever shows an
// agent's name gets it here. Profiles and packs (Parse, Load, Library) turn
// files, directories and archives into values and Faults: file, line, rule, what
// is wrong, what to do. Installation (Project) changes the profiles of a
// campaign.
//
// What it refuses: a profile that negates the core of its archetype, as far as
// rules can find that; a skin name that could become a path, a line break or a
// speaker tag of someone else; a pack that is not complete or not of one theme;
// an archive with escapes, links or more than the limits; and to overwrite a
// profile that a person edited, unless told to. What rules cannot find is asked
// of a Judge, and is reported as "not judged" when there is none.
//
// What it stores: profiles in .campaign/profiles, and in .conclave/profiles what
// was installed (state.json), every set that was replaced (old/), and during a
// change the new set (staged-…) with a journal.
//
// What it promises: an installation is all or nothing. Killed at any moment it
// leaves the old set or the new one; the next change finishes or forgets it.
// Files that are not ours survive, and Undo brings the former profiles back.
package profile
