package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/table"
	"conclave/workspace"
)

// Book follows which entries are written, in this process and, by its files, over
// all of them. It is safe for concurrent use.
type Book struct {
	root, campaign string

	mu     sync.Mutex
	change chan struct{} // closed and replaced at every change
	done   map[string]int
	open   map[string]Job  // by id
	parked map[string]bool // characters with a parked entry
}

// OpenBook opens the book of a campaign for the characters that have had jobs,
// and with the jobs that are under way.
func OpenBook(root, campaign string, characters iter.Seq[string], open []Job) (*Book, error) {
	j := &Book{root: root, campaign: campaign, change: make(chan struct{}),
		done: map[string]int{}, open: map[string]Job{}, parked: map[string]bool{}}
	for who := range characters {
		n, err := j.lastDone(who)
		if err != nil {
			return nil, err
		}
		j.done[who] = n
	}
	for _, job := range open {
		j.open[job.ID()] = job
	}
	parked, err := Parked(root, campaign)
	for _, p := range parked {
		j.parked[p.Character] = true
	}
	return j, err
}

// doneFile holds the newest cycle whose entry is written, or parked.
func (j *Book) doneFile(who string) string {
	return filepath.Join(table.PrivatePath(j.root, j.campaign), filepath.FromSlash(DoneFile(who)))
}

// DoneFile is the file of a character's newest cycle, in the table's own state.
func DoneFile(who string) string { return "journal/" + who + ".json" }

func (j *Book) lastDone(who string) (int, error) {
	data, err := workspace.ReadOwn(j.doneFile(who), workspace.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var d struct{ Cycle int }
	err = json.Unmarshal(data, &d)
	return d.Cycle, err
}

// DoneText is what the file says once a job is done. A retry is older than what
// was parked after it.
func (j *Book) DoneText(job Job) []byte { return doneText(max(job.Cycle, j.Done(job.Character))) }

func doneText(cycle int) []byte { return fmt.Appendf(nil, "{\"cycle\": %d}\n", cycle) }

// Done is the newest cycle of a character whose entry is written or parked.
func (j *Book) Done(who string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.done[who]
}

// WriteDone says in the file that a job is done.
func (j *Book) WriteDone(job Job) error {
	dir, file := path.Split(DoneFile(job.Character))
	d, err := table.OwnDir(j.root, j.campaign, path.Clean(dir))
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Write(file, j.DoneText(job))
}

// Rename notes that a character has another name.
func (j *Book) Rename(from, to string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done[to] = max(j.done[to], j.done[from])
}

// RenamedText is what the done file of a new name says.
func (j *Book) RenamedText(from string) []byte { return doneText(j.Done(from)) }

func (j *Book) changed() {
	close(j.change)
	j.change = make(chan struct{})
}

// Began notes a job that is under way. One that is done already is none.
func (j *Book) Began(job Job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if job.Retry == 0 && j.done[job.Character] >= job.Cycle {
		return
	}
	j.open[job.ID()] = job
	j.changed()
}

// Ended notes that a job is done, or parked.
func (j *Book) Ended(job Job, parked bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.open, job.ID())
	j.done[job.Character] = max(j.done[job.Character], job.Cycle)
	if parked {
		j.parked[job.Character] = true
	}
	j.changed()
}

// wait returns when ready says so, or ctx ends.
func (j *Book) wait(ctx context.Context, ready func() bool) error {
	for {
		j.mu.Lock()
		ok, change := ready(), j.change
		j.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Await waits for a character's own pending entries, for a while, and returns
// the narrative of those that are still not written.
func (j *Book) Await(ctx context.Context, who string, most time.Duration) []string {
	limited, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	_ = j.wait(limited, func() bool { return len(j.pendingOf(who)) == 0 })
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []string
	for _, job := range j.pendingOf(who) {
		out = append(out, strings.TrimSpace(string(job.Narrative)+"\n"+job.Private))
	}
	return out
}

func (j *Book) pendingOf(who string) []Job {
	var out []Job
	for _, job := range j.open {
		if job.Character == who {
			out = append(out, job)
		}
	}
	slices.SortFunc(out, func(a, b Job) int { return a.Cycle - b.Cycle })
	return out
}

// Notes are the files of tmp/ that wait for their journal: name to hash.
func (j *Book) Notes() map[string]string {
	j.mu.Lock()
	defer j.mu.Unlock()
	known := map[string]string{}
	newest := map[string]int{}
	for _, job := range j.open {
		if len(job.Notes) > 0 && job.Cycle >= newest[job.Character] {
			newest[job.Character] = job.Cycle
			known[table.NotesFile(job.Character)] = table.Hash(job.Notes)
		}
	}
	return known
}

// Turn waits until the entries before a job's are written.
func (j *Book) Turn(ctx context.Context, job Job) error {
	return j.wait(ctx, func() bool { return j.done[job.Character] >= job.Prev || job.Retry > 0 })
}

// Behind says whether an older entry of the character is parked.
func (j *Book) Behind(job Job) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.parked[job.Character] && job.Retry == 0
}

// Unpark notes that all the parked entries of a character are written.
func (j *Book) Unpark(who string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.parked, who)
	j.changed()
}

// Busy says whether a job is open.
func (j *Book) Busy() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.open) > 0
}

// Drain waits until no job is open, or ctx ends.
func (j *Book) Drain(ctx context.Context) {
	_ = j.wait(ctx, func() bool { return len(j.open) == 0 })
}

const pendingDir = "journal-pending"

// PendingFile is where a job is parked, in the table's own state.
func (j Job) PendingFile() string {
	return fmt.Sprintf("%s/%06d-%s.json", pendingDir, j.Cycle, j.Character)
}

// Parked are the entries that could not be written, oldest first.
func Parked(root, campaign string) ([]Job, error) {
	dir := filepath.Join(table.PrivatePath(root, campaign), pendingDir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Job
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		data, err := workspace.ReadOwn(filepath.Join(dir, e.Name()), workspace.MaxFile)
		if err != nil {
			return nil, err
		}
		var j Job
		if err := json.Unmarshal(data, &j); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		out = append(out, j)
	}
	return out, nil
}
