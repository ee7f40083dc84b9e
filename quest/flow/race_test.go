//go:build race

package flow

// raced says that everything takes ten times as long.
const raced = true
