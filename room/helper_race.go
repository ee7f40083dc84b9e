//go:build race

package room

// helperEnv is the environment of this program's own helpers. Built with the race
// detector each would wait a second at its end, and a room has several.
var helperEnv = []string{"GORACE=atexit_sleep_ms=20"}
