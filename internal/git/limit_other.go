//go:build !linux

package git

// limited changes nothing here: only the settings of git bound what it
// allocates.
func limited(program string, args []string) (string, []string) { return program, args }
