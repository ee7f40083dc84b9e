package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/agent"
	"conclave/agent/agenttest"
	"conclave/gateway"
	"conclave/internal/modelstub"
	"conclave/transcript"
)

var say = modelstub.Say

// TestEveryByteOfAnAnswerIsOnTheRecord once, in the entries that it gave rise to.
func TestEveryByteOfAnAnswerIsOnTheRecord(t *testing.T) {
	eachKind(t, func(t *testing.T, kind gateway.Kind) {
		r := newRig(t, kind, modelstub.Script(
			modelstub.Answer(modelstub.Think("Hm. Hm."), say("One two three."), modelstub.Call(ListFiles, "c1", `{"depth":1}`)),
			modelstub.Answer(say("Four."))))
		if _, _, err := r.say(t, r.start(t), agent.Message{Text: "Go."}); err != nil {
			t.Fatal(err)
		}
		var came []byte
		for _, x := range r.stub.Exchanges() {
			came = append(came, x.Sent...)
		}
		kept := r.whole()
		sorted := func(b []byte) []byte { b = bytes.Clone(b); slices.Sort(b); return b }
		if len(came) != len(kept) || !bytes.Equal(sorted(came), sorted(kept)) {
			t.Errorf("%d bytes came and %d are kept", len(came), len(kept))
		}
		for _, e := range r.store.Entries() {
			if e.Type == transcript.AssistantMessage && len(e.Raw) == 0 {
				t.Errorf("what was said has no bytes: %s", e.Detail)
			}
		}
	})
}

// TestRetries: what passes is tried again after a pause that the server names or
// that grows; the person and the record are told; what does not pass ends it.
func TestRetries(t *testing.T) {
	eachKind(t, func(t *testing.T, kind gateway.Kind) {
		r := newRig(t, kind, modelstub.Script(
			modelstub.Fail(503, "busy"), modelstub.Reply{Status: 429, ErrorMessage: "slow down", RetryAfter: 7 * time.Second},
			modelstub.Fail(529, "overloaded"), modelstub.Answer(say("Here."))))
		reply, _, err := r.say(t, r.start(t), agent.Message{Text: "Go."})
		if err != nil || reply.Text != "Here." {
			t.Fatalf("%+v, %v", reply, err)
		}
		if want := []time.Duration{time.Second, 7 * time.Second, 4 * time.Second}; !slices.Equal(r.pauses, want) {
			t.Errorf("pauses %v, want %v", r.pauses, want)
		}
		if len(r.told) != 3 || !strings.Contains(r.told[1], "cat: slow down (429") || !strings.Contains(r.told[1], "asking again in 7s") {
			t.Errorf("the person was told %q", r.told)
		}
		want := "user_message|system_event retry|system_event retry|system_event retry|assistant_message|token_usage"
		if got := strings.Join(r.types(), "|"); got != want {
			t.Errorf("the record has %s", got)
		}
		if e := r.entry(t, transcript.SystemEvent, "retry"); !strings.Contains(string(e.Raw), "overloaded") {
			t.Errorf("the record lacks the server's words: %s", e.Raw)
		}
		entries, seen := r.spent(t)
		if entries != seen || seen.Output != 10 {
			t.Errorf("the record says %+v, the gateway %+v", entries, seen)
		}
	})
}

