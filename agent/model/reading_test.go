package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"conclave/agent"
)

// TestReading: what the three tools give, and what they say where they give
// nothing.
func TestReading(t *testing.T) {
	view := fstest.MapFS{
		"a.md":           {Data: []byte("one\r\ntwo\nthree")},
		"empty":          {},
		"bin":            {Data: []byte("\x7fELF\x00\x01")},
		"odd":            {Data: []byte("gr\xfcn\n")},
		"link":           {Data: []byte("a.md"), Mode: fs.ModeSymlink | 0o777},
		"pipe":           {Mode: fs.ModeNamedPipe},
		"d/e/f/g/h.txt":  {Data: []byte("Gold here\n")},
		"d/x.go":         {Data: []byte("func gold() {}\n")},
		"wide":           {Data: []byte(strings.Repeat("w", mostText+10) + "\nnext\n")},
		"long":           {Data: []byte(strings.Repeat("a line of some length\n", 10_000))},
		"large":          {Data: []byte(strings.Repeat("gold ", mostFile/5+10))},
		"many/" + "gold": {Data: []byte(strings.Repeat("gold\n", mostMatches+5))},
	}
	for _, c := range []struct {
		tool, input string
		says        string // what it gives, or the error
		fails       bool
	}{
		{ReadFile, `{"path":"a.md"}`, "1\tone\n2\ttwo\n3\tthree\n", false},
		{ReadFile, `{"path":"./a.md","from":2,"to":2}`, "2\ttwo\n(the file has 3 lines)\n", false},
		{ReadFile, `{"path":"a.md","from":9}`, "a.md has no line 9: it has 3 lines", true},
		{ReadFile, `{"path":"a.md","from":3,"to":2}`, "from line 3 to line 2 is nothing", true},
		{ReadFile, `{"path":"empty"}`, "(the file is empty)", false},
		{ReadFile, `{"path":"bin"}`, "bin holds no text (6 bytes)", true},
		{ReadFile, `{"path":"odd"}`, "1\tgr\uFFFDn\n", false},
		{ReadFile, `{"path":"d"}`, "d is a directory: list_files says what is in it", true},
		{ReadFile, `{"path":"pipe"}`, "pipe is no file", true},
		{ReadFile, `{"path":"gone"}`, "there is no gone: list_files says what there is", true},
		{ReadFile, `{"path":"wide"}`, "… (the line goes on)\n(the file has 2 lines: read on from line 2)\n", false},
		{ReadFile, `{"path":"long"}`, "(the file has 10000 lines: read on from line ", false},
		{ReadFile, `{"path":"../secret"}`, `the path "../secret" leads elsewhere`, true},
		{ReadFile, `{"path":"/etc/passwd"}`, `the path "/etc/passwd" leads elsewhere`, true},
		{ReadFile, `{"path":"d/../../secret"}`, `the path "../secret" leads elsewhere`, true},
		{ReadFile, `{}`, "the input of read_file does not fit", true},
		{ReadFile, `{"path":7}`, "the input of read_file does not fit", true},
		{ListFiles, `{}`, "d/\nd/e/\nd/x.go  15 bytes\nempty  0 bytes\n", false},
		{ListFiles, `{}`, "link  (a link)\n", false},
		{ListFiles, `{}`, "(deeper levels are not listed", false},
		{ListFiles, `{"path":"d","depth":12}`, "d/e/f/g/h.txt  10 bytes\n", false},
		{ListFiles, `{"path":"a.md"}`, "a.md cannot be read", true},
		{ListFiles, `{"depth":99}`, "the input of list_files does not fit", true},
		{SearchFiles, `{"text":"gold","path":"d"}`, "d/x.go:1: func gold() {}\n", false},
		{SearchFiles, `{"text":"gold","ignore_case":true,"path":"d"}`, "d/e/f/g/h.txt:1: Gold here\n", false},
		{SearchFiles, `{"text":"^func \\w+","regexp":true}`, "d/x.go:1: func gold() {}\n", false},
		{SearchFiles, `{"text":"gold("}`, "d/x.go:1: func gold() {}\n", false},
		{SearchFiles, `{"text":"gold","path":"many"}`, "(the search stopped after 200 lines: look for something rarer", false},
		{SearchFiles, `{"text":"gold"}`, "(1 files were not searched: they are longer than 2097152 bytes", false},
		{SearchFiles, `{"text":"gold","path":"many/gold"}`, "many/gold:1: gold\n", false},
		{SearchFiles, `{"text":"silver","path":"d"}`, "(not found in 2 files)\n", false},
		{SearchFiles, `{"text":"(","regexp":true}`, "the regular expression cannot be read", true},
		{SearchFiles, `{"text":"x","path":"gone"}`, "there is no gone", true},
		{SearchFiles, `{"text":"x","path":".."}`, `the path ".." leads elsewhere`, true},
	} {
		got, err := readers[c.tool](t.Context(), view, json.RawMessage(c.input))
		if err != nil {
			got = err.Error()
		}
		if (err != nil) != c.fails || !strings.Contains(got, c.says) {
			t.Errorf("%s %s gives %.300q, %v; want %q", c.tool, c.input, got, err, c.says)
		}
		if len(got) > mostText+1000 {
			t.Errorf("%s %s gives %d bytes", c.tool, c.input, len(got))
		}
	}

	many := fstest.MapFS{}
	for i := range mostNames + 50 {
		many[fmt.Sprintf("d%d/f", i)] = &fstest.MapFile{}
	}
	got, err := listFiles(t.Context(), many, json.RawMessage(`{}`))
	if err != nil || strings.Count(got, "\n") != mostNames+1 || !strings.HasSuffix(got, "(more than 1000 names: list a directory of it)\n") {
		t.Errorf("%d lines, %v", strings.Count(got, "\n"), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := searchFiles(ctx, many, json.RawMessage(`{"text":"x"}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("a search that was left: %v", err)
	}
}

// TestReadingIsGranted: a session has the reading tools that it is given, and a
// tool of the room wins over one of the same name.
func TestReadingIsGranted(t *testing.T) {
	names := func(s agent.Spec) string {
		var out []string
		for _, o := range reading(s) {
			out = append(out, o.Name)
		}
		return strings.Join(out, " ")
	}
	for want, spec := range map[string]agent.Spec{
		"":                                  {Files: files},
		"read_file":                         {Files: files, Tools: agent.Tools{Builtin: []string{ReadFile, "shell"}}},
		"list_files read_file search_files": {Files: files, Tools: agent.Tools{Builtin: []string{agent.AllTools}}},
		"list_files read_file": {Files: files, Tools: agent.Tools{Builtin: []string{agent.AllTools},
			Offers: []agent.ToolOffer{{Name: SearchFiles}}}},
	} {
		if got := names(spec); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := names(agent.Spec{Tools: agent.Tools{Builtin: []string{agent.AllTools}}}); got != "" {
		t.Errorf("without files there is %q", got)
	}
}
