// Package combat is who acts when in a fight, and what the engine remembers of
// it: initiative, who is surprised, who waits for what, conditions, what
// concentration hangs on, and death saves. It is rules over a State and nothing
// else: it rolls no dice, but says which ones are needed and what follows from
// what they show; hit points, hits and the story are the game master's.
//
// # What a game master says
//
// One line is one Command, the same for a person and an agent:
//
//	start tilda-brannock +2, goblins +1 surprised, the-shade +4 hidden
//	next                              the next one's turn; death saves fall by themselves
//	join gideon +0                    rolls, and acts from the next round on
//	leave goblins                     fled, fallen, out of it
//	delay tilda-brannock after goblins    a lower place, kept from then on
//	ready tilda-brannock: the door opens  a reaction with its trigger; nothing behind the colon takes it back
//	condition goblins +prone -poisoned
//	concentrate gideon: bless         nothing behind the colon ends it
//	damage gideon 13 save +3          a concentrating one saves at once, DC 10 or half the damage
//	damage gideon 4 crit              one who is down fails a death save, two at a critical hit
//	down gideon                       at 0 hit points
//	save gideon                       a death save out of turn
//	stabilise gideon, heal gideon     no more saves; back on their feet
//	reveal the-shade                  no longer hidden
//	end
//
// # The rules
//
// The higher total acts first. A tie goes to the higher bonus, then to a
// character of the party before anybody else, then to whoever was named first.
// Who is surprised has no turn in round 1. Who joins acts from the next round
// on. A death save succeeds from 10 on; a 1 fails twice, a 20 puts them back on
// their feet; three successes are stable, three failures dead. Being down ends
// concentration.
//
// What a hidden fighter does is the game master's alone until it is revealed.
package combat
