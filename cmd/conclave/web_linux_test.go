package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// page is conclave web in another process, and a browser that its link let in.
type page struct {
	t           *testing.T
	cmd         *exec.Cmd
	err         bytes.Buffer
	out         *bufio.Reader
	base, token string
	stream      *bufio.Reader
}

// openPage starts it in a workspace, and enters.
func openPage(t *testing.T, w *real, args ...string) *page {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &page{t: t, cmd: exec.CommandContext(t.Context(), self)}
	p.cmd.Args = append([]string{"conclave", "web", "--no-open", "--addr", "127.0.0.1:0"}, args...)
	p.cmd.Dir, p.cmd.Stderr = w.dir, &p.err
	p.cmd.Env = []string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "GORACE=" + os.Getenv("GORACE")}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	link, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatalf("no link: %v", err)
	}
	p.enter(link)
	res := p.send("GET", "/api/stream", nil)
	t.Cleanup(func() { res.Body.Close() })
	p.stream = bufio.NewReader(res.Body)
	p.await("hello")
	return p
}

func (p *page) enter(link string) {
	p.t.Helper()
	base, code, ok := strings.Cut(strings.TrimSpace(link), "/#enter=")
	if !ok {
		p.t.Fatalf("no link: %q", link)
	}
	p.base = base
	var in struct{ Token string }
	p.ask("POST", "/api/enter", map[string]string{"code": code}, &in)
	p.token = in.Token
}

func (p *page) send(method, path string, body any) *http.Response {
	p.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.base+path, bytes.NewReader(data))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	return res
}

func (p *page) ask(method, path string, body, to any) {
	p.t.Helper()
	res := p.send(method, path, body)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode > 299 {
		p.t.Fatalf("%s %s: %s %s %v", method, path, res.Status, data, err)
	}
	if to != nil && json.Unmarshal(data, to) != nil {
		p.t.Fatalf("%s %s: %s", method, path, data)
	}
}

// start begins a verb.
func (p *page) start(verb string, args ...any) string {
	p.t.Helper()
	var job struct{ Job string }
	p.ask("POST", "/api/jobs", map[string]any{"verb": verb, "args": args}, &job)
	return job.Job
}

type pageEvent struct {
	Kind   string
	Number int
	Event  struct {
		Type string
		Data struct{ Text string }
	}
	Error *struct{ Kind, Text string }
}

// await hears the stream up to an event of a kind; words are what it tells then.
func (p *page) await(kind string, words ...string) pageEvent {
	p.t.Helper()
	for {
		line, err := p.stream.ReadString('\n')
		if err != nil {
			p.t.Fatalf("the stream ended before %s %q: %v", kind, words, err)
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var e pageEvent
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			p.t.Fatalf("%v in %s", err, line)
		}
		if e.Kind != kind {
			continue
		}
		found := true
		for _, w := range words {
			found = found && strings.Contains(data, w)
		}
		if found {
			return e
		}
	}
}

func (p *page) answer(job string, number int, text string) {
	p.t.Helper()
	p.ask("POST", "/api/jobs/"+job+"/answer", map[string]any{"number": number, "text": text}, nil)
}

// ends interrupts the program, as Ctrl-C does.
func (p *page) ends(code int) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		p.t.Fatal(err)
	}
	_ = p.cmd.Wait() // how it ended is in the state
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("conclave web ends with %d, not %d", got, code)
	}
}

// While somebody talks on the page, other terminals do what they do beside any
// other terminal; a second page is the first one; Ctrl-C settles what runs.
func TestPageAndAQuestInATerminal(t *testing.T) {
	t.Parallel()
	w := newReal(t, "agents:\n  cat: {agent: scripted, script: cat.script}\n")
	w.write(".campaign/quest.md", strings.Replace(familyQuest, "phase: 2", "phase: 3", 1))
	w.write("cat.script", "always\n  say Meow.\n")
	w.run(0, "trust", "--yes")
	p := openPage(t, w)
	job := p.start("Consult", map[string]any{"who": "cat", "message": "What do you see?"})
	p.await("job", "Speech", "Meow.")
	asked := p.await("question")

	w.run(0, "quest", "status")
	inOrder(t, w.out.String(), "conclave consult")
	w.run(0, "quest", "log", "Bread was baked")
	inOrder(t, w.out.String(), "Bread was baked")
	w.run(3, "consult", "owl", "-m", "And you?")
	inOrder(t, w.out.String(), "the quest is in use", "process", "conclave consult")
	note := p.start("LogProgress", map[string]any{}, "Milk was poured") // the page is another terminal, too
	p.await("done", note, "Milk was poured")

	w.run(0, "web", "--no-open") // finds the first, whatever it is told
	second := &page{t: t}
	second.enter(w.out.String())
	if second.base != p.base || second.token != p.token {
		t.Errorf("a second page: %s", w.out.String())
	}
	second.ask("GET", "/api/hello", nil, nil)
	w.run(0, "web", "--no-open", "--log", filepath.Join(w.home, "second.jsonl"))
	inOrder(t, w.out.String(), "served already, as it was begun")

	p.answer(job, asked.Number, "What else?")
	p.await("job", "Speech", "Meow.")
	p.await("question")
	p.ends(exitDone)
	p.await("done", job)
	p.await("end")
	for _, pattern := range []string{w.dir + "/.conclave/locks/quest.*", w.home + "/.cache/conclave/web/*"} {
		if left, err := filepath.Glob(pattern); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	}
	w.run(0, "quest", "show")
	inOrder(t, w.out.String(), "Bread was baked", "Milk was poured")
	w.run(0, "quest", "status") // what was cut waits for its person
	inOrder(t, w.out.String(), "Interrupted: the conversation with Cat")
}

// A table that is played on the page hears what is said in a terminal.
func TestPageAndATableInATerminal(t *testing.T) {
	t.Parallel()
	w := rot(t, gmAndCorwin, "")
	p := openPage(t, w)
	play := p.start("PlayTable", map[string]any{"table": "rot", "as": []string{corwin}})
	p.await("job", "somebody who is not here")
	gm := sit(t, w, "table", "play", "rot", "--as", "gm")
	p.await("job", "The game master came to the table")
	gm.await("set the scene")
	gm.types("It rains.\n/ask corwin: Do you go in?\n\n")
	asked := p.await("question", "Do you go in?")
	p.answer(play, asked.Number, "I go in.")
	gm.await("I go in.")
	gm.types("He goes in. The night passes.\n\n")
	p.await("job", "Passage", "The night passes.")
	gm.then("Go on with the story.", "/quit\n")
	gm.ends(exitDone)
	p.await("question")
	w.run(0, "table", "say", "rot", "--as", "gm", "Morning comes.")
	p.await("job", "Morning comes.")
	p.ask("POST", "/api/jobs/"+play+"/stop", nil, nil)
	p.await("done", play)
	w.run(0, "table", "status", "rot")
	without(t, "the table's status", w.out.String(), "is open in")
	p.ends(exitDone)
}
