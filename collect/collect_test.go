package collect

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/internal/jsontext"
	"conclave/internal/sample"
	"conclave/record"
	"conclave/transcript"
)

const runA = "claude-" + sessionA

func TestOnceThenAgain(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a, b, c := line("a", "one"), line("b", "two"), line("c", "three")
	p.write(p.main(sessionA), a+"\n"+b+"\n")
	p.write(p.agent(sessionA, "x1"), c+"\n")
	p.write(strings.TrimSuffix(p.agent(sessionA, "x1"), ".jsonl")+".meta.json", `{"agentType":"t","toolUseId":"toolu_1","spawnDepth":1}`)
	got := p.once()
	if got.Files != 2 || got.Records != 1 || got.Lines != 3 || got.Added != 3 {
		t.Errorf("%+v", got)
	}
	p.same(runA, "main", a, b)
	p.same(runA, "subagent:x1", c)
	for _, e := range p.entries(runA) {
		if e.Source != transcript.Main && string(jsontext.Get(e.Detail, "parent")) != `"main"` {
			t.Errorf("the subagent has no parent: %s", e.Detail)
		}
		if e.PromptName != "-home-ada-proj/"+sessionA {
			t.Errorf("prompt name %q", e.PromptName)
		}
	}
	size := len(p.log(runA))
	if got := p.once(); got.Added != 0 || got.Lines != 3 || len(p.log(runA)) != size {
		t.Errorf("a second look added something: %+v", got)
	}
	// Without the index everything is read again, and found to be known.
	if err := os.Remove(filepath.Join(stateDir(p.workspace), "index.json")); err != nil {
		t.Fatal(err)
	}
	p.append(p.main(sessionA), c+"\n")
	if got := p.once(); got.Added != 1 || got.Lines != 4 {
		t.Errorf("%+v", got)
	}
	p.same(runA, "main", a, b, c)
}

// What is said of each event of a file's life, with the collector running and
// with it started anew in between.
func TestLifeOfAFile(t *testing.T) {
	a, b, c, d := line("a", "1"), line("b", "2"), line("c", "3"), line("d", "4")
	cases := []struct {
		name  string
		steps []func(p *place, path string)
		want  []string
	}{
		{"grows", []func(*place, string){
			func(p *place, path string) { p.append(path, c+"\n") },
		}, []string{a, b, c}},
		{"truncated to nothing and written anew", []func(*place, string){
			func(p *place, path string) { p.write(path, c+"\n"+d+"\n") },
		}, []string{a, b, c, d}},
		{"truncated and the same written again", []func(*place, string){
			func(p *place, path string) { p.write(path, "") },
			func(p *place, path string) { p.write(path, a+"\n"+b+"\n"+c+"\n") },
		}, []string{a, b, c}},
		{"last line taken back", []func(*place, string){
			func(p *place, path string) { p.write(path, a+"\n") },
			func(p *place, path string) { p.append(path, c+"\n") },
		}, []string{a, b, c}},
		{"replaced by a longer copy", []func(*place, string){
			func(p *place, path string) {
				p.write(path+".tmp", a+"\n"+b+"\n"+c+"\n")
				if err := os.Rename(path+".tmp", path); err != nil {
					p.t.Fatal(err)
				}
			},
		}, []string{a, b, c}},
		{"rotated", []func(*place, string){
			func(p *place, path string) {
				if err := os.Rename(path, path+".1"); err != nil {
					p.t.Fatal(err)
				}
				p.write(path, c+"\n"+d+"\n")
			},
		}, []string{a, b, c, d}},
		{"removed and back", []func(*place, string){
			func(p *place, path string) {
				if err := os.Remove(path); err != nil {
					p.t.Fatal(err)
				}
			},
			func(p *place, path string) { p.write(path, a+"\n"+b+"\n"+c+"\n") },
		}, []string{a, b, c}},
		{"directory moved", []func(*place, string){
			func(p *place, path string) {
				if err := os.Rename(filepath.Dir(path), filepath.Join(p.root, "elsewhere")); err != nil {
					p.t.Fatal(err)
				}
				p.append(filepath.Join(p.root, "elsewhere", filepath.Base(path)), c+"\n")
			},
		}, []string{a, b, c}},
	}
	for _, tc := range cases {
		t.Run(tc.name+"/restarted", func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write(p.main(sessionA), a+"\n"+b+"\n")
			p.once()
			for _, step := range tc.steps {
				step(p, p.main(sessionA))
				p.collect(p.options())
			}
			p.same(runA, "main", tc.want...)
		})
		t.Run(tc.name+"/running", func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write(p.main(sessionA), a+"\n"+b+"\n")
			stop := p.live(p.options())
			until(t, "the first lines", func() bool { return p.has(runA, "main", 2) })
			for _, step := range tc.steps {
				step(p, p.main(sessionA))
			}
			until(t, "the last line", func() bool {
				return p.has(runA, "main", 1) && slices.Contains(p.raws(runA, "main"), tc.want[len(tc.want)-1])
			})
			stop()
			p.same(runA, "main", tc.want...)
			p.collect(p.options())
			p.same(runA, "main", tc.want...)
		})
	}
}