// TestFailures end a turn with what happened and the way out, and the session
// takes the message again.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name  string
		reply modelstub.Reply
		says  []string
		calls int
	}{
		{"key", modelstub.Reply{Status: 401, ErrorType: "authentication_error", ErrorMessage: "no such key"},
			[]string{"ask the model stub-1 of mine: no such key (401", "the key in MY_KEY is whole"}, 1},
		{"model", modelstub.Fail(404, "no such model"), []string{`see whether the model is called "stub-1" there`}, 1},
		{"quota", modelstub.Reply{Status: 429, ErrorType: "insufficient_quota", ErrorMessage: "you have no money"},
			[]string{"you have no money"}, 1},
		{"long pause", modelstub.Reply{Status: 429, RetryAfter: time.Hour}, []string{"the server asks to wait 1h0m0s", "asked again later"}, 1},
		{"for ever", modelstub.Fail(529, "overloaded"), []string{"overloaded (529", "asked again later"}, mostTries},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachKind(t, func(t *testing.T, kind gateway.Kind) {
				if c.name == "quota" && (kind == gateway.Anthropic || kind == gateway.Gemini) {
					c.reply.Status, c.calls = 402, 1 // they have no such code
				}
				n := 0
				r := newRig(t, kind, func(modelstub.Request) modelstub.Reply {
					if n++; n <= c.calls {
						return c.reply
					}
					return modelstub.Answer(say("Better now."))
				})
				s := r.start(t)
				_, _, err := r.say(t, s, agent.Message{Text: "First."})
				if err == nil {
					t.Fatal("it went well")
				}
				for _, want := range c.says {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%v lacks %q", err, want)
					}
				}
				if strings.Contains(err.Error(), theKey) {
					t.Errorf("the key is in %v", err)
				}
				var kept struct{ Message string }
				if e := r.entry(t, transcript.Error, ""); json.Unmarshal(e.Detail, &kept) != nil || kept.Message != err.Error() {
					t.Errorf("the record has %s", e.Detail)
				}
				if n != c.calls {
					t.Errorf("%d calls, want %d", n, c.calls)
				}
				reply, _, err := r.say(t, s, agent.Message{Text: "Again."})
				if err != nil || reply.Text != "Better now." {
					t.Errorf("%+v, %v", reply, err)
				}
				if last := r.sent(t, n-1); strings.Contains(last, "First.") {
					t.Errorf("a turn that failed is remembered: %s", last)
				}
			})
		})
	}
}

// TestACutAnswer is asked for again: what was said of it stands on the record as
// partial, and neither words nor tokens are lost or counted twice.
func TestACutAnswer(t *testing.T) {
	eachKind(t, func(t *testing.T, kind gateway.Kind) {
		for _, c := range []modelstub.Reply{
			{Blocks: []modelstub.Block{say("One two three four five six.")}, CutAfter: 4},
			{Blocks: []modelstub.Block{say("One two three four five six.")}, MidStreamError: true},
		} {
			room := &caller{}
			r := newRig(t, kind, modelstub.Script(
				modelstub.Answer(modelstub.Call("roll", "c1", `{"expr":"1d20"}`)), c, modelstub.Answer(say("One two."))))
			r.spec.Tools.Caller, r.spec.Tools.Offers = room, roomTools
			reply, events, err := r.say(t, r.start(t), agent.Message{Text: "Go."})
			if err != nil || reply.Text != "One two." || len(room.calls) != 1 {
				t.Fatalf("%+v, %v, %v", reply, err, room.calls)
			}
			if e := r.entry(t, transcript.SystemEvent, "retry"); !strings.Contains(string(e.Detail), "stands on the record") {
				t.Errorf("%s", e.Detail)
			}
			heard := ""
			for _, e := range events {
				heard += e.Delta
			}
			if heard != "One two." && !slices.Contains(r.types(), "assistant_message partial") {
				t.Errorf("%q was heard, and the record has %v", heard, r.types())
			}
			entries, seen := r.spent(t)
			if entries != seen || reply.Usage.Tokens() != seen {
				t.Errorf("the record says %+v, the reply %+v, the gateway %+v", entries, reply.Usage, seen)
			}
		}
	})
}

// TestACutForEver ends the turn.
func TestACutForEver(t *testing.T) {
	eachKind(t, func(t *testing.T, kind gateway.Kind) {
		r := newRig(t, kind, func(modelstub.Request) modelstub.Reply {
			return modelstub.Reply{Blocks: []modelstub.Block{say("One two three.")}, CutBefore: 60}
		})
		_, _, err := r.say(t, r.start(t), agent.Message{Text: "Go."})
		if err == nil || !strings.Contains(err.Error(), "broke off: it ended before the answer did") || len(r.stub.Requests()) != mostCuts {
			t.Errorf("%v after %d requests", err, len(r.stub.Requests()))
		}
	})
}

// TestTurnLimit: the tools of the last call run, and nothing more is asked.
func TestTurnLimit(t *testing.T) {
	eachKind(t, func(t *testing.T, kind gateway.Kind) {
		r := newRig(t, kind, func(modelstub.Request) modelstub.Reply {
			return modelstub.Answer(modelstub.Call("roll", "", `{}`))
		})
		room := &caller{}
		r.spec.Tools.Caller, r.spec.Tools.Offers, r.spec.Limits.Turns = room, roomTools, 3
		reply, _, err := r.say(t, r.start(t), agent.Message{Text: "Go."})
		if err != nil || reply.Stopped != "turn limit" || len(room.calls) != 3 || len(r.stub.Requests()) != 3 {
			t.Errorf("%+v, %v, %v", reply, err, room.calls)
		}
	})
}

