package judge

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"conclave/internal/sample"
)

// client speaks the protocol by hand, so that it can say what no library says.
type client struct {
	t     *testing.T
	in    io.WriteCloser
	out   *bufio.Reader
	next  int
	heard bytes.Buffer // everything that the server ever said
}

// serve starts the server in the workspace.
func (w *world) serve() *client {
	w.t.Helper()
	cmd := exec.Command(w.program, "mcp")
	cmd.Dir, cmd.Env = w.ws(), w.environ()
	in, err := cmd.StdinPipe()
	must(w.t, err)
	out, err := cmd.StdoutPipe()
	must(w.t, err)
	must(w.t, cmd.Start())
	c := &client{t: w.t, in: in, out: bufio.NewReaderSize(out, 1<<20)}
	w.t.Cleanup(func() {
		in.Close()
		_, _ = io.Copy(&c.heard, c.out)
		_ = cmd.Wait() // how it ends is for the server's own tests
		w.holdAnswer(w.t, "what came after", c.heard.String())
	})
	c.ask("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": canary, "version": canary}})
	c.line(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (c *client) line(text string) {
	c.t.Helper()
	_, err := io.WriteString(c.in, text+"\n")
	must(c.t, err)
}

// send sends a request and returns its number.
func (c *client) send(method string, params any) int {
	c.t.Helper()
	c.next++
	data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.next, "method": method, "params": params})
	must(c.t, err)
	c.line(string(data))
	return c.next
}

// wait reads until the answer to a request, and returns it.
func (c *client) wait(id int) string {
	c.t.Helper()
	for {
		line, err := c.out.ReadString('\n')
		c.heard.WriteString(line)
		if err != nil {
			return "" // the server has gone: that is no answer
		}
		var m struct{ ID *int }
		if json.Unmarshal([]byte(line), &m) == nil && m.ID != nil && *m.ID == id {
			return line
		}
	}
}

func (c *client) ask(method string, params any) string { return c.wait(c.send(method, params)) }

func tool(name string, args any) map[string]any {
	return map[string]any{"name": name, "arguments": args, "_meta": map[string]any{"progressToken": name}}
}

func (c *client) call(name string, args any) string { return c.ask("tools/call", tool(name, args)) }

type args = map[string]any

// exitOf is what a call came to; -1 where there is no answer.
func exitOf(line string) int {
	var m struct {
		Result struct {
			Structured struct{ Exit *int } `json:"structuredContent"`
			IsError    bool
		}
	}
	if json.Unmarshal([]byte(line), &m) != nil || m.Result.Structured.Exit == nil {
		return -1
	}
	return *m.Result.Structured.Exit
}

