package tracer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/audit"
	"conclave/engine"
	"conclave/internal/jsontext"
	"conclave/record"
	"conclave/table"
	"conclave/table/look"
	"conclave/table/story"
)

// campaign is what every table here plays.
const campaign = "ash"

// place is a workspace, and the home of the people who play in it.
type place struct{ dir, program string }

func (p place) workspace() string { return filepath.Join(p.dir, "ws") }
func (p place) answers() string   { return filepath.Join(p.dir, "answers") }
func (p place) output() string    { return filepath.Join(p.dir, "output") }

// watched is everything that the program writes here.
func (p place) watched() watch { return watch{p.dir, []string{"ws", "home", "tmp"}} }

func (p place) file(name string) string {
	return filepath.Join(p.workspace(), filepath.FromSlash(name))
}

// command is conclave as it is typed here.
func (p place) command(args []string) command {
	home := filepath.Join(p.dir, "home")
	return command{program: p.program, args: args, dir: p.workspace(), output: p.output(), deadline: time.Minute,
		env: []string{"HOME=" + home, "TMPDIR=" + filepath.Join(p.dir, "tmp"), "PATH=/usr/local/bin:/usr/bin:/bin",
			"LANG=C.UTF-8", "USER=ada"}}
}

// run types a command, and fails when it says no.
func (p place) run(t testing.TB, args ...string) {
	t.Helper()
	if got, err := live(p.command(args)); err != nil || got.code != 0 {
		t.Fatalf("conclave %s: exit %d, %v\n%s", strings.Join(args, " "), got.code, err, p.printed())
	}
}

