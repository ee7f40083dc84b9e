package terminal

import (
	"strings"
	"time"

	"conclave/app"
	"conclave/internal/screen"
)

// progress is the line of a terminal that says how far long work is.
type progress struct {
	began, last time.Time
	shown       bool
}

// showProgress draws a bar. It says nothing about what is done at once.
func (t *Terminal) showProgress(e app.Progress) {
	p, now := &t.progress, time.Now()
	if p.began.IsZero() {
		p.began = now
	}
	if e.Done >= e.Total {
		t.ClearProgress()
		return
	}
	if now.Sub(p.began) < time.Second || now.Sub(p.last) < 200*time.Millisecond {
		return
	}
	p.last, p.shown = now, true
	const width = 30
	filled := int(e.Done * width / e.Total)
	bar := strings.Repeat("█", filled) + strings.Repeat("░", width-filled)
	if e.What == "" {
		t.Stderr.Progress("%s %3d%%", bar, 100*e.Done/e.Total)
		return
	}
	t.Stderr.Progress("%s [%s] %s of %s", e.What, bar, screen.Bytes(e.Done), screen.Bytes(e.Total))
}

// showCollecting says how much of session files was read: on a terminal in one
// line that is written over, else in a line a second.
func (t *Terminal) showCollecting(b app.Balance) {
	text := screen.Sprintf("%s, %.1f of %.1f MB, %s", screen.Counted(b.Files, "file", "files"),
		float64(b.BytesRead)/1e6, float64(b.BytesOnDisk)/1e6, screen.Counted(int(b.Entries), "entry", "entries"))
	if behind := b.BytesOnDisk - b.BytesRead; behind > 0 {
		text = screen.Sprintf("%s, %s behind", text, screen.Bytes(behind))
	}
	t.progress.shown = true
	if t.Stderr.Terminal() {
		t.Stderr.Progress("%s", text)
		return
	}
	t.Stderr.Printf("%s\n", text)
}

// ClearProgress takes away the line that says how far something is.
func (t *Terminal) ClearProgress() {
	if t.progress.shown {
		t.Stderr.Progress("")
	}
	t.progress = progress{}
}
