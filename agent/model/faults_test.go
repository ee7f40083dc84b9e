package model

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"conclave/agent"
	"conclave/gateway"
	"conclave/internal/modelstub"
	"conclave/internal/sample"
	"conclave/transcript"
)

// TestCutAtEveryByte: an answer that breaks off before any of its bytes is asked
// for again. No byte that came is lost, none is kept twice, no token is counted in
// two ways, and no tool is called for an answer that was not whole.
func TestCutAtEveryByte(t *testing.T) {
	eachKind(t, func(t *testing.T, kind gateway.Kind) {
		whole := modelstub.Answer(modelstub.Think("Hm, hm."), say("Größe, 🐉 and more."),
			modelstub.Call("roll", "c1", `{"expr":"1d20"}`), modelstub.Call("roll", "c2", `{"expr":"2d6"}`))
		length := 0
		run := func(t *testing.T, cut int) {
			first := whole
			first.CutBefore = cut
			asked := 0
			r := newRig(t, kind, func(q modelstub.Request) modelstub.Reply {
				asked++
				switch {
				case len(q.ToolResults()) > 0: // an answer that had all but its last event is whole
					return modelstub.Answer(say("Done."))
				case asked == 1:
					return first
				}
				return whole
			})
			room := &caller{}
			r.spec.Tools.Caller, r.spec.Tools.Offers = room, roomTools
			reply, _, err := r.say(t, r.start(t), agent.Message{Text: "Go."})
			if err != nil || reply.Text != "Größe, 🐉 and more.\n\nDone." {
				t.Fatalf("cut before byte %d: %+v, %v", cut, reply, err)
			}
			if got := strings.Join(room.calls, "|"); got != `roll {"expr":"1d20"}|roll {"expr":"2d6"}` {
				t.Errorf("cut before byte %d: the room was asked %s", cut, got)
			}
			entries, seen := r.spent(t)
			if entries != seen || reply.Usage.Tokens() != seen {
				t.Errorf("cut before byte %d: the record says %+v, the reply %+v, the gateway %+v", cut, entries, reply.Usage, seen)
			}
			var came []byte
			for channel, data := range r.blobs.data {
				if strings.HasPrefix(channel, "gateway.response/") {
					came = append(came, data...)
				}
			}
			if length == 0 {
				length = len(r.stub.Exchanges()[0].Sent)
			}
			kept := r.whole()
			slices.Sort(came)
			slices.Sort(kept)
			if !bytes.Equal(came, kept) {
				t.Errorf("cut before byte %d: %d bytes came, %d are kept", cut, len(came), len(kept))
			}
			r.store.Check(t)
		}
		run(t, 0)
		for _, n := range sample.Pick(t, length-1, 10, 60) {
			run(t, n+2)
		}
	})
}

// TestStrangeStreams: an event that is no JSON is kept as unknown, and one that
// never ends is left.
func TestStrangeStreams(t *testing.T) {
	eachKind(t, func(t *testing.T, kind gateway.Kind) {
		r := newRig(t, kind, modelstub.Script(modelstub.Reply{Blocks: []modelstub.Block{say("All of it.")}, Malformed: true}))
		reply, _, err := r.say(t, r.start(t), agent.Message{Text: "Go."})
		if err != nil || reply.Text != "All of it." {
			t.Errorf("malformed: %+v, %v", reply, err)
		}
		if e := r.entry(t, transcript.Unknown, ""); len(e.Raw) == 0 {
			t.Errorf("malformed: %s", e.Detail)
		}

		r = newRig(t, kind, modelstub.Script(modelstub.Reply{Blocks: []modelstub.Block{say("On and on.")}, Endless: true}))
		r.agent.longest = 1 << 20
		_, _, err = r.say(t, r.start(t), agent.Message{Text: "Go."})
		if err == nil || !strings.Contains(err.Error(), "the stream does not end: after 1") || len(r.stub.Requests()) != 1 {
			t.Errorf("endless: %v", err)
		}

		r = newRig(t, kind, modelstub.Script(modelstub.Reply{Blocks: []modelstub.Block{say("A page.")}, ContentType: "text/html"}))
		_, _, err = r.say(t, r.start(t), agent.Message{Text: "Go."})
		if err == nil || !strings.Contains(err.Error(), "answered with text/html where a stream of events was asked for") {
			t.Errorf("a page: %v", err)
		}
	})
}

// TestInterleavedThinking: thoughts go back with what the provider signed of
// them, in their place between the calls.
func TestInterleavedThinking(t *testing.T) {
	eachKind(t, func(t *testing.T, kind gateway.Kind) {
		think := func(n int) modelstub.Block {
			return modelstub.Block{Kind: modelstub.Thinking, Text: fmt.Sprintf("thought %d", n), Signature: fmt.Sprintf("sig-%d", n)}
		}
		r := newRig(t, kind, modelstub.Script(
			modelstub.Answer(think(1), modelstub.Call(ListFiles, "c1", `{}`)),
			modelstub.Answer(think(2), say("So."), modelstub.Call(ListFiles, "c2", `{}`)),
			modelstub.Answer(say("Done."))))
		if _, _, err := r.say(t, r.start(t), agent.Message{Text: "Go."}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(r.types(), " "); strings.Count(got, "thinking") != 2 {
			t.Errorf("the record has %s", got)
		}
		sent := r.sent(t, 2)
		at := 0
		order := []string{"sig-1", "c1", "sig-2", "So.", "c2"}
		switch kind {
		case gateway.Chat: // it has none to take back
			order = []string{"c1", "So.", "c2"}
		case gateway.Gemini: // it signs the calls
			order = []string{`"id":"c1"`, "thoughtSignature", "So.", `"id":"c2"`, "thoughtSignature"}
		}
		for _, want := range order {
			i := strings.Index(sent[at:], want)
			if i < 0 {
				t.Fatalf("%q is missing or in another order: %s", want, sent)
			}
			at += i
		}
	})
}
