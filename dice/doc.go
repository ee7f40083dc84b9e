// Package dice reads dice expressions and makes rolls that anyone can check.
//
// # Expressions
//
// Parse reads the whole input or refuses it, naming the column and what was
// expected there. The grammar, with spaces allowed between any two tokens:
//
//	input   = expr { " " expr } [ "#" comment ]
//	expr    = sum [ (">=" | ">" | "<=" | "<" | "=") integer | "vs" ["DC"] integer ]
//	sum     = product { ("+" | "-") product }
//	product = unary { ("*" | "/" | "//") unary }
//	unary   = "-" unary | primary { "[" label "]" }
//	primary = integer | [count] "d" (sides | "%" | "F") { modifier } | "(" sum ")"
//	modifier = "k"|"kh"|"kl" [n]     keep the highest or lowest n (1 when left out)
//	         | "d"|"dl"|"dh"|"pl"|"ph" [n]   drop them
//	         | "!" | "!!" | "!p", each with an optional condition; "e" n
//	         | "r"|"rr"|"ro"|"ra" [condition]   reroll until clear, once, once and add
//	         | "mi" n | "ma" n       raise or lower single dice to a bound
//	         | "adv" | "dis"         after a leading 1d20
//	condition = [">=" | ">" | "<=" | "<" | "="] n, attached without a space
//
// Two readings are settled by a space: "4d6d1" drops the lowest die, "4d6 d1"
// is two expressions; "1d6!>4" explodes above 4, "1d6! > 4" compares the total.
// A number followed by d is always a count, with or without a space. "k3"
// keeps the highest three dice, never the dice that show a 3. Division rounds
// down. Modifiers act in the order explode, reroll, min/max, keep/drop,
// whatever order they are written in. Sets, as in (1d4, 3)kh1, are refused.
//
// # Rolls
//
// A Log is the append-only file dice-log.jsonl. Each epoch starts with the
// commitment C = SHA-256(S) of a secret seed S; all numbers of roll n come
// from HMAC-SHA256 under S, so the engine cannot choose them later; when the
// epoch ends S is written into the log and Verify recomputes everything. The
// line with the number n is on the disk before Roll returns a value, and a
// request id that is already in the log returns the roll it had: no crash
// makes a die fall twice.
//
// A log alone cannot say that its end is missing. Marks can, which are kept
// apart from it: Options.Head after every line, and whatever else the table has
// written down. A log that does not hold is never mended and never thrown away:
// Seal keeps the file, and lets the numbers go on behind a line that says for
// ever what was lost.
//
// The seed is stored apart from the log in a file with mode 0600 and reaches no
// agent. What is promised is fairness against everyone but the host of the
// engine: who can read the seed file can foresee the rolls.
//
// The package starts no goroutine and knows nothing of tables or agents.
package dice
