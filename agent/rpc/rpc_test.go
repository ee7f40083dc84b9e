package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/agent"
	"conclave/internal/jsonrpc"
	"conclave/transcript"
)

// Answers find their calls in whatever order they come; one to nothing that was
// asked, or a second one, is recorded and changes nothing.
func TestAnswersFindTheirCalls(t *testing.T) {
	talk(t, &driver{}, func(t *testing.T, r *rig) {
		const calls = 5
		got := make(chan string, calls)
		var ids []string
		for i := range calls {
			go func() {
				m, err := r.Call(t.Context(), fmt.Sprint("m", i), nil)
				got <- fmt.Sprint("m", i, " ", string(m.Result), " ", err)
			}()
			ids = append(ids, string(r.program.hears(t).ID))
		}
		r.program.says(t, `{"id":999,"result":"nobody"}`, `{"id":"x","result":"nobody"}`, `{"id":null,"result":1}`)
		for i := calls - 1; i >= 0; i-- {
			r.program.says(t, fmt.Sprintf(`{"id":%s,"result":%d}`, ids[i], i), fmt.Sprintf(`{"id":%s,"result":77}`, ids[i]))
			if want, have := fmt.Sprintf("m%d %d <nil>", i, i), <-got; have != want {
				t.Errorf("got %s, want %s", have, want)
			}
		}
		if !r.store.holds("nobody") {
			t.Error("an answer to nothing is not on the record")
		}
	})
}

// A refusal is an error that names the method.
func TestRefusal(t *testing.T) {
	talk(t, &driver{}, func(t *testing.T, r *rig) {
		go func() {
			m := r.program.hears(t)
			r.program.says(t, `{"id":`+string(m.ID)+`,"error":{"code":-3,"message":"not today"}}`)
		}()
		_, err := r.Call(t.Context(), "thread/start", nil)
		var refused *jsonrpc.Error
		if !errors.As(err, &refused) || refused.Code != -3 || !strings.HasPrefix(err.Error(), "thread/start: ") {
			t.Errorf("the refusal is %v", err)
		}
	})
}

// The program asks while it is asked: neither waits for the other, and what is
// answered is on the record before it is sent.
func TestRequestsInBothDirections(t *testing.T) {
	d := &driver{}
	talk(t, d, func(t *testing.T, r *rig) {
		d.handle = func(m jsonrpc.Message) {
			if m.Kind != jsonrpc.Request {
				return
			}
			r.Go(func() {
				line, err := jsonrpc.NewResult(m.ID, "yes")
				if err == nil {
					err = r.Send(line)
				}
				if err != nil {
					t.Errorf("answer: %v", err)
				}
			})
		}
		go func() {
			ours := r.program.hears(t)
			r.program.says(t, `{"id":"q","method":"may/i","params":{}}`, `{"method":"by/the/way"}`)
			answer := r.program.hears(t)
			if !r.store.holds(`\"yes\"`) {
				t.Error("the answer was sent before it was recorded")
			}
			r.program.says(t, fmt.Sprintf(`{"id":%s,"result":%s}`, ours.ID, answer.Result))
		}()
		m, err := r.Call(t.Context(), "ask", nil)
		if err != nil || string(m.Result) != `"yes"` {
			t.Errorf("answer %s, %v", m.Result, err)
		}
		if got := fmt.Sprint(d.handled); got != "[request may/i notification by/the/way]" {
			t.Errorf("handled %s", got)
		}
	})
}

