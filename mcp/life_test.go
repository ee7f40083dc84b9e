package mcp_test

import (
	"context"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/app"
	"conclave/mcp"
)

// TestCancelledCall: the turn ends, the quest is free, and the next call puts away
// what was cut.
func TestCancelledCall(t *testing.T) {
	p := newPlace(t)
	p.scripted(party)
	c := connect(t, p.server(app.Remote{}))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.try(ctx, "consult", args{"who": "wolf", "message": "Are you there?"})
		done <- err
	}()
	other := connect(t, p.server(app.Remote{}))
	p.awaitHolder("consult")
	// Another process would be told who holds the quest; a second server is one.
	if s := other.call("consult", args{"who": "cat", "message": "And you?"}); s.Exit != 3 || !strings.Contains(s.Error, "in use") {
		t.Errorf("beside a call: %d %s", s.Exit, s.Error)
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("the cancelled call has an answer")
	}
	s := c.call("consult", args{"who": "cat", "message": "And you?"})
	if s.Exit != 0 || len(s.Said) != 1 {
		t.Errorf("after a cancelled call: %d %s %v", s.Exit, s.Error, s.Said)
	}
	if st, err := p.me.QuestStatus(t.Context()); err != nil || len(st.Open) > 0 {
		t.Errorf("open: %v, %v", st.Open, err)
	}
}

// TestPersonsOwnInterruption: what the person began is not put away by an agent.
func TestPersonsOwnInterruption(t *testing.T) {
	p := newPlace(t)
	p.scripted(party)
	ctx, cancel := context.WithCancel(t.Context())
	words := "Are you there?"
	done := make(chan error, 1)
	go func() {
		_, err := p.me.Consult(ctx, app.Consultation{Who: "wolf", Talk: app.Talk{Message: &words}})
		done <- err
	}()
	p.awaitHolder("consult")
	cancel()
	<-done
	c := connect(t, p.server(app.Remote{}))
	s := c.call("consult", args{"who": "cat", "message": "And you?"})
	if s.Exit != 1 || !strings.Contains(s.Error, "quest continue") {
		t.Errorf("%d %q", s.Exit, s.Error)
	}
}

// TestTwoCallsAtOnce: they come one after the other, and both are answered.
func TestTwoCallsAtOnce(t *testing.T) {
	p := newPlace(t)
	c := connect(t, p.server(app.Remote{}))
	var all sync.WaitGroup
	for _, who := range []string{"cat", "owl", "bear"} {
		all.Go(func() {
			if s, err := c.try(t.Context(), "consult", args{"who": who, "message": "What is missing?"}); err != nil || s.Exit != 0 {
				t.Errorf("%s: %v %d %s", who, err, s.Exit, s.Error)
			}
		})
		all.Go(func() {
			if s, err := c.try(t.Context(), "quest_status", args{}); err != nil || s.Exit != 0 {
				t.Errorf("status: %v %d %s", err, s.Exit, s.Error)
			}
		})
	}
	all.Wait()
}

// TestWhatNeedsThePerson: nobody is asked, and the way out is said.
func TestWhatNeedsThePerson(t *testing.T) {
	p := newPlace(t)
	c := connect(t, p.server(app.Remote{}))
	for _, x := range []struct {
		tool string
		args any
		exit int
		want string
	}{
		{"confront", args{"work": []string{"work"}}, 3, "conclave trust"},
		{"consult", args{"who": "dragon", "message": "Why?"}, 3, "in a terminal"},
		{"consult", args{"who": "nobody", "message": "Why?"}, 2, "nobody"},
		{"consult", args{"who": "cat", "message": ""}, 2, "say something"},
		{"checkpoint", args{"stage": "draft", "work": []string{}}, 2, "name the work"},
		{"room_show", args{"role": "dragon", "work": []string{"/etc/passwd"}}, 3, "not in this workspace"},
		{"query", args{"sql": "DROP TABLE transcript"}, 2, "query"},
		{"search", args{"words": ""}, 2, "word"},
	} {
		s := c.call(x.tool, x.args)
		if s.Exit != x.exit || !s.IsError || !strings.Contains(s.Error, x.want) || !strings.Contains(s.Text, x.want) {
			t.Errorf("%s %v: exit %d, error %q, want %d with %q", x.tool, x.args, s.Exit, s.Error, x.exit, x.want)
		}
	}
	// A search that finds nothing has an answer: no.
	if s := c.call("search", args{"words": "nowhere"}); s.Exit != 1 || s.IsError || s.Error != "" {
		t.Errorf("%+v", s)
	}
	p.write("work/report.txt", "Nobody made it.\n")
	p.trust()
	if s := c.call("confront", args{"work": []string{"work"}}); s.Exit != 1 || s.IsError || len(s.Findings) != 2 {
		t.Errorf("%+v", s)
	}
}

// TestNothingIsLeft: sessions that end leave neither a goroutine nor a descriptor.
func TestNothingIsLeft(t *testing.T) {
	p := newPlace(t)
	visit := func() {
		theirs, ours := newPipe()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- mcp.Run(ctx, p.server(app.Remote{}), theirs) }()
		c := newClient(t)
		c.dial(ours)
		c.call("quest_status", args{})
		c.call("search", args{"words": "nowhere"})
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		cancel()
		<-done
	}
	visit()
	visit()
	before := settled(left{1 << 20, 1 << 20})
	for range 5 {
		visit()
	}
	most := left{before.goroutines + 2, before.files + 2}
	if after := settled(most); !after.within(most) {
		buf := make([]byte, 1<<20)
		t.Errorf("%+v before, %+v after:\n%s", before, after, buf[:runtime.Stack(buf, true)])
	}
}

// settled is how many goroutines and descriptors there are, once those that are
// ending have ended or nobody will wait any longer. Nothing tells of their end.
func settled(most left) left {
	late := time.Now().Add(10 * time.Second)
	for {
		n := left{goroutines: runtime.NumGoroutine()}
		if list, err := os.ReadDir("/proc/self/fd"); err == nil {
			n.files = len(list)
		}
		if n.within(most) || time.Now().After(late) {
			return n
		}
		time.Sleep(time.Millisecond)
	}
}

type left struct{ goroutines, files int }

func (n left) within(most left) bool { return n.goroutines <= most.goroutines && n.files <= most.files }