func TestSecondFileOfTheSameSession(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a, b := line("a", "1"), line("b", "2")
	p.write(p.main(sessionA), a+"\n")
	other := filepath.Join(p.root, "other", sessionA+".jsonl")
	p.write(other, b+"\n")
	for range 2 {
		if got := p.once(); got.Records != 2 || got.Lines != 2 {
			t.Fatalf("%+v", got)
		}
	}
	p.same(runA, "main", a)
	p.same(runID(runA, pathHash(other)), "main", b)
}

// A link to a session's file, or a second name of it, is the same file: its lines go
// on the record once, whichever name is found first, and also when it comes while
// somebody watches.
func TestSecondNameOfTheSameFile(t *testing.T) {
	t.Parallel()
	for _, name := range []func(old, new string) error{os.Symlink, os.Link} {
		p := newPlace(t)
		a, b, c := line("a", "1"), line("b", "2"), line("c", "3")
		p.write(p.main(sessionA), a+"\n")
		other := filepath.Join(p.root, "-a-link", sessionA+".jsonl")
		if err := os.Mkdir(filepath.Dir(other), 0o700); err != nil {
			t.Fatal(err)
		}
		o := p.options()
		o.PollInterval, o.DiscoveryInterval = 10*time.Millisecond, 10*time.Millisecond
		stop := p.live(o)
		until(t, "the first line", func() bool { return p.has(runA, "main", 1) })
		if err := name(p.main(sessionA), other); err != nil {
			t.Fatal(err)
		}
		p.append(p.main(sessionA), b+"\n")
		until(t, "the second line", func() bool { return p.has(runA, "main", 2) })
		if got := stop(); !got.OK() || got.Records != 1 || got.Lines != 2 {
			t.Fatalf("%+v", got)
		}
		p.append(p.main(sessionA), c+"\n")
		for range 2 {
			if got := p.once(); got.Records != 1 || got.Lines != 3 {
				t.Fatalf("%+v", got)
			}
		}
		p.same(runA, "main", a, b, c)
	}
}

// Half a line that is being written waits at a stop for its other half: an
// interrupted watch, or an import in that moment, must not break it in two. What
// is whole is delivered without its newline.
func TestHalfLineWaits(t *testing.T) {
	t.Parallel()
	a, b := line("a", "1"), line("b", "2")
	for _, at := range sample.Pick(t, len(b)-1, 3, 8) {
		p, cut := newPlace(t), at+1
		p.write(p.main(sessionA), a+"\n"+b[:cut])
		balance := p.collect(p.options())
		if len(balance.Waiting) != 1 || balance.Waiting[0].Bytes != int64(cut) || !balance.OK() {
			t.Fatalf("cut at %d: %+v", cut, balance)
		}
		p.same(runA, "main", a)
		p.append(p.main(sessionA), b[cut:])
		if balance = p.once(); len(balance.Waiting) != 0 {
			t.Errorf("a whole line waits: %+v", balance)
		}
		p.same(runA, "main", a, b)
		p.append(p.main(sessionA), "\n")
		p.once()
		p.same(runA, "main", a, b)
	}
}

