//go:build race

package collect

// racing: the race detector makes everything ten times as slow, so that tests
// which are about amounts take less.
const racing = true
