package offline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/agent"
	"conclave/agent/agenttest"
	"conclave/transcript"
)

// BenchmarkCouncil5000 is the six over 5,000 files, one after the other, as on
// one core; the claim is less than 3 s.
func BenchmarkCouncil5000(b *testing.B) {
	dir := b.TempDir()
	rng := uint32(1)
	for i := range 5000 {
		var text strings.Builder
		fmt.Fprintf(&text, "package p%d\n\n// TODO: file %d\n", i%100, i)
		for n := range 120 {
			rng = rng*1664525 + 1013904223
			fmt.Fprintf(&text, "func F%d_%d(x int) int { return x*%d + %d } // some words of a comment\n", i, n, rng%97, rng>>8)
		}
		name := filepath.Join(dir, fmt.Sprintf("pkg%d", i%100), fmt.Sprintf("f%d.go", i))
		if i%3 == 0 {
			name = strings.TrimSuffix(name, ".go") + "_test.go"
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	benchCouncil(b, dir)
}

// BenchmarkCouncilLibc is the same over a real tree of more than 4,000 files.
func BenchmarkCouncilLibc(b *testing.B) { benchCouncil(b, module(b, "modernc.org/libc")) }

// identified says, as a room does, that all six see the same tree.
type identified struct{ nested }

func (identified) ViewIdentity() string { return "bench" }

// benchCouncil reads through os.Root, as a room's files are read.
func benchCouncil(b *testing.B, dir string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	tree := identified{nested{"workspace", root.FS()}}
	for b.Loop() {
		party := New()
		for _, a := range animals() {
			emitter, err := transcript.NewEmitter(transcript.Options{PromptName: "bench", Adapter: transcript.AdapterOffline, Store: &agenttest.Store{}})
			if err != nil {
				b.Fatal(err)
			}
			s, err := party.Start(context.Background(), agent.Spec{Role: a.name, Files: tree, Emitter: emitter})
			if err != nil {
				b.Fatal(err)
			}
			turn, err := s.Send(context.Background(), agent.Message{Text: "A council is held."})
			if err != nil {
				b.Fatal(err)
			}
			if reply, _, err := agenttest.Drain(turn); err != nil || reply.Text == "" {
				b.Fatal(err)
			}
		}
	}
}