// A half line that nobody has gone on with is delivered; what comes to it later
// is an entry of its own, and a newline alone is none.
func TestLineContinuedAfterAStop(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a, b := line("a", "1"), line("b", "2")
	p.write(p.main(sessionA), a+"\n"+b[:20])
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(p.main(sessionA), old, old); err != nil {
		t.Fatal(err)
	}
	p.once()
	p.once()
	p.same(runA, "main", a, b[:20])
	p.append(p.main(sessionA), b[20:])
	p.once()
	p.append(p.main(sessionA), "\n"+a)
	p.once()
	p.append(p.main(sessionA), "\n")
	p.once()
	p.once()
	p.same(runA, "main", a, b[:20], b[20:], a)
}

// What the mapping holds back is recorded at a stop, and once.
func TestHeldBackUsageOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	half := `{"type":"assistant","uuid":"u%d","sessionId":"` + sessionA + `","message":{"id":"msg_1","role":"assistant","model":"m","content":[{"type":"text","text":"x%d"}],"stop_reason":%s,"usage":{"input_tokens":3,"output_tokens":%d}}}` + "\n"
	p.write(p.main(sessionA), fmt.Sprintf(half, 1, 1, "null", 1))
	usages := func() (n int) {
		for _, e := range p.entries(runA) {
			if e.Type == transcript.TokenUsage {
				n++
			}
		}
		return n
	}
	p.once()
	if usages() != 1 {
		t.Fatalf("%d usages after a stop", usages())
	}
	p.append(p.main(sessionA), fmt.Sprintf(half, 2, 2, `"end_turn"`, 9))
	p.once()
	p.once()
	if usages() != 1 {
		t.Errorf("%d usages of one message", usages())
	}
}

func TestDiscoveryIsSaid(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	// By a scan.
	p.write(p.main(sessionA), line("a", "1")+"\n")
	// By a hook, outside of the roots, before the file is there.
	hooked := filepath.Join(filepath.Dir(p.root), "hooked", "22222222-2222-4222-8222-222222222222.jsonl")
	noted, err := Note(p.workspace, []byte(`{"session_id":"s","transcript_path":`+string(quoted(hooked))+`,"hook_event_name":"SessionStart"}`))
	if err != nil || len(noted) != 1 {
		t.Fatal(noted, err)
	}
	if noted, err = Note(p.workspace, []byte(`{"transcript_path":`+string(quoted(hooked))+`}`)); err != nil || len(noted) != 0 {
		t.Fatal(noted, err)
	}
	o := p.options()
	o.Hooks = true
	stop := p.live(o)
	until(t, "the scan", func() bool { return p.has(runA, "main", 1) })
	p.write(hooked, line("h", "1")+"\n")
	runH := "claude-22222222-2222-4222-8222-222222222222"
	until(t, "the hook's file", func() bool { return p.has(runH, "main", 1) })
	// By an event: a subagent in directories that are new.
	p.write(p.agent(sessionA, "x9"), line("s", "1")+"\n")
	until(t, "the subagent", func() bool { return p.has(runA, "subagent:x9", 1) })
	stop()
	want := map[string]string{
		runA + " " + transcript.EventPathDiscovered + " main":            "scan",
		runH + " " + transcript.EventPathDiscovered + " main":            "hook",
		runA + " " + transcript.EventSubagentDiscovered + " subagent:x9": "event",
	}
	got := map[string]string{}
	for _, run := range []string{runA, runH} {
		for _, l := range p.log(run) {
			event, _ := jsontext.String(jsontext.Get(l, "event"))
			if strings.HasSuffix(event, "_discovered") {
				source, _ := jsontext.String(jsontext.Get(l, "context", "source"))
				how, _ := jsontext.String(jsontext.Get(l, "context", "how"))
				got[run+" "+event+" "+source] += how
			}
		}
	}
	for k, how := range want {
		// The scan of subagents may be quicker than the event.
		if got[k] != how && !(how == "event" && got[k] == "scan") {
			t.Errorf("%s: found by %q, want %q", k, got[k], how)
		}
	}
}

