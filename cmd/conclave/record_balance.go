package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"conclave/collect"
	"conclave/internal/screen"
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
func (env *environment) printBalance(w *screen.Writer, b collect.Balance, asJSON bool) error {
	if asJSON {
		if err := w.JSON(b); err != nil {
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

func balanceText(w *screen.Writer, b collect.Balance) {
	w.Printf("files          %d in %s\n", b.Files, counted(b.Records, "session", "sessions"))
	w.Printf("bytes on disk  %d\n", b.BytesOnDisk)
	w.Printf("bytes read     %d\n", b.BytesRead)
	w.Printf("lines          %d\n", b.Lines)
	w.Printf("entries        %d, %d of them new\n", b.Entries, b.Added)
	if len(b.Unknown) > 0 {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(b.Unknown)) {
			names = append(names, fmt.Sprintf("%s %d", name, b.Unknown[name]))
		}
		w.Printf("unknown        %s\n", strings.Join(names, ", "))
	}
	for _, path := range b.Skipped {
		w.Printf("skipped        %s: no session of a known agent\n", path)
	}
	if b.OK() {
		w.Printf("unaccounted    nothing\n")
	}
	for _, g := range b.Unaccounted {
		size := ""
		if g.Bytes > 0 {
			size = fmt.Sprintf(" (%s)", counted(int(g.Bytes), "byte", "bytes"))
		}
		w.Printf("unaccounted    %s: %s%s\n", g.Path, g.Reason, size)
	}
}

// balanceBar is progress until collecting is app's.
type balanceBar struct{ env *environment }

func newProgress(env *environment) *balanceBar { return &balanceBar{env} }

func (p *balanceBar) show(b collect.Balance) { p.env.showCollecting(b) }
func (p *balanceBar) clear()                 { p.env.clearProgress() }
