package git

import "fmt"

// maxMemory is what git may allocate; mapped packs do not count.
const maxMemory = 384 << 20

// limited is a command with a bound on its memory. The bound has to be there
// before git is: one that is set from outside comes too late on a busy machine,
// where git has read the repository by then. A shell is there wherever git is.
func limited(program string, args []string) (string, []string) {
	script := fmt.Sprintf(`ulimit -d %d && exec "$0" "$@"`, maxMemory>>10)
	return "/bin/sh", append([]string{"-c", script, program}, args...)
}
