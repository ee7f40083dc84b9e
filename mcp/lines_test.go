package mcp_test

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"conclave/app"
)

// A line that is no message is answered at once, whatever it opens, and the next
// one is heard.
func TestLinesThatAreNoMessages(t *testing.T) {
	p := newPlace(t)
	theirs, ours := io.Pipe()
	heard, said := io.Pipe()
	done := make(chan error, 1)
	s := p.server(app.Remote{})
	go func() { done <- s.Serve(t.Context(), theirs, said) }()
	answers := bufio.NewReader(heard)
	answer := func() (m struct {
		ID     any
		Error  *struct{ Code int }
		Result any
	}) {
		t.Helper()
		line, err := answers.ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(line, &m)
		}
		if err != nil {
			t.Fatalf("%v: %.200s", err, line)
		}
		return m
	}
	say := func(line string) {
		t.Helper()
		if _, err := io.WriteString(ours, line); err != nil {
			t.Fatal(err)
		}
	}
	say(hello)
	if m := answer(); m.Result == nil {
		t.Fatalf("the greeting: %+v", m)
	}
	for name, line := range map[string]string{
		"open brackets": strings.Repeat("[", 5000) + "\n",
		"open braces":   strings.Repeat(`{"a":`, 5000) + "\n",
		"half":          `{"jsonrpc":"2.0","id":7,"meth` + "\n",
		"an open text":  `{"jsonrpc":"2.0","id":7,"method":"ping` + "\r\n",
		"words":         "hello\n",
		"two in one":    `{"jsonrpc":"2.0","id":7,"method":"ping"}{"jsonrpc":"2.0","id":8,"method":"ping"}` + "\n",
		"5 MB": `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":"` +
			strings.Repeat("a", 5<<20) + `"}}` + "\n",
	} {
		say(line)
		if m := answer(); m.ID != nil || m.Error == nil || m.Error.Code != -32700 {
			t.Errorf("%s: %+v", name, m)
		}
		say("\n" + `{"jsonrpc":"2.0","id":9,"method":"ping"}` + "\n")
		if m := answer(); m.ID != 9.0 || m.Result == nil {
			t.Errorf("after %s: %+v", name, m)
		}
	}
	ours.Close()
	go func() { _, _ = io.Copy(io.Discard, heard) }()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
