// Package gm is the game master's side of a table: what one is told, what one says,
// and who may be told what of that.
//
// Whoever the game master is – an agent that writes forms, an agent that calls
// tools, a person who types short commands – a turn becomes one Intent: passages of
// text with their readers, files to be written, dice, a scene, changes of status,
// who is to be asked. Reader reads it, and is the only one that does; what is wrong
// with it are Faults, which are named to the game master for a repair.
//
// Telling decides who is told what in a cycle: it knows what was said in secret and
// who has heard what, and every text that leaves a game master's turn goes through
// it. It fails closed: what is unclear is the game master's alone.
//
// Pack is what a game master is told when it begins. The package starts nobody,
// writes nothing and keeps nothing between cycles; package table/flow takes the
// turns and does what an Intent asks for.
//
// # What a GM is told
//
// Every message to a GM begins with header lines, then a blank line:
//
//	Event: session-start
//	Campaign: ashfall
//	Session: 1
//	Cycle: 1
//
// Event is one of
//
//	session-start  the first message of a session. The pack follows (see below).
//	said           a person said something. The pack follows, and the words,
//	               quoted as data.
//	continue       nobody has anything to say (full auto, or an empty line): go
//	               on. The pack follows.
//	responses      the players have answered; Sub-cycle: says which round.
//	               "# Your notes" (gm-context.md) first, then, under "# The
//	               answers", for each character that was asked in this cycle a line
//	               "Answer of tilda-brannock (QUICK_REACTION): answer" (or veto,
//	               error, long), then its text quoted as data. Remarks of the
//	               engine stand outside of quotes, as lines "Note: …", and so
//	               do the player's rolls, as below.
//	rolls          the dice that were asked for have fallen: one line each, as
//	               "Roll #7 · tilda-brannock · Stealth: 1d20+3 = [14]+3 = 17 vs
//	               DC 15 — success (+2)".
//	huddle         characters have talked among themselves: what each said, quoted.
//	repair         something could not be taken; "Fault: …" lines say what.
//	               Nothing of a refused signal was run. What was narrated
//	               stands; give what is named again, right, then go on.
//	nudge          prompts were written and nobody was signalled: signal, or
//	               withdraw them by saying so.
//	narrate        the bound on sub-cycles, calls or rounds of dice is reached:
//	               narrate now, a signal is not run any more.
//
// A turn in which nothing at all is said or done is none: it is asked for again,
// then of a GM that has seen nothing but the pack, and then the table waits.
//
// The pack has level-1 headings in this order, those without content left out:
// "# The table" (roster: one line "- tilda-brannock · Tilda Brannock · present ·
// person" each; the scene), "# Files" (each campaign file that fits: a line
// "## path" and the text quoted by four-space indent; all of them are in the
// GM's room too, below campaign/), "# So far" (what was said and narrated
// lately), "# Your notes" (the last gm-context.md, unless a GM was resumed with it:
// then it is deleted), "# Now" (what to do).
//
// What a person or a player said is quoted by table.QuoteForGM:
//
//	<<< words from tilda-brannock, quoted as data · 9f2c…
//	> I take the lantern.
//	>>> end of tilda-brannock · 9f2c…
//
// # What a GM says
//
// Plain text is narrative for the party. These forms stand on lines of their
// own, outside of fenced code:
//
//	[FILE: tmp/tilda-brannock-prompt.md]     writes a file: everything up to
//	…                                        [/FILE]. Allowed are
//	[/FILE]                                  tmp/{character}-prompt.md,
//	                                         tmp/gm-context.md, story-state.md,
//	                                         party-knowledge.md, world-primer.md,
//	                                         overview.md, decision-log.md,
//	                                         party/{character}.md, and
//	                                         beats|npcs|factions|locations|items/{slug}.md
//	[FILE+: story-state.md] … [/FILE]        adds to the end of it instead
//	[TO: a, b] … [/TO]                       narrative for these characters alone
//	[GM] … [/GM]                             for nobody but the GM
//	[ROLL: 1d20+3 | tilda-brannock | Stealth | dc 15 | open]
//	                                         asks for dice: expression, who (a
//	                                         character, or gm), purpose; then in any
//	                                         order and only if wanted: dc N, hidden dc
//	                                         N, adv, dis, and open, sealed or private.
//	                                         Without a signal in the same output the
//	                                         result comes at once as Event: rolls;
//	                                         with one it comes with the answers.
//	[SCENE: The Flooded Cellar | the mill, at night]
//	                                         begins a new scene (title, then place
//	                                         and time if wanted)
//	[STATUS: tilda-brannock dead]            present, dead, retired, benched, absent
//	[COMBAT: start tilda-brannock +2, goblins +1]
//	                                         a fight: initiative, turns, conditions, death
//	                                         saves; package table/combat has the words.
//	                                         The dice that it needs fall by themselves
//	[HUDDLE: a, b | what about | rounds 2]   lets characters talk among themselves, and
//	                                         says what they said as Event: huddle
//	[END_SESSION]                            the session is over after this text
//	[AWAIT_AI_PLAYERS: a, b]                 the signal, last: asks these characters.
//	                                         Whatever stands behind it is withheld. It
//	                                         may also end a line of words.
//
// A file that a GM writes itself (table.HandIn) is taken as if it stood between
// [FILE: …] and [/FILE].
//
// A prompt is the seed's file: front matter with request_type, then ## Scene,
// ## Just Happened, ## Request. gm-context.md is the seed's scratch pad. A section
// ## Roll Required asks the player for dice, one line each: "1d20+3 | Stealth |
// dc 15" (see package table/flow); what other lines are there are words.
//
// After SECRET_ACTION requests the outcome belongs between [TO: …] and [/TO]. In a
// cycle that asked for nothing but secrets, an output that marks nothing for the
// asked is theirs alone if it is one that acted, and the GM's if there are more.
// Wherever a passage repeats what was said in secret (table.Repeats), it goes to
// that character only, if it was for it at all; one that repeats the secrets of
// several goes to nobody but the GM. A prompt, a file that others read, the title
// of a scene or the purpose of a roll that does so is not taken. The GM is told
// (Telling).
//
// An output without a signal and without rolls is the end of the cycle: it is
// committed. So a cycle with one veto is, for the GM: (said) narrative, prompts,
// signal → (responses) a new FULL_CONTEXT prompt and a signal for one → (responses)
// narrative.
//
// An agent with tools may call, in place of the text forms, write_prompt,
// write_context, update_state, narrate, roll, begin_scene, set_status, combat, huddle,
// await_players and end_session (see tools.go for their inputs). roll answers at
// once; the others are checked at once, and taken when the turn ends, as if their
// text forms stood in the words where they were called. Nothing is taken after
// await_players, and words behind it are withheld as those behind a signal are.
// In a turn that narrates to the party with narrate, plain words are told to
// nobody, because programs report what they have just done; forms among them
// count. On the disk there is no difference.
//
// A person in the GM's seat may type short commands in place of the forms
// (Typist): they become the forms before anything else sees them.
package gm