// printed is what was printed here so far.
func (p place) printed() string {
	data, err := os.ReadFile(p.output())
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// newPlace lays out a scenario's workspace, which its people trust. A bare one
// has no database of the engine yet.
func newPlace(t testing.TB, program, dir string, s scenario) place {
	t.Helper()
	p := place{dir, program}
	for name, text := range s.files() {
		write(t, p.file(name), text)
	}
	for _, d := range []string{"home", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.run(t, "trust", "--yes")
	if !s.bare {
		e, err := engine.Open(t.Context(), engine.Options{Dir: p.workspace(), Scope: look.Scope(campaign), Purpose: "prepare"})
		if err == nil {
			err = e.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func write(t testing.TB, file, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// copyTo makes another place like this one. What people trust names the
// directory that they trust it in.
func (p place) copyTo(dir string) (place, error) {
	other := place{dir, p.program}
	if err := os.CopyFS(dir, os.DirFS(p.dir)); err != nil {
		return other, err
	}
	file := filepath.Join(dir, "home", ".local", "share", "conclave", "trust.json")
	data, err := os.ReadFile(file)
	if err != nil {
		return other, err
	}
	return other, os.WriteFile(file, bytes.ReplaceAll(data, []byte(p.dir+"/"), []byte(dir+"/")), 0o600)
}

// standing is where a table stands, as its people can find out.
type standing struct {
	look.Status
	events []story.Event
	open   []engine.Interaction
	turns  []turn
	dice   []byte
}

// turn is one of an agent or a person, from the records.
type turn struct {
	run, id string   // the run without what chance made of it
	asked   []string // in each attempt
	replies []string
}

func (p place) look(ctx context.Context) (s standing, err error) {
	ws := p.workspace()
	if s.Status, err = look.At(ctx, ws, campaign, ""); err != nil {
		return s, err
	}
	if s.events, err = story.ReadLog(ws, campaign); err != nil {
		return s, err
	}
	st, err := engine.Peek(ctx, engine.Options{Dir: ws, Scope: look.Scope(campaign)})
	if err != nil {
		return s, err
	}
	s.open = st.Open
	if s.turns, err = readTurns(ws); err != nil {
		return s, err
	}
	s.dice, err = os.ReadFile(p.file("campaigns/ash/" + table.DiceLogFile))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return s, err
}

// chance is what no two runs have in common in the name of one.
var chance = regexp.MustCompile(`([cnebj][0-9]{6,8})-[0-9a-f]{8}\b`)

func readTurns(ws string) ([]turn, error) {
	list, err := record.List(record.Dir(ws))
	if err != nil {
		return nil, err
	}
	var all []turn
	for _, info := range list {
		turns, err := turnsOf(info)
		if err != nil {
			return nil, err
		}
		all = append(all, turns...)
	}
	slices.SortStableFunc(all, func(a, b turn) int { return strings.Compare(a.run+" "+a.id, b.run+" "+b.id) })
	return all, nil
}

// turnsOf reads a record as far as it goes: whoever wrote it may be dead.
func turnsOf(info record.Info) ([]turn, error) {
	r, err := record.Open(info.Path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var turns []turn
	of := func(id string) *turn {
		for i := range turns {
			if turns[i].id == id {
				return &turns[i]
			}
		}
		turns = append(turns, turn{run: chance.ReplaceAllString(info.Run, "$1"), id: id})
		return &turns[len(turns)-1]
	}
	for r.Next() {
		f := r.Frame()
		if f.Kind != record.KindLog {
			continue
		}
		event, _ := jsontext.String(jsontext.Get(f.Payload, "event"))
		context := jsontext.Get(f.Payload, "context")
		switch event {
		case audit.EventMessage:
			var m audit.Message
			if err := json.Unmarshal(context, &m); err != nil {
				return nil, err
			}
			text := ""
			for _, part := range m.Parts {
				text += part.Text + "\n"
			}
			t := of(m.Turn)
			t.asked = append(t.asked, text)
		case audit.EventReply:
			var reply audit.Reply
			if err := json.Unmarshal(context, &reply); err != nil {
				return nil, err
			}
			t := of(reply.Turn)
			t.replies = append(t.replies, reply.Text)
		}
	}
	return turns, nil
}

// said counts the words of a person that the table has for good: answers that
// are on the record, and what began a cycle.
func (s standing) said(seat string) int {
	n := 0
	for _, t := range s.turns {
		if strings.HasSuffix(t.run, "."+seat) {
			n += len(t.replies)
		}
	}
	begun := map[string]bool{}
	for _, e := range s.events {
		if e.Input != nil && e.Input.Kind == story.InputSaid && e.Input.Who == seat {
			begun[e.Run] = true
		}
	}
	for _, i := range s.open {
		var in story.Input
		if strings.HasPrefix(i.Flow, "cycle/") && json.Unmarshal(i.Input, &in) == nil && in.Kind == story.InputSaid && in.Who == seat {
			begun[i.ID] = true
		}
	}
	return n + len(begun)
}

// over says whether the first session has ended.
func (s standing) over() bool { return s.Session > 0 && !s.InSession }

// endKept says whether the table has a save point of its own from after the last
// end of a session, and the log tells of each.
func (s standing) endKept() bool {
	last, told := 0, map[string]bool{}
	for _, e := range s.events {
		switch e.Kind {
		case story.EventEnd:
			last = e.Seq
		case story.EventSave:
			told[e.Name] = true
		}
	}
	for _, save := range s.Saves {
		if !told[save.Name] {
			return false
		}
	}
	return slices.ContainsFunc(s.Saves, func(x story.Save) bool { return x.Own && x.Seq >= last })
}

// unfinished says whether something was cut: a cycle, the end of a session, a
// journal.
func (s standing) unfinished() bool { return len(s.Open)+len(s.Journals) > 0 }

// rest writes the answers that are still to be given, as blocks.
func (p place) rest(words []string) error {
	return os.WriteFile(p.answers(), []byte("---\n"+strings.Join(words, "\n---\n")+"\n"), 0o600)
}

// happened says whether the log has an event of this kind.
func (s standing) happened(kind string) bool {
	return slices.ContainsFunc(s.events, func(e story.Event) bool { return e.Kind == kind })
}

func (t turn) String() string { return fmt.Sprintf("%s %s", t.run, t.id) }
