// Package look is what can be seen of a table without opening it: how it stands
// and whom it waits for, what is wrong with its files, and what of that a screen
// has not been told yet. It takes no lock and starts nobody, so that it answers
// while somebody plays, and of a campaign that cannot be played.
//
// It stores one thing, told/{screen} in the table's own state: how far in the
// story a screen has been told. What is so now is told every time.
package look
