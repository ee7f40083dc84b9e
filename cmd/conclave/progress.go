package main

import (
	"fmt"
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
func (env *environment) showProgress(e app.Progress) {
	p, now := &env.progress, time.Now()
	if p.began.IsZero() {
		p.began = now
	}
	if e.Done >= e.Total {
		env.clearProgress()
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
		env.Stderr.Progress("%s %3d%%", bar, 100*e.Done/e.Total)
		return
	}
	env.Stderr.Progress("%s [%s] %s of %s", e.What, bar, byteSize(e.Done), byteSize(e.Total))
}

// showCollecting says how much of session files was read: on a terminal in one
// line that is written over, else in a line a second.
func (env *environment) showCollecting(b app.Balance) {
	text := screen.Sprintf("%s, %.1f of %.1f MB, %s", counted(b.Files, "file", "files"),
		float64(b.BytesRead)/1e6, float64(b.BytesOnDisk)/1e6, counted(int(b.Entries), "entry", "entries"))
	if behind := b.BytesOnDisk - b.BytesRead; behind > 0 {
		text = screen.Sprintf("%s, %s behind", text, byteSize(behind))
	}
	env.progress.shown = true
	if env.Stderr.Terminal() {
		env.Stderr.Progress("%s", text)
		return
	}
	env.Stderr.Printf("%s\n", text)
}

func (env *environment) clearProgress() {
	if env.progress.shown {
		env.Stderr.Progress("")
	}
	env.progress = progress{}
}

// byteSize says "12.3 MB".
func byteSize(n int64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if float64(n) >= u.size {
			return fmt.Sprintf("%.1f %s", float64(n)/u.size, u.name)
		}
	}
	return counted(int(n), "byte", "bytes")
}