const form = `{"type":"object","required":["n"],"additionalProperties":false,"properties":{"n":{"type":"integer"}}}`

// TestStructuredAnswers: natively; in words where the server knows no form, which
// is remembered; and once more where the answer does not fit.
func TestStructuredAnswers(t *testing.T) {
	native := map[gateway.Kind]string{
		gateway.Anthropic: `"output_config":{"format":{`, gateway.OpenAI: `"text":{"format":{`,
		gateway.Chat: `"response_format":{`, gateway.Gemini: `"responseJsonSchema":{`,
	}
	eachKind(t, func(t *testing.T, kind gateway.Kind) {
		t.Run("native", func(t *testing.T) {
			r := newRig(t, kind, modelstub.Script(modelstub.Answer(say(`{"n":1}`))))
			reply, _, err := r.say(t, r.start(t), agent.Message{Text: "How many?", Schema: json.RawMessage(form)})
			if err != nil || string(reply.Structured) != `{"n":1}` {
				t.Fatalf("%+v, %v", reply, err)
			}
			if sent := r.sent(t, 0); !strings.Contains(sent, native[kind]) || strings.Contains(sent, "and with nothing else") {
				t.Errorf("asked for by %s", sent)
			}
			if e := r.entry(t, transcript.SystemEvent, "structured_answer"); !strings.Contains(string(e.Detail), `"way":"native"`) {
				t.Errorf("%s", e.Detail)
			}
		})
		t.Run("in words", func(t *testing.T) {
			r := newRig(t, kind, modelstub.Script(modelstub.Fail(400, "json_schema is not known here"),
				modelstub.Answer(say("It is:\n```json\n{\"n\": 2}\n```")), modelstub.Answer(say(`{"n":3}`))))
			s := r.start(t)
			for i, want := range []string{`{"n":2}`, `{"n":3}`} {
				reply, _, err := r.say(t, s, agent.Message{Text: "How many?", Schema: json.RawMessage(form)})
				if err != nil || string(reply.Structured) != want {
					t.Fatalf("%+v, %v", reply, err)
				}
				if sent := r.sent(t, i+1); strings.Contains(sent, native[kind]) || strings.Count(sent, "and with nothing else") != 1 {
					t.Errorf("asked for by %s", sent)
				}
			}
			if e := r.entry(t, transcript.SystemEvent, "structured_answer"); !strings.Contains(string(e.Detail), `"way":"instruction"`) {
				t.Errorf("%s", e.Detail)
			}
			if e := r.entry(t, transcript.SystemEvent, "asked_again"); !strings.Contains(string(e.Raw), "json_schema is not known") {
				t.Errorf("%s", e.Raw)
			}
		})
		t.Run("corrected", func(t *testing.T) {
			r := newRig(t, kind, modelstub.Script(modelstub.Answer(say(`{"n":"many"}`)), modelstub.Answer(say(`{"n":4}`)),
				modelstub.Answer(say("No.")), modelstub.Answer(say("No!"))))
			s := r.start(t)
			reply, _, err := r.say(t, s, agent.Message{Text: "How many?", Schema: json.RawMessage(form)})
			if err != nil || string(reply.Structured) != `{"n":4}` {
				t.Fatalf("%+v, %v", reply, err)
			}
			if sent := r.sent(t, 1); !strings.Contains(sent, "not in the form that was asked for") {
				t.Errorf("corrected by %s", sent)
			}
			reply, _, err = r.say(t, s, agent.Message{Text: "How many?", Schema: json.RawMessage(form)})
			if err != nil || reply.Structured != nil || len(r.stub.Requests()) != 4 {
				t.Errorf("%+v, %v", reply, err)
			}
			r.entry(t, transcript.SystemEvent, "no_structured_answer")
		})
	})
}

