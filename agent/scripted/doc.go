// Package scripted is an agent that plays a script file: it says, thinks,
// calls tools, writes files, vetoes, errs, stalls and dies as it is told. It
// is what demos and tests are made of, and people write scripts to try a
// scenario before they pay a model for it.
//
// A script is plain text, one step a line:
//
//	# The cat is asked twice.            a comment
//	as cat                               the turns below are the cat's
//	turn                                 the answer to the next message
//	  expect launch date                 the message must contain this
//	  think Friday again.
//	  say Who has tested the rollback?
//	  tool Read {"path": "README.md"}    asks for a tool …
//	  result No such file                … and is told this
//	turn on budget                       answers a message that contains "budget"
//	  say <<END
//	Two paragraphs,
//
//	word for word.
//	END
//
// Turns above the first "as" are everybody's; ROLE is matched exactly. For a
// message the session takes the first turn that it has not used and whose
// "on" text occurs in it; "always" begins a turn that can be used again and
// again. A message for which there is no turn ends in an error that says so.
//
// The steps of a turn:
//
//	expect TEXT        fail unless the message contains TEXT
//	think TEXT         a thinking entry
//	say TEXT           a block of the answer
//	tool NAME JSON     call a tool; with a result line below it the result is
//	                   made up, otherwise the session's tools are really asked
//	result TEXT        the made-up result of the tool above
//	read PATH          read a file of the room; what is not there fails
//	write PATH TEXT    hand in a file: it appears in the outbox
//	veto TEXT          answer with a veto and this reason
//	answer JSON        the structured answer
//	usage IN OUT       tokens that the turn consumed
//	wait DURATION      take this long
//	error TEXT         end the turn with an error
//	stall              say nothing until interrupted
//	die TEXT           say TEXT and die in the middle of it: the session is over
//
// TEXT is the rest of the line, or, after "<<WORD", all lines up to one that
// is just WORD. The package refuses a script that it cannot print back.
package scripted
