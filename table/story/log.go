package story

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"conclave/internal/newer"
	"conclave/table"
	"conclave/workspace"
)

// place is where an event stands in the log.
type place struct {
	name string // of its file
	seq  int
	back bool // it is a restore
	to   int  // and goes back to this event
}

// standing says of each place whether what happened there still has: it is the
// only rule for that. A restore leads to the event that it names, which may lie
// in a branch that another restore had left, and from there back as that one
// came about.
func standing(log []place) []bool {
	out := make([]bool, len(log))
	for i := len(log) - 1; i >= 0; {
		out[i] = true
		if log[i].back {
			i = sort.Search(i, func(k int) bool { return log[k].seq > log[i].to }) - 1
		} else {
			i--
		}
	}
	return out
}

// ReadLog returns the events of a campaign, oldest first, whether they stand or
// were undone. It takes no lock.
func ReadLog(root, campaign string) ([]Event, error) {
	var out []Event
	err := walk(root, campaign, func(e Event, _ bool) error {
		out = append(out, e)
		return nil
	})
	return out, err
}

// LogPath is the directory of a campaign's log: it changes with every event.
func LogPath(root, campaign string) string {
	return filepath.Join(table.PrivatePath(root, campaign), "log")
}

// walk visits the events of a campaign in order and says of each whether it
// stands. Every file but that of a restore is read once.
func walk(root, campaign string, visit func(e Event, stands bool) error) error {
	dir := LogPath(root, campaign)
	log, err := places(dir)
	if err != nil {
		return err
	}
	stands := standing(log)
	for i, p := range log {
		e, err := readEvent(dir, p.name)
		if err == nil {
			err = visit(e, stands[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// places lists the log by the names of its files, which are in order. What a
// restore goes back to stands in it.
func places(dir string) ([]place, error) {
	entries, err := os.ReadDir(dir) // sorted
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []place
	for _, entry := range entries {
		name := entry.Name()
		if filepath.Ext(name) != ".json" || strings.HasPrefix(name, ".") {
			continue
		}
		number, kind, _ := strings.Cut(strings.TrimSuffix(name, ".json"), "-")
		seq, err := strconv.Atoi(number)
		p := place{name: name, seq: seq}
		if err != nil || kind == EventRestore {
			e, err := readEvent(dir, name)
			if err != nil {
				return nil, err
			}
			p.seq, p.back, p.to = e.Seq, e.Kind == EventRestore, e.To
		}
		out = append(out, p)
	}
	return out, nil
}

func readEvent(dir, name string) (Event, error) {
	var e Event
	data, err := workspace.ReadOwn(filepath.Join(dir, name), workspace.MaxFile)
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return e, fmt.Errorf("read the table's log: %s: %w", name, err)
	}
	if err := newer.Check(e.V, Version); err != nil {
		return e, fmt.Errorf("read the table's log: %s: %w", filepath.Join(dir, name), err)
	}
	return e, nil
}
