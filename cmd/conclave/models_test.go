package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"conclave/gateway"
	"conclave/internal/modelstub"
)

// TestModels runs every scenario in testdata/models against every kind of server
// that a model can be behind: the files that come of it are the same.
func TestModels(t *testing.T) {
	found, err := filepath.Glob(filepath.Join("testdata", "models", "*.txtar"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no scenarios (%v)", err)
	}
	dir := ""
	if !testing.Short() {
		dir = plainProgram(t)
	}
	for _, kind := range gateway.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			p := scriptParams(found, dir)
			p.Cmds["answers"] = giveAnswers(kind)
			testscript.Run(t, p)
		})
	}
}

// giveAnswers starts a server that gives the answers of a file, and names it in the
// person's own configuration as the provider "mine": answers FILE.
//
// A file has replies under "on WORDS", for a message that holds them, or "on
// WORDS for WORDS" where the instructions hold the others. What follows is said
// and called, line by line; behind "then" stands what follows the results.
func giveAnswers(kind gateway.Kind) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		list, err := readAnswers(ts.ReadFile(args[0]))
		ts.Check(err)
		server := modelstub.New(list.reply)
		ts.Defer(server.Close)
		own := filepath.Join(ts.Getenv("XDG_CONFIG_HOME"), "conclave")
		ts.Check(os.MkdirAll(own, 0o700))
		ts.Check(os.WriteFile(filepath.Join(own, "config.yaml"), fmt.Appendf(nil,
			"providers:\n  mine: {kind: %s, base_url: %q, key_env: MY_KEY}\n", kind, server.URL()), 0o600))
		ts.Setenv("MY_KEY", modelKey)
	}
}

const modelKey = "sk-a-key-of-mine-0123456789"

type scriptedAnswer struct {
	message, system string
	replies         []modelstub.Reply
}

type scriptedAnswers struct {
	all []*scriptedAnswer
	mu  sync.Mutex
	at  map[string]int // how far each conversation is, by what it was told last
}

func readAnswers(text string) (*scriptedAnswers, error) {
	list := &scriptedAnswers{at: map[string]int{}}
	var last *scriptedAnswer
	for n, line := range strings.Split(text, "\n") {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if verb == "on" {
			last = &scriptedAnswer{replies: []modelstub.Reply{{}}}
			last.message, last.system, _ = strings.Cut(rest, " for ")
			list.all = append(list.all, last)
			continue
		}
		if last == nil && verb != "" {
			return nil, fmt.Errorf("line %d: %q stands under no message", n+1, line)
		}
		switch verb {
		case "":
		case "say":
			var lines string // what has several is written as a JSON string
			if json.Unmarshal([]byte(rest), &lines) == nil {
				rest = lines
			}
			last.add(modelstub.Say(rest))
		case "think":
			last.add(modelstub.Think(rest))
		case "call":
			tool, input, _ := strings.Cut(rest, " ")
			if !json.Valid([]byte(input)) {
				return nil, fmt.Errorf("line %d: %q is no JSON", n+1, input)
			}
			last.add(modelstub.Call(tool, "", input))
		case "then":
			last.replies = append(last.replies, modelstub.Reply{})
		default:
			return nil, fmt.Errorf("line %d: nobody can %q", n+1, verb)
		}
	}
	return list, nil
}

func (a *scriptedAnswer) add(b modelstub.Block) {
	r := &a.replies[len(a.replies)-1]
	r.Blocks = append(r.Blocks, b)
}

// to is the answer to a request: of several that would do the one whose words stand
// last in the message, for some programs put the instructions before it.
func (l *scriptedAnswers) to(q modelstub.Request) (found *scriptedAnswer) {
	last := -1
	for _, a := range l.all {
		if at := strings.LastIndex(q.LastUser(), a.message); at > last && strings.Contains(q.System(), a.system) {
			found, last = a, at
		}
	}
	return found
}

func (l *scriptedAnswers) reply(q modelstub.Request) modelstub.Reply {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := q.System() + "\x00" + q.LastUser()
	if len(q.ToolResults()) > 0 {
		l.at[key]++
	} else {
		l.at[key] = 0
	}
	if a := l.to(q); a != nil && l.at[key] < len(a.replies) {
		return a.replies[l.at[key]]
	}
	return modelstub.Fail(400, fmt.Sprintf("nothing is to be said to %.2000q (system %.600q)", q.LastUser(), q.System()))
}
