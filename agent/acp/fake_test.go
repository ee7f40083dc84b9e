package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"conclave/agent"
	"conclave/agent/agenttest"
	"conclave/internal/jsonrpc"
	"conclave/internal/jsontext"
	"conclave/internal/proc"
	"conclave/room"
	"conclave/transcript"
)

// fakeVar holds what the fake program does; a process that has it is one.
const fakeVar = "CONCLAVE_FAKE_AGENT"

func TestMain(m *testing.M) {
	room.Init()
	if script := os.Getenv(fakeVar); script != "" {
		var f fake
		if err := json.Unmarshal([]byte(script), &f); err != nil {
			panic(err)
		}
		f.run()
		return
	}
	os.Exit(m.Run())
}

// fake is a program that speaks the protocol, as a process of its own.
type fake struct {
	Hello   string   // members of its capabilities, "" for all
	Version int      // of the protocol, 0 for ours
	Refuses string   // what it says to session/new
	Dies    string   // what it says on stderr, in place of an answer to a prompt
	Models  []string // that it has
	Turns   []fakeTurn

	lines *bufio.Scanner
}

// fakeTurn is what it does with a prompt: lines that are sent as they are, of
// which a request waits for its answer, and the end.
type fakeTurn struct {
	Plays []string
	Hangs bool
	Stop  string // "" for end_turn
	Fails string
}

func (f *fake) say(line string) {
	fmt.Println(strings.ReplaceAll(line, "\n", " "))
}

func (f *fake) next() (jsonrpc.Message, bool) {
	if !f.lines.Scan() {
		return jsonrpc.Message{}, false
	}
	m, err := jsonrpc.Parse([]byte(f.lines.Text()))
	return m, err == nil
}

func (f *fake) run() {
	f.lines = bufio.NewScanner(os.Stdin)
	f.lines.Buffer(nil, 64<<20)
	turn := 0
	for {
		m, ok := f.next()
		if !ok {
			return
		}
		answer := func(result string) {
			f.say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`)
		}
		switch m.Method {
		case "initialize":
			hello := f.Hello
			if hello == "" {
				hello = `{"loadSession":true,"promptCapabilities":{"image":true},"mcpCapabilities":{"http":true}}`
			}
			answer(fmt.Sprintf(`{"protocolVersion":%d,"agentCapabilities":%s,"agentInfo":{"name":"fake","version":"9.9"},`+
				`"authMethods":[{"id":"fake-login","name":"Log in"}]}`, max(f.Version, 1), hello))
		case "session/new":
			if f.Refuses != "" {
				f.say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32000,"message":"` + f.Refuses + `"}}`)
				continue
			}
			var models []string
			for _, name := range f.Models {
				models = append(models, fmt.Sprintf(`{"modelId":%q}`, name))
			}
			answer(`{"sessionId":"S","models":{"availableModels":[` + strings.Join(models, ",") + `]}}`)
		case "session/load":
			f.say(update(`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"long ago"}}`))
			f.say(update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I said that"}}`))
			answer(`{}`)
		case "session/prompt":
			if f.Dies != "" {
				fmt.Fprintln(os.Stderr, f.Dies)
				os.Exit(7)
			}
			t := f.Turns[turn]
			turn++
			if !f.play(t) {
				return
			}
			switch {
			case t.Hangs:
				answer(`{"stopReason":"cancelled"}`)
			case t.Fails != "":
				f.say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32603,"message":"` + t.Fails + `"}}`)
			case t.Stop != "":
				answer(`{"stopReason":"` + t.Stop + `"}`)
			default:
				answer(`{"stopReason":"end_turn","usage":{"inputTokens":100,"outputTokens":10}}`)
			}
		default:
			if m.Kind == jsonrpc.Request {
				answer(`{}`)
			}
		}
	}
}

// play says the lines of a turn, and waits for the answers to its requests and for
// its cancellation.
func (f *fake) play(t fakeTurn) bool {
	for _, line := range t.Plays {
		f.say(line)
		if m, _ := jsonrpc.Parse([]byte(line)); m.Kind == jsonrpc.Request {
			for {
				got, ok := f.next()
				if !ok {
					return false
				}
				if got.Kind == jsonrpc.Response {
					break
				}
			}
		}
	}
	for t.Hangs {
		m, ok := f.next()
		if !ok {
			return false
		}
		if m.Method == "session/cancel" {
			return true
		}
	}
	return true
}

func update(u string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S","update":` + u + `}}`
}

// says is a text in two pieces of one message.
func says(what, message, text string) []string {
	half := len(text) / 2
	for half < len(text) && text[half]&0xC0 == 0x80 {
		half++ // pieces are whole characters
	}
	var out []string
	for _, piece := range []string{text[:half], text[half:]} {
		out = append(out, update(fmt.Sprintf(`{"sessionUpdate":%q,"messageId":%q,"content":{"type":"text","text":%s}}`,
			what, message, jsontext.Quote(piece))))
	}
	return out
}

// agentOf is an agent whose program is the fake.
func agentOf(t *testing.T, f *fake) (*Agent, agent.Spec) {
	t.Helper()
	script, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(Options{Name: "fake", Program: Installation{Path: self},
		Described: &Description{Env: map[string]string{fakeVar: string(script)}}})
	if err != nil {
		t.Fatal(err)
	}
	room := t.TempDir()
	return a, agent.Spec{Place: agent.Place{Host: room, Guest: room}, Launcher: proc.Launcher{}}
}

// blobs is an agent.BlobStore in memory.
type blobs struct {
	mu   sync.Mutex
	data map[string]string
}

func (b *blobs) AppendBlob(channel string, data []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.data == nil {
		b.data = map[string]string{}
	}
	b.data[channel] += string(data)
	return nil
}

func (b *blobs) channel(name string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.data[name]
}

// play starts a session of the fake program.
func play(t *testing.T, f *fake, change func(*agent.Spec)) (agent.Session, *agenttest.Store, *blobs) {
	t.Helper()
	a, spec := agentOf(t, f)
	store, kept := &agenttest.Store{}, &blobs{}
	emitter, err := transcript.NewEmitter(transcript.Options{PromptName: "p", Adapter: a.Adapter(), Store: store})
	if err != nil {
		t.Fatal(err)
	}
	spec.Emitter, spec.Blobs = emitter, kept
	if change != nil {
		change(&spec)
	}
	s, err := a.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Errorf("stop: %v", err)
		}
		store.Check(t)
	})
	return s, store, kept
}

func ask(t *testing.T, s agent.Session, m agent.Message) (agent.Reply, error) {
	t.Helper()
	turn, err := s.Send(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	reply, _, err := agenttest.Drain(turn)
	return reply, err
}
