// Package bench measures what the documents call fast. It has no code of its
// own: its benchmarks make their data from a seed, small by default and as
// large as the documents say when the environment asks for it.
package bench
