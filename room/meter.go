package room

import (
	"io/fs"
	"path/filepath"
	"time"
)

// lookAfter is how often a room is looked at for what it uses. Nothing can be
// reserved without being written (see the filter), so that a room goes over its
// limit by what is written in that time.
const lookAfter = 100 * time.Millisecond

// meter watches the limits that hold for a room as a whole: the kernel knows
// them per process and per file alone.
type meter struct {
	place  string
	family func() []int // the processes of the room
	limits Limits

	free uint64 // of the disk, when it was last looked through
	used uint64 // by the room, then
	tick int
}

func newMeter(r *Room, p *process) *meter {
	m := &meter{place: r.place.Host, family: func() []int { return familyOf(p.roomInit) }, limits: r.plan.Limits}
	m.free = freeBytes(m.place)
	m.used = m.held()
	return m
}

// over names the limit that is exceeded.
func (m *meter) over() string {
	if m.disk() > m.limits.Disk {
		return "wrote more"
	}
	if m.tick++; m.tick%10 == 0 && privateBytes(m.family()) > m.limits.Memory {
		return "used more memory"
	}
	return ""
}

// disk is what the room takes, at most: as long as the disk has not lost as much
// as the room may still use, nobody need look through its directories.
func (m *meter) disk() uint64 {
	now := freeBytes(m.place)
	m.free = max(m.free, now) // others have made room
	if m.used+(m.free-now) <= m.limits.Disk {
		return 0
	}
	m.free, m.used = now, m.held()
	return m.used
}

// held is what lies in the room, and what is deleted and still open.
func (m *meter) held() uint64 {
	sum := unlinkedBytes(m.family(), m.place)
	_ = filepath.WalkDir(m.place, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // gone meanwhile, or locked by the program: its files count when they are open
		}
		if fi, err := d.Info(); err == nil {
			sum += blocksOf(fi)
		}
		return nil
	})
	return sum
}