// What is no message is on the record, byte for byte, and stops nothing.
func TestGarbageIsRecordedAndPassedOver(t *testing.T) {
	d := &driver{}
	talk(t, d, func(t *testing.T, r *rig) {
		huge := `{"method":"huge","params":{"text":"` + strings.Repeat("x", 5<<20) + `"}}`
		garbage := []string{"", "nonsense", "[]", `{"id":1`, "\x00\xff\xfe", `{}`, `{"id":{}}`, "\u2028", huge}
		r.program.says(t, append(garbage, `{"method":"last"}`)...)
		_, _ = io.WriteString(r.program.say, `{"method":"cut`)
		synctest.Wait()
		r.program.die(nil)
		<-r.readEnd
		want := strings.Join(append(garbage, `{"method":"last"}`, `{"method":"cut`), "\n") + "\n"
		if got := r.store.blob("prog.stdout"); got != want {
			t.Errorf("kept %d bytes of %d", len(got), len(want))
		}
		if got := fmt.Sprint(d.handled); got != "[invalid  invalid  notification huge notification last]" {
			t.Errorf("handled %s", got)
		}
		if len(d.entries) != len(garbage)+2 {
			t.Errorf("%d entries of %d lines", len(d.entries), len(garbage)+2)
		}
	})
}

// A program that dies leaves nobody waiting: calls and the turn are told how it
// ended and what it said last, what was held back is recorded, and nothing more
// is sent.
func TestProgramDiesMidRequest(t *testing.T) {
	d := &driver{rest: item("rest", []byte("unfinished"))}
	talk(t, d, func(t *testing.T, r *rig) {
		turn := r.Running()
		crash := errors.New("exit status 7")
		go func() {
			r.program.hears(t)
			_, _ = io.WriteString(r.program.moans, "warming up\nout of cheese\n\n")
			synctest.Wait()
			r.program.die(crash)
		}()
		_, err := r.Call(t.Context(), "turn/start", nil)
		_, ended := turn.Next()
		for what, err := range map[string]error{"call": err, "turn": ended, "session": r.Ended()} {
			if !errors.Is(err, agent.ErrStopped) || !errors.Is(err, crash) ||
				!strings.HasSuffix(err.Error(), "prog said last: out of cheese") {
				t.Errorf("%s: %v", what, err)
			}
		}
		if !r.store.holds("unfinished") {
			t.Error("what was held back is not on the record")
		}
		if _, err := r.Call(t.Context(), "more", nil); !errors.Is(err, agent.ErrStopped) {
			t.Errorf("a call to a dead program: %v", err)
		}
		if _, err := r.Turn(t.Context(), func() {}, nil); !errors.Is(err, agent.ErrStopped) {
			t.Errorf("a turn of a dead program: %v", err)
		}
	})
}

// Who gives up a call gives up waiting, not the session; a program that does not
// answer is given up after a while.
func TestCallsThatAreNotAnswered(t *testing.T) {
	talk(t, &driver{}, func(t *testing.T, r *rig) {
		go func() { _, _ = io.Copy(io.Discard, r.program.in) }()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := r.Call(ctx, "slow", nil); !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "slow: ") {
			t.Errorf("a call that was cancelled: %v", err)
		}
		began := time.Now()
		_, err := r.Call(t.Context(), "never", nil)
		if err == nil || !strings.Contains(err.Error(), "never: no answer within") || time.Since(began) != answerTime {
			t.Errorf("a call without answer: %v after %v", err, time.Since(began))
		}
		if r.broken() || r.Running() == nil {
			t.Errorf("the session ended with it: %v", r.Ended())
		}
		time.AfterFunc(time.Second, func() { _ = r.Stop(context.Background()) })
		if _, err := r.Call(r.Context(), "late", nil); !errors.Is(err, agent.ErrStopped) {
			t.Errorf("a call of a session that is stopped: %v", err)
		}
	})
}

