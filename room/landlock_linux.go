package room

import (
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// minABI is the first version of Landlock that scopes signals and abstract
// sockets. Less is no room.
const minABI = 6

// landlockABI is what this kernel offers, 0 without Landlock.
func landlockABI() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return v
}

// ownProc are the files below /proc/self that a fenced program may read: its
// own, and none that speaks of the network or of other processes.
var ownProc = []string{"auxv", "cgroup", "exe", "fd", "fdinfo", "limits", "maps", "stat", "statm", "status", "smaps"}

// systemProc are the files of /proc that programs ask for the machine's size.
var systemProc = []string{"cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "uptime", "version", "sys/kernel", "sys/vm", "sys/fs"}

// restrictLandlock restricts this whole process, without best effort.
func restrictLandlock(r rules) (int, error) {
	read := append([]string{}, r.Read...)
	if r.Proc {
		read = append(read, procPaths()...)
	}
	all := append(readRules(read),
		landlock.RWDirs(r.Write...).WithRefer(),
		landlock.RWFiles(r.WriteFiles...).IgnoreIfMissing())
	c := landlock.V6
	if !r.Net {
		c.HandledAccessNet = 0 // the network is the room's own
	} else if r.Port != 0 {
		all = append(all, landlock.ConnectTCP(uint16(r.Port)))
	}
	if err := c.Restrict(all...); err != nil {
		return 0, fmt.Errorf("apply Landlock: %w", err)
	}
	return landlockABI(), nil
}

// procPaths are what a program without a /proc of its own may read there.
func procPaths() []string {
	self, err := os.Readlink("/proc/self") // not Getpid: this /proc may be another namespace's
	if err != nil {
		self = "self"
	}
	var paths []string
	for _, f := range ownProc {
		paths = append(paths, fmt.Sprintf("/proc/%s/%s", self, f))
	}
	for _, f := range systemProc {
		paths = append(paths, "/proc/"+f)
	}
	return paths
}

// readRules allow reading and executing what there is.
func readRules(paths []string) []landlock.Rule {
	var files, dirs []string
	for _, p := range paths {
		if fi, err := os.Stat(p); err == nil && fi.IsDir() {
			dirs = append(dirs, p)
		} else if err == nil {
			files = append(files, p)
		}
	}
	return []landlock.Rule{landlock.RODirs(dirs...), landlock.ROFiles(files...)}
}