// TestRefusals are errors that say so, never an empty answer.
func TestRefusals(t *testing.T) {
	eachKind(t, func(t *testing.T, kind gateway.Kind) {
		r := newRig(t, kind, modelstub.Script(modelstub.Answer(modelstub.Refuse("I would rather not."))))
		_, _, err := r.say(t, r.start(t), agent.Message{Text: "Go."})
		if err == nil || !strings.Contains(err.Error(), "the model refused to answer (") {
			t.Errorf("refused: %v", err)
		}
		r.entry(t, transcript.Error, "")
		r = newRig(t, kind, modelstub.Script(modelstub.Answer()))
		if _, _, err := r.say(t, r.start(t), agent.Message{Text: "Go."}); err == nil || !strings.Contains(err.Error(), "without a word") {
			t.Errorf("nothing: %v", err)
		}
	})
}

// TestOutputLimit: an answer that is as long as answers may be is given, and said
// to be one; one that used all of it for thoughts is an error.
func TestOutputLimit(t *testing.T) {
	eachKind(t, func(t *testing.T, kind gateway.Kind) {
		r := newRig(t, kind, modelstub.Script(
			modelstub.Reply{Blocks: []modelstub.Block{say("One and")}, StopReason: "max_tokens"},
			modelstub.Reply{Blocks: []modelstub.Block{modelstub.Think("Hm.")}, StopReason: "max_tokens"}))
		s := r.start(t)
		reply, _, err := r.say(t, s, agent.Message{Text: "Go."})
		if err != nil || reply.Stopped != "output limit" || reply.Text != "One and" {
			t.Errorf("%+v, %v", reply, err)
		}
		r.entry(t, transcript.SystemEvent, "output_limit")
		if _, _, err := r.say(t, s, agent.Message{Text: "Go."}); err == nil || !strings.Contains(err.Error(), "before it said a word") {
			t.Errorf("%v", err)
		}
	})
}

