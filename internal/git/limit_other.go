//go:build !linux

package git

// limitMemory does nothing here: only the settings of git bound what it
// allocates.
func limitMemory(int) {}
