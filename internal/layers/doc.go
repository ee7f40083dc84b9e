// Package layers holds the architecture as a test: who may import whom, and
// which package may use which outside module. It has no code of its own.
//
// A package without a line in the table fails, and so does a line without a
// package: the table is always the house as it stands.
package layers
