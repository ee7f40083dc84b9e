// Package judging is how an evaluator is asked, and what of its answer counts:
// the words that it is told, the tool and the form of a verdict, the order of
// assessment, verdict and one repair, the criteria's own checks in rooms of their
// own, the work as it lies in a room, and whether what it cites is there.
//
// It serves everybody who lets a Guardian or a Dragon judge: the flows of a quest
// and the gate. It takes no turns and opens no seats by itself; whoever asks has
// a Seat of their own and a record behind it. The rules of a verdict are package
// quest's. A verdict is never guessed: an answer that cannot be read after one
// repair is none, with what was wrong with it.
package judging