func TestNoteRefuses(t *testing.T) {
	for _, in := range []string{"", "{", `{}`, `{"transcript_path":"relative"}`, `[]`} {
		if _, err := Note(t.TempDir(), []byte(in)); err == nil {
			t.Errorf("%q is taken", in)
		}
	}
}

func TestSecondCollectorIsRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(p.main(sessionA), line("a", "1")+"\n")
	stop := p.live(p.options())
	until(t, "the first", func() bool { return p.has(runA, "main", 1) })
	c, err := New(p.options())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "held by process") {
		t.Errorf("a second collector: %v", err)
	}
	stop()
}

// What cannot be read is in the balance.
func TestUnaccounted(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	o := p.options()
	o.Roots = nil
	o.Files = []string{filepath.Join(p.root, "missing.jsonl")}
	if b := p.collect(o); b.OK() || b.Unaccounted[0].Reason != "it is not there" {
		t.Errorf("%+v", b)
	}
	o.Files = []string{p.root}
	if b := p.collect(o); b.OK() {
		t.Errorf("a directory in the place of a file: %+v", b)
	}
	p.write(filepath.Join(p.root, "notes.jsonl"), `{"note":"not an agent's"}`+"\n")
	if b := p.once(); len(b.Skipped) != 1 || b.Files != 0 {
		t.Errorf("%+v", b)
	}
}

// Every given capture is on the record with all of its bytes, and read again
// it adds nothing.
func TestFixtures(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.root = fixtures
	b := p.once()
	if b.Files < 80 || b.Entries < 1500 || len(b.Unaccounted) != 0 {
		t.Fatalf("%+v", b)
	}
	t.Logf("%d files, %d bytes, %d lines, %d entries, %d records, skipped %d", b.Files, b.BytesRead, b.Lines, b.Entries, b.Records, len(b.Skipped))
	for _, s := range b.Skipped {
		if base := filepath.Base(s); base != "hooks.jsonl" && !strings.Contains(s, "opencode") && !strings.Contains(s, "acp") {
			t.Errorf("%s was skipped", s)
		}
	}
	var read int64
	records, err := filepath.Glob(filepath.Join(p.workspace, ".conclave", "records", "*.record"))
	if err != nil || len(records) != b.Records {
		t.Fatalf("%d records, %v", len(records), err)
	}
	for _, r := range records {
		for _, e := range p.entries(strings.TrimSuffix(filepath.Base(r), ".record")) {
			if e.Raw != nil {
				read += int64(len(e.Raw)) + 1
			}
		}
	}
	if read != b.BytesOnDisk {
		t.Errorf("%d bytes on the record, %d on disk", read, b.BytesOnDisk)
	}
	if err := os.Remove(filepath.Join(stateDir(p.workspace), "index.json")); err != nil {
		t.Fatal(err)
	}
	if again := p.once(); again.Added != 0 || again.Entries != b.Entries {
		t.Errorf("read again: %+v", again)
	}
}

