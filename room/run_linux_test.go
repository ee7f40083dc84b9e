package room

import (
	"bytes"
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"conclave/agent"
)

type result struct {
	out, errs string
	err       error
}

// run runs a program to its end.
func run(t testing.TB, r *Room, c agent.Command) result {
	t.Helper()
	p, err := r.Launch(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return finish(t, p)
}

// finish reads a program's output and waits for its end.
func finish(t testing.TB, p agent.Process) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var out, errs bytes.Buffer
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = io.Copy(&out, p.Stdout()) })
	wg.Go(func() { _, _ = io.Copy(&errs, p.Stderr()) })
	p.Stdin().Close()
	select {
	case <-p.Done():
	case <-ctx.Done():
		t.Errorf("%d does not end", p.PID())
	}
	if err := p.Stop(ctx); err != nil {
		t.Error(err)
	}
	wg.Wait()
	return result{out.String(), errs.String(), p.Err()}
}

var shellEnv = []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "LANG=C"}

// sh runs a shell script in the room.
func sh(t testing.TB, r *Room, script string) result {
	t.Helper()
	return run(t, r, shell(script))
}

func shell(script string) agent.Command {
	return agent.Command{Path: "/bin/bash", Args: []string{"-c", script}, Env: shellEnv}
}

// eventually waits for a condition that another process brings about.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		<-tick.C
	}
}
