package room

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Level says how a room is locked.
type Level string

// The levels, from the strongest to none.
const (
	Sealed Level = "sealed"
	// Forwarded is what a sealed room shows whose plan has Forwards: it is
	// built as Sealed and never asked for by this name.
	Forwarded Level = "sealed but for a forwarder"
	Fenced    Level = "fenced"
	Advisory  Level = "advisory"
)

func (l Level) known() bool { return l.rank() > 0 && l != Forwarded }

// rank orders the levels; an unknown one is below all.
func (l Level) rank() int {
	switch l {
	case Sealed:
		return 4
	case Forwarded:
		return 3
	case Fenced:
		return 2
	case Advisory:
		return 1
	}
	return 0
}

// Plan says what a room holds and how it is locked. Its zero value is a sealed
// and empty room without a way out.
type Plan struct {
	// Role is who will live there, for messages and receipts.
	Role string

	// Level is what the role requires; empty means Sealed.
	Level Level
	// Lower is the person's explicit word to use a weaker level than the
	// required one. It stands in the Enforcement.
	Lower Level

	// Fallback is what is built where this system cannot seal a room; empty
	// means that nothing is. It stands in the Enforcement, with the reason.
	Fallback Level

	// Grants are copied into work. Workspace is a view of a project.
	Grants    []Grant
	Workspace *View

	// Programs are files or directories outside the system directories that
	// must be visible, read-only and executable, at their own paths: an
	// agent's installation, a toolchain.
	Programs []string

	// Outside are directories that must not be seen even where a system
	// directory or a program's happens to hold them: the project, its
	// archive. The workspace is mounted elsewhere, and is not affected.
	Outside []string

	// Gateway serves one connection of the room's only way out, and returns
	// when it is done with it. Nil means that there is no way out.
	Gateway func(net.Conn)
	// Forwards are the hosts that Gateway passes on what it cannot read. Such a
	// room is sealed or nothing: it is neither lowered nor does it fall back.
	Forwards []string

	Limits Limits

	// Base is the directory that holds rooms; empty means a directory of this
	// user in the system's temporary directory. It must not be in a project.
	Base string

	// cannot is why Fallback is built, empty when it is not.
	cannot string

	// test holds what only tests of this package change.
	test hooks
}

// hooks reach into the making of a room. Only tests set them, and the helper
// honours the mark only in a test binary.
type hooks struct {
	mark        string  // an extra argument for the helpers
	dropFlags   uintptr // namespaces not to create
	skipWitness string  // a control that the witness is not asked for
}

// Grant is one thing that a role may know: Bytes, or a copy of Source (a file,
// or a directory with everything below it that is not withheld).
type Grant struct {
	Kind     string // as package policy names it; goes into the manifest
	Name     string // slash-separated path under work
	Bytes    []byte
	Source   string
	Withheld Rule // needed when Source is a directory
}

// View is a read-only look at a project, without what is withheld. Sealed
// rooms mount it; other levels copy it, up to MaxCopy.
type View struct {
	Source   string
	Name     string // under work; empty means "workspace"
	Withheld Rule   // needed
	// Absent are names at its root that a mounted view never has: where the
	// rule withholds one it may come into being while the room is open.
	Absent []string
}

// Limits bound what runs in the room; zero means the default in brackets.
type Limits struct {
	Memory    uint64        // bytes of private memory, of each process and of all together [4 GiB]
	Processes uint64        // processes and threads [1024]
	OpenFiles uint64        // descriptors per process [8192, or less where the system says so]
	FileSize  uint64        // bytes per written file [1 GiB]
	Disk      uint64        // bytes in the room's own directories [4 GiB]
	Wall      time.Duration // for one program [none]
	MaxCopy   int64         // bytes copied into the room [256 MiB]
	MaxFiles  int           // files copied into the room, or looked at in a view [200000]
}

func (l Limits) withDefaults() Limits {
	l.Memory = cmp.Or(l.Memory, 4<<30)
	l.Processes = cmp.Or(l.Processes, 1024)
	l.OpenFiles = cmp.Or(l.OpenFiles, 8192)
	l.FileSize = cmp.Or(l.FileSize, 1<<30)
	l.Disk = cmp.Or(l.Disk, 4<<30)
	l.MaxCopy = cmp.Or(l.MaxCopy, 256<<20)
	l.MaxFiles = cmp.Or(l.MaxFiles, 200_000)
	return l
}

// Errors that callers act on.
var (
	// ErrLevel: the required level is not to be had here, or could not be
	// shown. Callers end with exit code 3.
	ErrLevel = errors.New("the room cannot be locked as required")
	// ErrRefused: something may not enter the room.
	ErrRefused = errors.New("refused to take it into the room")
	// ErrExposed: what is withheld came into the view of an open room, whose
	// programs were ended.
	ErrExposed = errors.New("the room was ended")
	// ErrClosed: the room is gone.
	ErrClosed = errors.New("the room is closed")
)

// levelError says why a level is not to be had, and what to do.
type levelError struct {
	level Level
	role  string
	why   error
	hint  string
}

func (e *levelError) Error() string {
	s := fmt.Sprintf("lock %s (%s): %v", cmp.Or(e.role, "the room"), e.level, e.why)
	if e.hint != "" {
		s += "; " + e.hint
	}
	return s
}

func (e *levelError) Unwrap() []error { return []error{ErrLevel, e.why} }

// Hint is advice for a person, apart from the error.
func (e *levelError) Hint() string { return e.hint }

// normal returns a checked copy of p with its defaults filled in.
func (p Plan) normal() (Plan, error) {
	p.Level = cmp.Or(p.Level, Sealed)
	for _, l := range []Level{p.Level, p.Lower, p.Fallback} {
		if l != "" && !l.known() {
			return p, fmt.Errorf("open room: level %q is not known: use sealed, fenced or advisory", l)
		}
	}
	for _, l := range []Level{p.Lower, p.Fallback} {
		if l.rank() > p.Level.rank() {
			return p, fmt.Errorf("open room: %s is no lower than %s", l, p.Level)
		}
	}
	if len(p.Forwards) > 0 {
		if p.Gateway == nil || p.Level != Sealed || p.Lower != "" {
			return p, errors.New("open room: one with a forwarder is sealed but for that: it is not to be lowered")
		}
		p.Fallback = ""
	}
	if p.Base == "" {
		p.Base = filepath.Join(os.TempDir(), "conclave-"+strconv.Itoa(os.Getuid()))
	}
	var err error
	if p.Base, err = filepath.Abs(p.Base); err != nil {
		return p, fmt.Errorf("open room: %w", err)
	}
	p.Limits = p.Limits.withDefaults()
	for _, path := range append(append([]string{}, p.Programs...), p.Outside...) {
		if !filepath.IsAbs(path) {
			return p, fmt.Errorf("open room: path %q of a program or directory must be absolute", path)
		}
	}
	if p.Workspace != nil {
		v := *p.Workspace
		if v.Withheld == nil {
			return p, fmt.Errorf("open room: workspace: %w: %w", ErrRefused, errNoRule)
		}
		v.Name = cmp.Or(v.Name, "workspace")
		if v.Source, err = filepath.Abs(v.Source); err != nil {
			return p, fmt.Errorf("open room: workspace: %w", err)
		}
		if err := checkName(v.Name); err != nil {
			return p, fmt.Errorf("open room: workspace: %w", err)
		}
		p.Workspace = &v
	}
	return p, nil
}

// level is the one that is built.
func (p Plan) level() Level {
	switch {
	case p.Lower != "":
		return p.Lower
	case p.cannot != "":
		return p.Fallback
	}
	return p.Level
}
