package collect

import (
	"cmp"
	"slices"
)

// Balance is the account of what was read: files on one side, entries on the
// other, and whatever does not add up.
type Balance struct {
	Files       int              `json:"files"`
	Records     int              `json:"records"`
	BytesOnDisk int64            `json:"bytes_on_disk"`
	BytesRead   int64            `json:"bytes_read"`
	Lines       int64            `json:"lines"`
	Entries     int64            `json:"entries"`       // that these lines are
	Added       int64            `json:"entries_added"` // of them, in this run
	Unknown     map[string]int64 `json:"unknown"`       // entries of type unknown, by name
	// Skipped are files in the directories that are no sessions.
	Skipped []string `json:"skipped,omitempty"`
	// Waiting are half lines at the ends of files that are being written: the
	// next time they are whole.
	Waiting []Gap `json:"waiting,omitempty"`
	// Unaccounted is everything else that is there, or was, and is not on the
	// record.
	Unaccounted []Gap `json:"unaccounted"`
}

// Gap is something that is not accounted for.
type Gap struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"` // 0 when it is not known how many
	Reason string `json:"reason"`
}

// OK says that everything is accounted for.
func (b *Balance) OK() bool { return len(b.Unaccounted) == 0 }

func (b *Balance) count(name string, n int64) {
	if b.Unknown == nil {
		b.Unknown = map[string]int64{}
	}
	b.Unknown[name] += n
}

func (b *Balance) gap(path, reason string, bytes int64) {
	b.Unaccounted = append(b.Unaccounted, Gap{path, bytes, reason})
}

func (b *Balance) sort() {
	if b.Unknown == nil {
		b.Unknown = map[string]int64{}
	}
	if b.Unaccounted == nil {
		b.Unaccounted = []Gap{}
	}
	slices.Sort(b.Skipped)
	for _, gaps := range [][]Gap{b.Unaccounted, b.Waiting} {
		slices.SortFunc(gaps, func(x, y Gap) int {
			return cmp.Or(cmp.Compare(x.Path, y.Path), cmp.Compare(x.Reason, y.Reason))
		})
	}
}