// A turn that is cut asks once, and ends with its reason when the program says so.
func TestCutTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := unopened(t, &driver{})
		asked := 0
		ctx, cancel := context.WithCancel(t.Context())
		turn, err := r.Turn(ctx, func() { asked++ }, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Turn(ctx, func() {}, nil); !errors.Is(err, agent.ErrBusy) {
			t.Errorf("a second turn: %v", err)
		}
		turn.Watch(ctx, time.Minute)
		turn.Says("half a")
		cancel()
		synctest.Wait()
		turn.Cut("budget", nil)
		_ = turn.Interrupt(t.Context())
		if asked != 1 || turn.Why() != "interrupted" {
			t.Errorf("asked %d times, because %q", asked, turn.Why())
		}
		turn.Finish(true)
		if _, err := turn.Next(); !errors.Is(err, context.Canceled) {
			t.Errorf("the turn ends with %v", err)
		}
		if got := turn.Reply(); got.Stopped != "interrupted" || got.Text != "half a" {
			t.Errorf("the reply is %+v", got)
		}
		select { // the program did as it was asked: it lives
		case <-r.program.done:
			t.Errorf("it was killed all the same: %v", r.Ended())
		case <-time.After(2 * grace):
		}
		r.stop(t)
	})
}

// A program that does not stop its turn is killed after the grace, or at the end
// of its time and the grace.
func TestDeafProgramIsKilled(t *testing.T) {
	talk(t, &driver{}, func(t *testing.T, r *rig) {
		began := time.Now()
		turn := r.Running()
		turn.Watch(t.Context(), time.Minute)
		_, err := turn.Next()
		if err == nil || !strings.Contains(err.Error(), "did not stop its turn") || time.Since(began) != time.Minute+grace {
			t.Errorf("the turn ends with %v after %v", err, time.Since(began))
		}
		<-r.program.done
	})
}

// What cannot be recorded is not sent, is not acted upon, and ends the session.
func TestRecordThatRefuses(t *testing.T) {
	for _, who := range []string{"said", "heard"} {
		d := &driver{}
		talk(t, d, func(t *testing.T, r *rig) {
			r.store.refuses = "forbidden"
			if who == "said" {
				if _, err := r.Call(t.Context(), "forbidden", nil); !errors.Is(err, errFull) {
					t.Errorf("send: %v", err)
				}
			} else {
				r.program.says(t, `{"method":"forbidden"}`)
			}
			<-r.program.done // it was killed
			if line, err := r.program.lines.Next(); err == nil {
				t.Errorf("%s was sent", line)
			}
			if len(d.handled) > 0 || !errors.Is(r.Ended(), errFull) {
				t.Errorf("handled %v; ended with %v", d.handled, r.Ended())
			}
		})
	}
}

// A secret goes to the program and not on the record.
func TestSecretsAreWithheld(t *testing.T) {
	talk(t, &driver{}, func(t *testing.T, r *rig) {
		go func() { _, _ = r.Call(r.Context(), "open", map[string]string{"token": "hunter2"}, "", "hunter2") }()
		if m := r.program.hears(t); !strings.Contains(string(m.Params), "hunter2") {
			t.Errorf("the program was sent %s", m.Params)
		}
		if r.store.holds("hunter2") || strings.Contains(r.store.blob("prog.stdin"), "hunter2") || !r.store.holds(withheld) {
			t.Error("the secret is on the record")
		}
	})
}

// What crossed before the first message becomes entries with it, in order; of a
// session without one at its end. What comes late is recorded as what it is.
func TestEarlyAndLateEntries(t *testing.T) {
	for _, turn := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			d := &driver{}
			r := unopened(t, d)
			r.program.says(t, `{"method":"hello"}`)
			synctest.Wait()
			if r.store.holds("hello") || r.store.blob("prog.stdout") == "" {
				t.Error("the bytes are to be kept at once, the entries with the first message")
			}
			if turn {
				var claimed *Turn
				got, err := r.Turn(t.Context(), func() {}, func(c *Turn) {
					if claimed = c; r.store.holds("hello") {
						t.Error("something was recorded before the driver knew of its turn")
					}
				})
				if err != nil || got != claimed || !r.store.holds("hello") {
					t.Errorf("turn %p, claimed %p, %v", got, claimed, err)
				}
				r.Late(func() []transcript.Item { return item("late", []byte("afterwards")) })
			}
			r.stop(t)
			if !r.store.holds("hello") || r.store.holds("afterwards") != turn {
				t.Errorf("the record has %q", r.store.log)
			}
		})
	}
}