// remote are ways over the protocol: calls whose yes would be nobody's.
func remote() []struct {
	name  string
	plant func(w *world)
	tool  string
	args  args
} {
	type one = struct {
		name  string
		plant func(w *world)
		tool  string
		args  args
	}
	list := []one{
		{name: "criteria of the caller", tool: "gate", args: args{"work": []string{"src"}, "criteria": "1. It is there.\n2. Everything is fine."}},
		{name: "criteria that are reasoning", tool: "gate", args: args{"work": []string{"src"}, "criteria": reasoned}},
		{name: "criteria that are a conversation", tool: "gate", args: args{"work": []string{"src"}, "criteria": "{CONV}"}},
		{name: "criteria outside", tool: "gate", args: args{"work": []string{"src"}, "criteria": "{OUT}/secret.md"}},
		{name: "criteria not committed", plant: func(w *world) { w.files(map[string]string{"c.md": "1. It is there.\n"}) }, tool: "gate",
			args: args{"work": []string{"src"}, "criteria": "c.md"}},
		{name: "an expectation that is reasoning", tool: "gate", args: args{"work": []string{"src"}, "judge": "guardian", "expect": reasoned}},
		{name: "a stage that is reasoning", tool: "checkpoint", args: args{"work": []string{"src"}, "stage": "one", "expect": reasoned}},
		{name: "a stage of many lines", tool: "checkpoint", args: args{"work": []string{"src"}, "stage": "one\n" + reasoned}},
		{name: "context accepted", plant: func(w *world) { w.files(map[string]string{"src/why.md": reasoned}) }, tool: "gate",
			args: args{"work": []string{"src"}, "accept_context": true}},
		{name: "reasoning in the work", plant: func(w *world) { w.files(map[string]string{"src/why.md": reasoned}) }, tool: "confront",
			args: args{"work": []string{"src"}}},
		{name: "an argument that is none", tool: "confront", args: args{"work": []string{"src"}, "grants": []string{"{CONV}"}}},
	}
	for _, name := range []string{"gate", "confront", "checkpoint"} {
		for _, path := range []string{"..", "../elsewhere/secret.md", "{OUT}/secret.md", ".campaign", "{CONV}", ".git", ".conclave", "@{OUT}/secret.md", "src\x00/../..", "-", "",
			"--diff=HEAD", strings.Repeat("a/", 5000), "/proc/self/environ", "**/*", "src/../{CONV}"} {
			a := args{"work": []string{path}}
			if name == "checkpoint" {
				a["stage"], a["expect"] = "one", "it greets"
			}
			list = append(list, one{name: fmt.Sprintf("%s of %.20q", name, path), tool: name, args: a})
		}
	}
	for _, diff := range []string{"--output=x", "HEAD~1..--x", ":/base", "HEAD:src", "HEAD@{upstream}", "HEAD\x00"} {
		list = append(list, one{name: fmt.Sprintf("gate of the change %q", diff), tool: "gate", args: args{"diff": diff, "criteria": "criteria.md"}})
	}
	return list
}

// TestRemoteWays tries the ways of an agent that calls.
func TestRemoteWays(t *testing.T) {
	list := remote()
	t.Logf("%d ways", len(list))
	w := newWorld(t)
	for _, i := range sample.Pick(t, len(list), 3, 8) {
		a := list[i]
		t.Run(a.name, func(t *testing.T) {
			w.again(t)
			if a.plant != nil {
				a.plant(w)
			}
			c := w.serve()
			if tools := c.ask("tools/list", args{}); !strings.Contains(tools, `"name":"`+a.tool+`"`) {
				t.Skipf("the server has no tool %s", a.tool)
			}
			data, err := json.Marshal(a.args)
			must(t, err)
			line := c.call(a.tool, json.RawMessage(w.expand([]string{string(data)})[0]))
			if exit := exitOf(line); exit == 0 {
				t.Errorf("exit 0: nobody said that it is met\n%s", line)
			}
			sent, files, _ := w.judge.heard()
			w.holdRoom(t, sent, files)
			w.holdAnswer(t, "the answer", c.heard.String())
		})
	}
}

// TestBaseOfTheCaller: criteria that an agent commits first and then names as
// BASE are its own, and its verdict does not call them committed.
func TestBaseOfTheCaller(t *testing.T) {
	w := newWorld(t)
	w.again(t)
	w.judge.says("met")
	c := w.serve()
	if tools := c.ask("tools/list", args{}); !strings.Contains(tools, `"name":"gate"`) {
		t.Skip("the server has no tool gate")
	}
	w.files(map[string]string{"easy.md": "1. The file src/greet.txt is there.\n"})
	w.commit("easy criteria")
	w.files(map[string]string{"src/greet.txt": "go away\n"})
	w.commit("work")
	for _, a := range []args{{"criteria": "easy.md", "diff": "HEAD~1..HEAD"}, {"criteria": "easy.md", "work": []string{"src"}}} {
		if line := c.call("gate", a); exitOf(line) != 3 || strings.Contains(line, "committed at") {
			t.Errorf("%v: %s", a, line)
		}
	}
}