// overflow is how each API says that a conversation does not fit.
var overflow = map[gateway.Kind]modelstub.Reply{
	gateway.Anthropic: {Status: 400, ErrorType: "invalid_request_error", ErrorMessage: "prompt is too long: 210000 tokens > 200000 maximum"},
	gateway.OpenAI:    {Status: 400, ErrorType: "context_length_exceeded", ErrorMessage: "Your input exceeds the context window of this model."},
	gateway.Chat:      {Status: 400, ErrorMessage: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens."},
	gateway.Gemini:    {Status: 400, ErrorMessage: "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576)."},
}

// TestContextLimit: older results go first, then older messages; never the
// system text, the first message or the current one; each time it is said.
func TestContextLimit(t *testing.T) {
	long := strings.Repeat("gold and silver ", 200)
	eachKind(t, func(t *testing.T, kind gateway.Kind) {
		fits := 1 << 30
		r := newRig(t, kind, func(q modelstub.Request) modelstub.Reply {
			switch {
			case len(q.Body) > fits:
				return overflow[kind]
			case len(q.ToolResults()) == 0 && strings.Contains(q.LastUser(), "look"):
				return modelstub.Answer(modelstub.Call("roll", "", `{}`))
			}
			return modelstub.Answer(say("An answer of some length: " + long))
		})
		r.spec.Tools.Caller, r.spec.Tools.Offers = longCaller(long+"RESULT"), roomTools
		s := r.start(t)
		ask := func(text string) error {
			_, _, err := r.say(t, s, agent.Message{Text: text})
			return err
		}
		for i := range 4 {
			if err := ask(fmt.Sprintf("question %d, look", i)); err != nil {
				t.Fatal(err)
			}
		}
		size := len(r.sent(t, len(r.stub.Requests())-1))
		last := func() string { return r.sent(t, len(r.stub.Requests())-1) }

		fits = size - 100 // a little too long: results go
		if err := ask("question 4"); err != nil {
			t.Fatal(err)
		}
		if got := last(); strings.Contains(got, "RESULT") || !strings.Contains(got, "bytes that roll gave; call it again") || !strings.Contains(got, "question 1") {
			t.Errorf("%s", got)
		}
		if e := r.entry(t, transcript.SystemEvent, "left_out"); !strings.Contains(string(e.Detail), "4 results of older calls") {
			t.Errorf("%s", e.Detail)
		}

		fits = len(last()) - 1000 // far too long: messages go
		if err := ask("question 5"); err != nil {
			t.Fatal(err)
		}
		if got := last(); !strings.Contains(got, "question 0") || strings.Contains(got, "question 1") || !strings.Contains(got, "question 5") ||
			!strings.Contains(got, "earlier messages)") || !strings.Contains(got, "You are the Cat.") {
			t.Errorf("%s", got)
		}
		if e := r.entry(t, transcript.SystemEvent, "left_out"); !strings.Contains(string(e.Detail), "earlier messages") {
			t.Errorf("%s", e.Detail)
		}

		fits = 10 // nothing helps
		err := ask("question 6 " + long)
		if err == nil || !strings.Contains(err.Error(), "nothing more can be left out (system text 16 bytes, messages that must stay") ||
			!strings.Contains(err.Error(), overflow[kind].ErrorMessage) {
			t.Errorf("%v", err)
		}
		if len(r.told) < 3 {
			t.Errorf("the person was told %q", r.told)
		}
	})
}

// TestPast: a session that is resumed goes on with what its record tells.
func TestPast(t *testing.T) {
	eachKind(t, func(t *testing.T, kind gateway.Kind) {
		r := newRig(t, kind, modelstub.Script(modelstub.Answer(say("Yes.")), modelstub.Answer(say("Still."))))
		r.spec.Resume = "model-before"
		r.spec.Past = []agent.Exchange{
			{Told: "first question", Said: "first answer", Calls: []agent.PastCall{{Tool: "roll", Input: `{"expr":"1d20"}`, Ended: true, Result: "17"}}},
			{Told: "second question", Said: "second answer"},
		}
		s := r.start(t)
		for range 2 {
			if _, _, err := r.say(t, s, agent.Message{Text: "Do you remember?"}); err != nil {
				t.Fatal(err)
			}
		}
		if s.Info().SessionID != "model-before" {
			t.Errorf("the session is %s", s.Info().SessionID)
		}
		sent := r.sent(t, 1)
		at := 0
		for _, want := range []string{"first question", "first answer", "roll with", "were told: 17", "second question", "second answer", "Do you remember?", "Yes.", "Do you remember?"} {
			i := strings.Index(sent[at:], want)
			if i < 0 {
				t.Fatalf("%q is missing or in another order: %s", want, sent)
			}
			at += i
		}
		if got := strings.Join(r.types(), "|"); strings.Count(got, "system_event resumed") != 1 {
			t.Errorf("the record has %s", got)
		}
		r.spec.Fork = true
		if id := r.start(t).Info().SessionID; id == "model-before" || id == "" {
			t.Errorf("a fork is called %q", id)
		}
	})
}

// TestPastByTheByte: a session that is resumed sends, byte for byte, what one
// that was never interrupted sends.
func TestPastByTheByte(t *testing.T) {
	eachKind(t, func(t *testing.T, kind gateway.Kind) {
		cut := modelstub.Reply{Blocks: []modelstub.Block{say("It will be cut off here.")}, CutBefore: 90}
		held := modelstub.Answer(say("Half an"))
		held.Hold = make(chan struct{})
		replies := []modelstub.Reply{
			modelstub.Answer(modelstub.Think("Hm."), say("I look."), modelstub.Call(ReadFile, "c1", `{"path":"README.md"}`),
				modelstub.Call("roll", "c2", `{"expr":"1d20"}`), modelstub.Call("fail", "c3", `{}`)),
			cut, modelstub.Answer(modelstub.Think("So."), say("Done.")),
			modelstub.Answer(say(`{"n":"x"}`)), modelstub.Answer(say(`{"n":4}`)),
			held,
			{Blocks: []modelstub.Block{say("As long as")}, StopReason: "max_tokens"},
			modelstub.Answer(say("The end.")),
		}
		r := newRig(t, kind, modelstub.Script(append(replies, replies[len(replies)-1])...))
		r.spec.Tools.Caller, r.spec.Tools.Offers = &caller{}, roomTools
		s := r.start(t)
		for _, m := range []agent.Message{{Text: "one"}, {Text: "two", Schema: json.RawMessage(form)}, {Text: "three"}, {Text: "four"}} {
			turn, err := s.Send(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			for heard := ""; m.Text == "three" && heard != "Half an"; {
				e, err := turn.Next()
				if err != nil {
					t.Fatal(err)
				}
				heard += e.Delta
			}
			if m.Text == "three" {
				_ = turn.(agent.Interrupter).Interrupt(t.Context())
			}
			if _, _, err := agenttest.Drain(turn); err != nil {
				t.Fatal(err)
			}
		}
		past := turnsOf(r.store.Entries())
		if len(past) != 4 {
			t.Fatalf("%d turns", len(past))
		}
		if _, _, err := r.say(t, s, agent.Message{Text: "five"}); err != nil {
			t.Fatal(err)
		}
		r.spec.Resume, r.spec.Past = s.Info().SessionID, past
		if _, _, err := r.say(t, r.start(t), agent.Message{Text: "five"}); err != nil {
			t.Fatal(err)
		}
		n := len(r.stub.Requests())
		if live, again := r.sent(t, n-2), r.sent(t, n-1); live != again {
			t.Errorf("live:    %s\nresumed: %s", live, again)
		}
		if e := r.entry(t, transcript.SystemEvent, "resumed"); !strings.Contains(string(e.Detail), "as it was") {
			t.Errorf("%s", e.Detail)
		}

		// What is no turn of this package is known by its words.
		for _, spoil := range []func(*agent.Exchange){
			func(x *agent.Exchange) { x.Entries[0].Adapter = transcript.AdapterClaude },
			func(x *agent.Exchange) { x.Entries = nil },
			func(x *agent.Exchange) { x.Entries = x.Entries[:2] },
		} {
			spoilt := turnsOf(r.store.Entries())[:1]
			spoil(&spoilt[0])
			spoilt[0].Told, spoilt[0].Said = "one", "I look.\n\nDone."
			talk, _, exact := remembered(apis[kind], spoilt)
			if exact || len(talk) != 2 || talk[1].answer.text() != "I look.\n\nDone." {
				t.Errorf("%+v", talk)
			}
		}
	})
}

// turnsOf are the turns that entries tell of.
func turnsOf(entries []transcript.Entry) (out []agent.Exchange) {
	for _, e := range entries {
		if e.Type == transcript.UserMessage && !strings.Contains(string(e.Detail), `"subtype":"correction"`) {
			out = append(out, agent.Exchange{})
		}
		x := &out[len(out)-1]
		x.Entries = append(x.Entries, e)
	}
	return out
}

// TestImages are sent in the form of each API.
func TestImages(t *testing.T) {
	want := map[gateway.Kind]string{
		gateway.Anthropic: `"source":{"data":"R0lG","media_type":"image/gif","type":"base64"}`, gateway.OpenAI: `"image_url":"data:image/gif;base64,R0lG"`,
		gateway.Chat: `"image_url":{"url":"data:image/gif;base64,R0lG"}`, gateway.Gemini: `"inlineData":{"data":"R0lG","mimeType":"image/gif"}`,
	}
	eachKind(t, func(t *testing.T, kind gateway.Kind) {
		r := newRig(t, kind, modelstub.Script(modelstub.Answer(say("A cat."))))
		s := r.start(t)
		if _, _, err := r.say(t, s, agent.Message{Text: "What is it?", Images: []agent.Image{{Type: "image/gif", Data: []byte("GIF")}}}); err != nil {
			t.Fatal(err)
		}
		if sent := r.sent(t, 0); !strings.Contains(sent, want[kind]) {
			t.Errorf("%s", sent)
		}
		if e := r.entry(t, transcript.UserMessage, ""); !strings.Contains(string(e.Detail), `"images":[{"type":"image/gif","bytes":3`) {
			t.Errorf("%s", e.Detail)
		}
		if _, err := s.Send(t.Context(), agent.Message{Images: []agent.Image{{Type: "text/html", Data: []byte("x")}}}); err == nil {
			t.Error("a page is taken for an image")
		}
	})
}

// TestInterruptedAnswers are remembered by their words, and calls without a
// result are not.
func TestInterruptedAnswers(t *testing.T) {
	eachKind(t, func(t *testing.T, kind gateway.Kind) {
		held := modelstub.Answer(modelstub.Call("roll", "c1", `{}`), say("So far"))
		if kind == gateway.Chat {
			held = modelstub.Answer(say("So far"))
		}
		held.Hold = make(chan struct{})
		r := newRig(t, kind, modelstub.Script(held, modelstub.Answer(say("On."))))
		r.spec.Tools.Caller, r.spec.Tools.Offers = &caller{}, roomTools
		s := r.start(t)
		turn, err := s.Send(t.Context(), agent.Message{Text: "Go."})
		if err != nil {
			t.Fatal(err)
		}
		for heard := ""; heard != "So far"; {
			e, err := turn.Next()
			if err != nil {
				t.Fatal(err)
			}
			heard += e.Delta
		}
		if err := turn.(agent.Interrupter).Interrupt(t.Context()); err != nil {
			t.Fatal(err)
		}
		reply, _, err := agenttest.Drain(turn)
		if err != nil || reply.Text != "So far" || reply.Stopped != "interrupted" {
			t.Fatalf("%+v, %v", reply, err)
		}
		if _, _, err := r.say(t, s, agent.Message{Text: "Go on."}); err != nil {
			t.Fatal(err)
		}
		if sent := r.sent(t, 1); !strings.Contains(sent, "So far") || strings.Contains(sent, `"c1"`) {
			t.Errorf("%s", sent)
		}
		entries, seen := r.spent(t)
		if entries != seen {
			t.Errorf("the record says %+v, the gateway %+v", entries, seen)
		}
	})
}

// TestStarts that cannot be.
func TestStarts(t *testing.T) {
	r := newRig(t, gateway.Anthropic, modelstub.Script())
	for says, change := range map[string]func(*agent.Spec){
		"there is no gateway": func(s *agent.Spec) { s.Model.Dial = nil },
		"say which model":     func(s *agent.Spec) { s.Model.Name = "" },
		"no emitter":          func(s *agent.Spec) { s.Emitter = nil },
	} {
		spec := r.spec
		change(&spec)
		if _, err := r.agent.Start(t.Context(), spec); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
	if _, err := New(Config{Kind: "smoke"}).Start(t.Context(), r.spec); err == nil || !strings.Contains(err.Error(), `no API is called "smoke"`) {
		t.Error(err)
	}
	for _, kind := range gateway.Kinds() {
		if apis[kind] == nil {
			t.Errorf("the gateway speaks %s, and nobody here does", kind)
		}
	}
}

// TestBudgetWithinAnAnswer: the gateway cuts it, what was said stands on the
// record, and the error says why.
func TestBudgetWithinAnAnswer(t *testing.T) {
	eachKind(t, func(t *testing.T, kind gateway.Kind) {
		r := newRig(t, kind, func(modelstub.Request) modelstub.Reply {
			return modelstub.Answer(say(strings.Repeat("words and words ", 60_000)))
		})
		tight, err := gateway.New(gateway.Options{Upstream: gateway.Upstream{Kind: kind, BaseURL: r.stub.URL(), Key: theKey},
			Models: []string{"*"}, Blobs: r.blobs, Budget: gateway.Budget{Tokens: 10_000}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tight.Close() })
		r.spec.Model.Dial, r.spec.Model.Token, r.gateway = tight.Dial, tight.Token(), tight
		reply, _, err := r.say(t, r.start(t), agent.Message{Text: "Go."})
		if err == nil || !strings.Contains(err.Error(), "the answer was cut: it passed the budget of 10000 tokens") ||
			len(r.stub.Requests()) != 1 || len(r.pauses) > 0 || tight.Observed().Refused > 0 {
			t.Errorf("%v after %d requests, %v, and %d refusals", err, len(r.stub.Requests()), r.pauses, tight.Observed().Refused)
		}
		entries, seen := r.spent(t)
		if entries != seen || reply.Usage.Tokens() != seen || seen.Output == 0 {
			t.Errorf("the record says %+v, the reply %+v, the gateway %+v", entries, reply.Usage, seen)
		}
	})
}

// TestBudget: what the gateway refuses is not tried again, and says why.
func TestBudget(t *testing.T) {
	eachKind(t, func(t *testing.T, kind gateway.Kind) {
		r := newRig(t, kind, modelstub.Script(modelstub.Answer(modelstub.Call(ListFiles, "", `{}`)), modelstub.Answer(say("Never."))))
		tight, err := gateway.New(gateway.Options{Upstream: gateway.Upstream{Kind: kind, BaseURL: r.stub.URL(), Key: theKey},
			Models: []string{"*"}, Blobs: r.blobs, Budget: gateway.Budget{Tokens: 50}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tight.Close() })
		r.spec.Model.Dial, r.spec.Model.Token = tight.Dial, tight.Token()
		_, _, err = r.say(t, r.start(t), agent.Message{Text: "Go."})
		if err == nil || !strings.Contains(err.Error(), "the budget of 50 tokens does not cover this request") || len(r.pauses) > 0 {
			t.Errorf("%v after %v", err, r.pauses)
		}
	})
}