func TestTenThousandFiles(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	p := newPlace(t)
	sessions, agents := sample.Count(5, 15, 50), 199
	for i := range sessions {
		id := fmt.Sprintf("%08d-1111-4111-8111-111111111111", i)
		p.write(p.main(id), line("m", "main")+"\n")
		p.write(p.agent(id, "a0000"), line("s", "sub")+"\n")
		for j := 1; j < agents; j++ { // links are quicker to make than files
			if err := os.Link(p.agent(id, "a0000"), p.agent(id, fmt.Sprintf("a%04d", j))); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := sessions * (agents + 1)
	b := p.once()
	if b.Files != want || b.Lines != int64(want) || b.Records != sessions {
		t.Fatalf("%+v", b)
	}
	// Nothing has changed: nothing is opened.
	if b = p.once(); b.Added != 0 || b.Files != want {
		t.Fatalf("%+v", b)
	}
	// One of them grows while all are followed.
	grown := fmt.Sprintf("%08d-1111-4111-8111-111111111111", sessions-1)
	path, err := record.Path(p.workspace, "claude-"+grown)
	if err != nil {
		t.Fatal(err)
	}
	before := fileSize(path)
	stop := p.live(p.options())
	if err := os.Remove(p.agent(grown, "a0042")); err != nil {
		t.Fatal(err)
	}
	p.write(p.agent(grown, "a0042"), line("s", "sub")+"\n"+line("t", "more")+"\n")
	until(t, "the line", func() bool { return fileSize(path) > before })
	if b = stop(); b.Lines != int64(want)+1 || !b.OK() {
		t.Fatalf("%+v", b)
	}
	p.same("claude-"+grown, "subagent:a0042", line("s", "sub"), line("t", "more"))
}

// The log stream has every record, without raw where that is asked for; the
// record has raw in any case.
func TestLogStream(t *testing.T) {
	t.Parallel()
	for _, omit := range []bool{false, true} {
		p := newPlace(t)
		p.write(p.main(sessionA), line("a", "1")+"\n"+line("b", "2")+"\n")
		var out strings.Builder
		o := p.options()
		handler := transcript.NewHandler(&out, "test", nil)
		o.Stream, o.StreamNoRaw = transcript.NewStream(handler, transcript.StreamOptions{}), omit
		p.collect(o)
		if err := o.Stream.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.same(runA, "main", line("a", "1"), line("b", "2"))
		entries := transcript.Reconstruct(func(yield func([]byte) bool) {
			for l := range strings.Lines(out.String()) {
				if !yield([]byte(strings.TrimSuffix(l, "\n"))) {
					return
				}
			}
		}).Entries
		if len(entries) != 2 || (entries[0].Raw == nil) != omit {
			t.Errorf("omit %v: %s", omit, out.String())
		}
		for _, event := range []string{transcript.EventStart, transcript.EventPathDiscovered, transcript.EventStop} {
			if strings.Count(out.String(), `"event":"`+event+`"`) != 1 {
				t.Errorf("%s is not in the stream once", event)
			}
		}
	}
}

// A line too long to be held twice keeps its bytes in raw and its small members
// in detail.
func TestGiantLine(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	long := line("long", strings.Repeat("x", 200_000))
	p.write(p.main(sessionA), line("a", "1")+"\n"+long+"\n"+long)
	o := p.options()
	o.giant = 100_000
	for range 2 {
		if b := p.collect(o); !b.OK() || b.Lines != 3 {
			t.Fatalf("%+v", b)
		}
	}
	p.same(runA, "main", line("a", "1"), long, long)
	for _, e := range p.entries(runA)[1:] {
		if e.Type != transcript.UserMessage || len(e.Detail) > 1000 || string(jsontext.Get(e.Detail, "in_raw")) != `["sdk_entry"]` {
			t.Errorf("%s %.200s", e.Type, e.Detail)
		}
	}
}

// W21: a line that no entry can hold is on the record in pieces, and the lines
// after it are, too; a piece is unknown even if it looks like a line.
func TestLineInPieces(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const piece = 4096
	long := strings.Repeat("x", 2*piece) + line("b", "forged")
	whole := line("a", "1") + "\n" + long + "\n" + line("c", "3")
	p.write(p.main(sessionA), whole)
	o := p.options()
	o.maxLine = piece
	o.pieceSize = piece
	for range 2 { // the second finds everything on the record
		if b := p.collect(o); !b.OK() || b.BytesRead != int64(len(whole)) {
			t.Fatalf("%+v", b)
		}
	}
	p.same(runA, "main", line("a", "1"), long[:piece], long[piece:2*piece], long[2*piece:], line("c", "3"))
	for i, e := range p.entries(runA) {
		if (e.Type == transcript.Unknown) != (0 < i && i < 4) {
			t.Errorf("entry %d is %s: %.80s", i, e.Type, e.Raw)
		}
	}
	p.write(p.main(sessionA), whole+"\n"+line("d", "4")+"\n")
	if b := p.collect(o); !b.OK() {
		t.Fatalf("%+v", b)
	}
	if n := len(p.entries(runA)); n != 6 {
		t.Errorf("%d entries after one more line", n)
	}
}

func quoted(s string) []byte {
	b, _ := jsontext.AppendString(nil, []byte(s))
	return b
}

// logOf collects with a log stream, and returns the records of an event in it.
func (p *place) logOf(o Options, event string) []string {
	p.t.Helper()
	var out strings.Builder
	o.Stream = transcript.NewStream(transcript.NewHandler(&out, "test", nil), transcript.StreamOptions{})
	p.collect(o)
	if err := o.Stream.Close(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	var found []string
	for l := range strings.Lines(out.String()) {
		if strings.Contains(l, `"event":"`+event+`"`) {
			found = append(found, l)
		}
	}
	return found
}

// TestErrorsAreSaid: what cannot be read is a transcript.error in the log, and
// what was read is on the record all the same.
func TestErrorsAreSaid(t *testing.T) {
	t.Parallel()
	t.Run("parse failure", func(t *testing.T) {
		p := newPlace(t)
		p.write(p.main(sessionA), line("a", "1")+"\n{\"type\":\"user\n\n"+line("b", "2")+"\n")
		errs := p.logOf(p.options(), "transcript.error")
		if len(errs) != 1 || !strings.Contains(errs[0], `"level":"WARNING"`) || !strings.Contains(errs[0], "a line that is not JSON") ||
			!strings.Contains(errs[0], `"source":"main"`) {
			t.Errorf("errors: %q", errs)
		}
		p.same(runA, "main", line("a", "1"), "{\"type\":\"user", "", line("b", "2"))
		path, err := record.Path(p.workspace, runA)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte(`"errors":1`)) || !bytes.Contains(text, []byte(`"transcript.error"`)) {
			t.Errorf("the record says nothing of the error: %v", err)
		}
		if again := p.logOf(p.options(), "transcript.error"); len(again) != 0 {
			t.Errorf("said again of a line that was read before: %q", again)
		}
	})
	t.Run("file I/O", func(t *testing.T) {
		p := newPlace(t)
		o := p.options()
		o.Roots, o.Files, o.Once = nil, []string{p.root}, true // a directory where a file is meant
		errs := p.logOf(o, "transcript.error")
		if len(errs) != 1 || !strings.Contains(errs[0], "it is no regular file") || !strings.Contains(errs[0], p.root) {
			t.Errorf("errors: %q", errs)
		}
	})
}

// TestQuietStream: the settings silence the stream, and never the record.
func TestQuietStream(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(p.main(sessionA), line("a", "1")+"\n")
	o := p.options()
	o.StreamQuiet = true
	if got := p.logOf(o, "transcript."); len(got) != 0 {
		t.Errorf("the quiet stream has %q", got)
	}
	p.same(runA, "main", line("a", "1"))
}

// TestSubagentBesideItsSession: older programs put agent-ID.jsonl beside the file
// of the session, and it is one record all the same.
func TestSubagentBesideItsSession(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	sub := strings.Replace(line("s", "sub"), "{", `{"isSidechain":true,"agentId":"a7","sessionId":"`+sessionA+`",`, 1)
	p.write(p.main(sessionA), line("a", "1")+"\n")
	p.write(filepath.Join(filepath.Dir(p.main(sessionA)), "agent-a7.jsonl"), sub+"\n")
	if b := p.once(); b.Records != 1 || b.Files != 2 {
		t.Errorf("balance %+v", b)
	}
	p.same(runA, "main", line("a", "1"))
	p.same(runA, "subagent:a7", sub)
}
