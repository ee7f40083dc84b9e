package room

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// beHelper does a helper's work in a helper process, and does not return.
func beHelper() {
	if len(os.Args) >= 2 && os.Args[0] == helperName {
		runHelper(os.Args[1], realSteps())
	}
}

// steps are what a helper does to restrict a process. Tests of this package
// run helpers with one of them taken out.
type steps struct {
	landlock func(rules) (int, error)
	seccomp  func(Level) error
	attempts []attempt
	mount    func(builderOrders) error
	adopt    func() error
}

func realSteps() steps {
	return steps{landlock: restrictLandlock, seccomp: restrictSeccomp, attempts: allAttempts(), mount: buildRoot, adopt: adoptOrphans}
}

// runHelper ends the process, at once: the race detector's own exit would wait
// a second. Exit codes of the helpers mean nothing but for init's: the
// parent goes by what they report.
func runHelper(part string, s steps) {
	runtime.MemProfileRate = 0 // a profile of memory wants memory when there may be none
	unix.CloseOnExec(fdSelf)
	var err error
	switch part {
	case partBuilder:
		err = build(s)
	case partInit:
		err = runInit()
	case partStageTwo:
		err = runStageTwo(s)
	case partWitness:
		err = witness(s)
	case partDecoy:
		decoy()
	case partNobody:
		_, _ = os.Stdin.Read(make([]byte, 1)) // until nobody holds the other end
	default:
		err = fmt.Errorf("part %q is not known", part)
	}
	if err != nil && (part == partBuilder || part == partStageTwo || part == partWitness) {
		say(fdTalk, report{Err: err.Error()})
	}
	unix.Exit(1)
}

// say sends a report in one packet.
func say(fd int, r report) {
	b, err := json.Marshal(r)
	if err != nil {
		b = []byte(`{"err":"cannot put a report into words"}`)
	}
	_ = unix.Sendmsg(fd, b, nil, nil, unix.MSG_NOSIGNAL) // nobody is left to tell
}

// selfPath is how a helper is started: by descriptor.
func selfPath() string { return "/proc/self/fd/" + strconv.Itoa(fdSelf) }
