package jsonrpc

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestParseTellsTheKindsApart(t *testing.T) {
	tests := []struct {
		line string
		kind Kind
	}{
		{`{"id":1,"method":"turn/start","params":{"a":1}}`, Request},
		{`{"method":"item/tool/call","id":0,"params":{}}`, Request},
		{`{"method":"initialized"}`, Notification},
		{`{"method":"x","id":null}`, Notification},
		{`{"id":3,"result":{}}`, Response},
		{`{"id":"s","error":{"code":-1,"message":"no"}}`, Response},
		{`{"id":3}`, invalid},
		{`{}`, invalid},
		{`{"ID":1,"Method":"x"}`, invalid}, // names are exact
	}
	for _, tt := range tests {
		m, err := Parse([]byte(tt.line))
		if err != nil || m.Kind != tt.kind {
			t.Errorf("%s is %v (%v), want %v", tt.line, m.Kind, err, tt.kind)
		}
	}
	for _, line := range []string{``, `[]`, `"x"`, `{"id":1`, `nonsense`} {
		if _, err := Parse([]byte(line)); err == nil {
			t.Errorf("%q was accepted", line)
		}
	}
}

func TestParseKeepsTheBytes(t *testing.T) {
	m, err := Parse([]byte(`{"id" : "a\u0062" , "method":"m","params": {"z":1.0,  "a":"\u00e9"} }`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(m.ID), `"a\u0062"`; got != want {
		t.Errorf("id %s, want %s", got, want)
	}
	if got, want := string(m.Params), `{"z":1.0,  "a":"\u00e9"}`; got != want {
		t.Errorf("params %s, want %s", got, want)
	}
}

func TestErrorOfAResponse(t *testing.T) {
	m, _ := Parse([]byte(`{"id":1,"error":{"code":-32600,"message":"bad thread"}}`))
	var e *Error
	if err := m.Err(); !errors.As(err, &e) || e.Code != -32600 || err.Error() != "bad thread (code -32600)" {
		t.Errorf("error is %v", m.Err())
	}
	m, _ = Parse([]byte(`{"id":1,"error":"plain"}`))
	if err := m.Err(); err == nil || err.Error() != `"plain"` {
		t.Errorf("error is %v", err)
	}
	if m, _ = Parse([]byte(`{"id":1,"result":{}}`)); m.Err() != nil {
		t.Errorf("a result is an error: %v", m.Err())
	}
}

func TestBuiltLinesAreReadBack(t *testing.T) {
	line, err := NewRequest(7, "turn/start", map[string]any{"text": "two\nlines"})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"id":7,"method":"turn/start","params":{"text":"two\nlines"}}`; string(line) != want {
		t.Errorf("request %s, want %s", line, want)
	}
	if line, _ = NewNotification("initialized", nil); string(line) != `{"method":"initialized"}` {
		t.Errorf("notification %s", line)
	}
	if line, _ = NewResult([]byte(`"s"`), map[string]string{"decision": "decline"}); string(line) != `{"id":"s","result":{"decision":"decline"}}` {
		t.Errorf("result %s", line)
	}
	line, _ = NewFailure([]byte(`4`), &Error{Code: CodeMethodNotFound, Message: "no such method"})
	if m, err := Parse(line); err != nil || m.Kind != Response || m.Err() == nil {
		t.Errorf("failure %s is read as %v, %v", line, m.Kind, err)
	}
	versioned := Versioned(line)
	if m, err := Parse(versioned); err != nil || m.Kind != Response || !strings.HasPrefix(string(versioned), `{"jsonrpc":"2.0","id":4,`) {
		t.Errorf("versioned %s is read as %v, %v", versioned, m.Kind, err)
	}
	if _, err := NewRequest(1, "x", func() {}); err == nil {
		t.Error("a function was encoded")
	}
}

func TestReaderFramesOnNewlineOnly(t *testing.T) {
	long := strings.Repeat("x", 300_000)
	in := "{\"a\":\"\u2028\u0085\f\"}\r\n\n" + long + "\nlast without newline"
	want := []string{"{\"a\":\"\u2028\u0085\f\"}\r", "", long, "last without newline"}
	for name, r := range map[string]io.Reader{
		"whole": strings.NewReader(in), "by byte": iotest.OneByteReader(strings.NewReader(in)),
	} {
		lines := NewReader(r)
		for i, w := range want {
			if got, err := lines.Next(); err != nil || string(got) != w {
				t.Errorf("%s: line %d has %d bytes (%v), want %d", name, i, len(got), err, len(w))
			}
		}
		if _, err := lines.Next(); err != io.EOF {
			t.Errorf("%s: after the last line: %v", name, err)
		}
	}
}

func TestWriterWritesWholeLines(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out)
	line := make([]byte, 3, 16)
	copy(line, "abc")
	if err := w.WriteLine(line); err != nil || out.String() != "abc\n" {
		t.Errorf("wrote %q, %v", out.String(), err)
	}
	if line[:4][3] != 0 {
		t.Error("the caller's memory was written to")
	}
}

func TestCalls(t *testing.T) {
	var c Calls
	a, first := c.Begin()
	b, second := c.Begin()
	if a == b {
		t.Fatalf("two calls have the id %d", a)
	}
	m, _ := Parse([]byte(`{"id":1,"result":{"n":1}}`))
	if !c.Settle(m) || c.Settle(m) {
		t.Error("an answer is taken exactly once")
	}
	if got := <-first; string(got.Result) != `{"n":1}` {
		t.Errorf("answer %s", got.Result)
	}
	c.Close(io.ErrUnexpectedEOF)
	if _, ok := <-second; ok {
		t.Error("a wait survived the end of the connection")
	}
	if _, late := c.Begin(); true {
		if _, ok := <-late; ok || c.closed != io.ErrUnexpectedEOF {
			t.Errorf("a call after the end waits; err %v", c.closed)
		}
	}
}

// What Parse takes apart is a part of the line, byte for byte.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"id":1,"method":"m","params":{"a":[1,2]}}`))
	f.Add([]byte(`{"id":"x","result":null}`))
	f.Add([]byte(`{"method":"a\u2028b"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := Parse(line)
		if err != nil {
			return
		}
		for _, part := range [][]byte{m.ID, m.Params, m.Result, m.Error} {
			if part != nil && !bytes.Contains(line, part) {
				t.Fatalf("%q is not in %q", part, line)
			}
		}
	})
}
