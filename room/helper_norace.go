//go:build !race

package room

// helperEnv is the environment of this program's own helpers: none.
var helperEnv = []string{}
