package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"conclave/collect"
	"conclave/transcript"
)

// adapterName takes the short names of adapters, too.
func adapterName(name string) (string, error) {
	switch name {
	case "", "auto":
		return "", nil
	case "claude", transcript.AdapterClaude:
		return transcript.AdapterClaude, nil
	case "codex", transcript.AdapterCodex:
		return transcript.AdapterCodex, nil
	}
	return "", usageError("no adapter %q reads session files: claude or codex", name)
}

// printBalance prints the account and says no when it does not add up.
func (env *environment) printBalance(w io.Writer, b collect.Balance, asJSON bool) error {
	if asJSON {
		if err := printJSON(w, b); err != nil {
			return err
		}
	} else {
		balanceText(w, b)
	}
	if !b.OK() {
		return saidNo()
	}
	return nil
}

func balanceText(w io.Writer, b collect.Balance) {
	fmt.Fprintf(w, "files          %d in %s\n", b.Files, counted(b.Records, "session", "sessions"))
	fmt.Fprintf(w, "bytes on disk  %d\n", b.BytesOnDisk)
	fmt.Fprintf(w, "bytes read     %d\n", b.BytesRead)
	fmt.Fprintf(w, "lines          %d\n", b.Lines)
	fmt.Fprintf(w, "entries        %d, %d of them new\n", b.Entries, b.Added)
	if len(b.Unknown) > 0 {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(b.Unknown)) {
			names = append(names, fmt.Sprintf("%s %d", name, b.Unknown[name]))
		}
		fmt.Fprintf(w, "unknown        %s\n", strings.Join(names, ", "))
	}
	for _, path := range b.Skipped {
		fmt.Fprintf(w, "skipped        %s: no session of a known agent\n", path)
	}
	if b.OK() {
		fmt.Fprintln(w, "unaccounted    nothing")
	}
	for _, g := range b.Unaccounted {
		size := ""
		if g.Bytes > 0 {
			size = fmt.Sprintf(" (%s)", counted(int(g.Bytes), "byte", "bytes"))
		}
		fmt.Fprintf(w, "unaccounted    %s: %s%s\n", g.Path, g.Reason, size)
	}
}

// progress says how far long work is: on a terminal in one line that is
// written over, else in a line a second.
type progress struct {
	w        io.Writer
	terminal bool
	shown    bool
}

func newProgress(env *environment) *progress {
	return &progress{w: env.Stderr, terminal: env.StdoutIsTerminal}
}

func (p *progress) show(b collect.Balance) {
	text := fmt.Sprintf("%s, %.1f of %.1f MB, %s", counted(b.Files, "file", "files"),
		float64(b.BytesRead)/1e6, float64(b.BytesOnDisk)/1e6, counted(int(b.Entries), "entry", "entries"))
	if p.terminal {
		text = "\r\x1b[K" + text
	} else {
		text += "\n"
	}
	p.shown = true
	fmt.Fprint(p.w, text)
}

func (p *progress) clear() {
	if p.terminal && p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
