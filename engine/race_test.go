//go:build race

package engine_test

// restarts is more than the 100 that were the end of it; the race detector
// makes each thirty times slower, so the rest is for runs without it.
const restarts = 110
