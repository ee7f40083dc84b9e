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
		first, err := engine.Turn(b, r.ID()+"."+who, &seat{s.dir, s.crash}, agent.Message{Text: in.Topic})
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
	t, err := engine.Turn(r, r.ID(), &seat{s.dir, s.crash}, agent.Message{Text: "write"})
	if err != nil {
		return nil, err
	}
	return input, engine.Commit(r, "entry", []engine.Change{
		{Op: engine.Append, Path: "journal" + string(input) + ".md", Data: []byte(t.Reply.Text + "\n")}})
}

// seat keeps its record in two files per turn: attempts that began, and the
// reply. It refuses to be asked again for a reply that was durable.
type seat struct {
	dir   string
	crash func(string)
}

func (s *seat) file(turn, kind string) string {
	return filepath.Join(s.dir, ".conclave", "seats", turn+"."+kind)
}

func (s *seat) Find(_ context.Context, turn string) (engine.Found, error) {
	begun, err := os.ReadFile(s.file(turn, "begun"))
	if errors.Is(err, fs.ErrNotExist) {
		return engine.Found{}, nil
	}
	found := engine.Found{Attempts: bytes.Count(begun, []byte("\n"))}
	if err != nil {
		return found, err
	}
	reply, err := os.ReadFile(s.file(turn, "reply"))
	if errors.Is(err, fs.ErrNotExist) {
		return found, nil
	}
	found.Finished, found.Reply.Text = err == nil, string(reply)
	return found, err
}

func (s *seat) Take(_ context.Context, turn string, attempt int, m agent.Message) (agent.Reply, error) {
	if _, err := os.Stat(s.file(turn, "reply")); err == nil {
		return agent.Reply{}, fmt.Errorf("turn %s was finished and is asked for again", turn)
	}
	if err := os.MkdirAll(filepath.Dir(s.file(turn, "")), 0o700); err != nil {
		return agent.Reply{}, err
	}
	f, err := os.OpenFile(s.file(turn, "begun"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return agent.Reply{}, err
	}
	defer f.Close()
	if _, err := fmt.Fprintln(f, attempt); err != nil {
		return agent.Reply{}, err
	}
	s.point("begun " + turn)
	text := turn + " on " + m.Text
	temp := s.file(turn, "temp")
	if err := os.WriteFile(temp, []byte(text), 0o600); err != nil {
		return agent.Reply{}, err
	}
	if err := os.Rename(temp, s.file(turn, "reply")); err != nil {
		return agent.Reply{}, err
	}
	s.point("replied " + turn)
	return agent.Reply{Text: text}, nil
}

func (s *seat) point(label string) {
	if s.crash != nil {
		s.crash(label)
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
