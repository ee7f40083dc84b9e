package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"conclave/agent"
	"conclave/engine"
)

// sample is a program that uses everything: its one interaction asks six seats
// at once, asks the person, commits files and writes a journal in the
// background.
type sample struct {
	dir   string
	crash func(string)
	// answer is what the person says.
	answer func() (string, error)
	url    string // of a PostgreSQL server
}

const bigFile = "big.log"

// prepareSample makes a file that is long enough to be appended to in place.
func prepareSample(dir string) error {
	if err := os.WriteFile(filepath.Join(dir, "old.md"), []byte("old\n"), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, bigFile), bytes.Repeat([]byte("line\n"), 60_000), 0o644)
}

func (s *sample) options(scope string) engine.Options {
	return engine.Options{Dir: s.dir, Scope: scope, DatabaseURL: s.url, CrashPoint: s.crash, Asker: s,
		Flows: []engine.Flow{
			{Name: "council", Version: 1, Run: s.council},
			{Name: "journal", Version: 1, Run: s.journal},
		}}
}

func (s *sample) Ask(_ context.Context, q engine.Question) (string, error) {
	if s.answer == nil {
		return "yes", nil
	}
	return s.answer()
}

// run starts the interaction, or resumes what is open of it.
func (s *sample) run(ctx context.Context) error {
	e, err := engine.Open(ctx, s.options("sample"))
	if err != nil {
		return err
	}
	defer e.Close()
	_, err = e.Start(ctx, "council", "c1", map[string]string{"topic": "doors"})
	if errors.Is(err, engine.ErrUsed) {
		_, err = e.Resume(ctx, "c1")
	}
	if err != nil {
		return err
	}
	open, err := e.Pending(ctx)
	if err != nil {
		return err
	}
	for _, i := range open {
		if _, err := e.Resume(ctx, i.ID); err != nil {
			return err
		}
	}
	return e.Drain(ctx)
}

func (s *sample) council(r *engine.Run, input json.RawMessage) (json.RawMessage, error) {
	var in struct{ Topic string }
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	said, err := engine.Parallel(r, "seat", 6, func(b *engine.Run, i int) (string, error) {
		who := fmt.Sprintf("seat%d", i+1)
		first, err := engine.Turn(b, &turn{r.ID() + "." + who, in.Topic, s.dir, s.crash})
		if err != nil {
			return "", err
		}
		return engine.Do(b, "note", func(context.Context) (string, error) { return who + ": " + first.Reply.Text, nil })
	})
	if err != nil {
		return nil, err
	}
	marks, err := engine.DoEach(r, "mark", 3, func(_ context.Context, i int) (int, error) { return i * i, nil })
	if err != nil {
		return nil, err
	}
	answer, err := engine.Ask(r, "go on", engine.Question{Text: "go on?", Options: []engine.Option{{Label: "yes"}, {Label: "no"}}})
	if err != nil {
		return nil, err
	}
	var report strings.Builder
	for _, x := range said {
		fmt.Fprintln(&report, x.Value, x.Err)
	}
	fmt.Fprintln(&report, marks, answer)
	err = engine.Commit(r, "report", []engine.Change{
		{Op: engine.Create, Path: "out/report.md", Data: []byte(report.String())},
		{Op: engine.Append, Path: "out/report.md", Data: []byte("end\n")},
		{Op: engine.Append, Path: bigFile, Data: []byte("appended in place\n")},
		{Op: engine.Write, Path: "new.md", Data: []byte("new\n")},
		{Op: engine.Rename, Path: "old.md", To: "archive/old.md"},
		{Op: engine.Write, Path: "scratch", Data: []byte("x")},
		{Op: engine.Delete, Path: "scratch"},
	})
	if err != nil {
		return nil, err
	}
	for i := range 2 {
		if err := engine.Spawn(r, "journal", engine.Child{ID: fmt.Sprintf("%s.journal%d", r.ID(), i), Input: i}); err != nil {
			return nil, err
		}
	}
	return engine.Wait(r, r.ID()+".journal0") // the other one outlives us
}

func (s *sample) journal(r *engine.Run, input json.RawMessage) (json.RawMessage, error) {
	t, err := engine.Turn(r, &turn{r.ID(), "write", s.dir, s.crash})
	if err != nil {
		return nil, err
	}
	return input, engine.Commit(r, "entry", []engine.Change{
		{Op: engine.Append, Path: "journal" + string(input) + ".md", Data: []byte(t.Reply.Text + "\n")}})
}

// turn keeps its record in two files: attempts that began, and the reply. It
// refuses to be taken again when its reply was durable.
type turn struct {
	id, text string
	dir      string
	crash    func(string)
}

func (t *turn) ID() string { return t.id }

func (t *turn) file(kind string) string {
	return filepath.Join(t.dir, ".conclave", "seats", t.id+"."+kind)
}

func (t *turn) Find(context.Context) (engine.Found, error) {
	begun, err := os.ReadFile(t.file("begun"))
	if errors.Is(err, fs.ErrNotExist) {
		return engine.Found{}, nil
	}
	found := engine.Found{Attempts: bytes.Count(begun, []byte("\n"))}
	if err != nil {
		return found, err
	}
	reply, err := os.ReadFile(t.file("reply"))
	if errors.Is(err, fs.ErrNotExist) {
		return found, nil
	}
	found.Finished, found.Reply.Text = err == nil, string(reply)
	return found, err
}

func (t *turn) Take(context.Context) (agent.Reply, error) {
	if _, err := os.Stat(t.file("reply")); err == nil {
		return agent.Reply{}, fmt.Errorf("turn %s was finished and is asked for again", t.id)
	}
	if err := os.MkdirAll(filepath.Dir(t.file("")), 0o700); err != nil {
		return agent.Reply{}, err
	}
	f, err := os.OpenFile(t.file("begun"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return agent.Reply{}, err
	}
	defer f.Close()
	if _, err := fmt.Fprintln(f, "begun"); err != nil {
		return agent.Reply{}, err
	}
	t.point("begun " + t.id)
	text := t.id + " on " + t.text
	temp := t.file("temp")
	if err := os.WriteFile(temp, []byte(text), 0o600); err != nil {
		return agent.Reply{}, err
	}
	if err := os.Rename(temp, t.file("reply")); err != nil {
		return agent.Reply{}, err
	}
	t.point("replied " + t.id)
	return agent.Reply{Text: text}, nil
}

func (t *turn) point(label string) {
	if t.crash != nil {
		t.crash(label)
	}
}

// commitInput is a flow whose input is what it commits.
func commitInput(r *engine.Run, input json.RawMessage) (json.RawMessage, error) {
	var changes []engine.Change
	if err := json.Unmarshal(input, &changes); err != nil {
		return nil, err
	}
	return nil, engine.Commit(r, "input", changes)
}
