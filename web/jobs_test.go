package web

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"conclave/app"
)

type args = []any

// start begins a job.
func (p *served) start(verb string, in ...any) string {
	p.t.Helper()
	if in == nil {
		in = args{}
	}
	var got struct{ Job string }
	p.get("POST", "/api/jobs", map[string]any{"verb": verb, "args": in}, 202, &got)
	if got.Job == "" {
		p.t.Fatalf("%s: no job", verb)
	}
	return got.Job
}

// job is what is told of one to who comes later.
func (p *served) job(id string) jobState {
	p.t.Helper()
	var all struct{ Jobs []jobState }
	p.get("GET", "/api/jobs", nil, 200, &all)
	for _, j := range all.Jobs {
		if j.Job == id {
			return j
		}
	}
	p.t.Fatalf("there is no job %s in %+v", id, all)
	return jobState{}
}

// TestJob: a verb that is called from the page tells everything in order, and is
// told whole to who comes later.
func TestJob(t *testing.T) {
	p := serve(t, Options{})
	if err := os.WriteFile(filepath.Join(p.root, "README.md"), []byte("# A pier\n\nTODO: build it.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	l := p.listen("")
	id := p.start("Council", map[string]any{"message": "What is missing?", "once": true})
	if e := l.until("began"); e.Job != id {
		t.Errorf("began: %+v", e)
	}
	var types []string
	for n := 1; ; n++ {
		e, ok := l.next()
		for ok && e.Job == "" { // what the archive took up meanwhile
			e, ok = l.next()
		}
		if !ok || e.Job != id || e.Told != n {
			t.Fatalf("%d: %+v", n, e)
		}
		if e.Kind == "done" {
			var res app.Result
			if e.Error != nil || len(e.Results) != 1 || json.Unmarshal(e.Results[0], &res) != nil || res.Flow != "council" {
				t.Errorf("done: %+v %+v", e, e.Error)
			}
			break
		}
		if e.Kind != "job" {
			t.Errorf("a council asks: %+v", e)
		}
		types = append(types, e.Event.Type)
	}
	if !slices.Contains(types, "Speech") {
		t.Errorf("of a council was told: %v", types)
	}
	j := p.job(id)
	if j.Ended == nil || j.Error != nil || len(j.Results) != 1 || j.Told != len(types)+1 || len(j.Events) == 0 || j.Cut {
		t.Errorf("afterwards: %+v", j)
	}
	var said []string
	for _, e := range j.Events {
		said = append(said, e.Type)
	}
	if !slices.Equal(slices.Compact(slices.Clone(types)), slices.Compact(said)) {
		t.Errorf("told %v, and later %v", types, said)
	}
}

// TestQuestions: they wait for whoever looks, are answered once, and what comes in
// the middle is not lost.
func TestQuestions(t *testing.T) {
	p := serve(t, Options{})
	l := p.listen("")
	id := p.start("TalkNewTable", "ash", "")
	q := l.until("question")
	if q.Job != id || q.Question.Text == "" || q.Number != 1 {
		t.Fatalf("asked: %+v", q)
	}
	// Somebody loads the page only now.
	j := p.job(id)
	if len(j.Questions) != 1 || j.Questions[0].Number != 1 || j.Ended != nil || j.Told != q.Told {
		t.Errorf("in the middle: %+v", j)
	}
	other := p.listen("")
	for _, body := range []string{`{"number":7,"text":"x"}`, `{"number":0}`, `{"number":-1,"none":true}`} {
		p.get("POST", "/api/jobs/"+id+"/answer", body, 409, nil)
	}
	p.get("POST", "/api/jobs/nobody/answer", `{"number":1}`, 404, nil)
	p.get("POST", "/api/jobs/"+id+"/answer", `{"number":1,"text":"An island in the fog."}`, 200, nil)
	p.get("POST", "/api/jobs/"+id+"/answer", `{"number":1,"text":"again"}`, 409, nil)
	if e := other.until("withdraw"); e.Number != 1 || !e.Answered {
		t.Errorf("another tab hears: %+v", e)
	}
	for {
		e, ok := l.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		if e.Kind == "question" { // they have nothing more to say
			p.get("POST", "/api/jobs/"+id+"/answer", map[string]any{"number": e.Number, "none": true}, 200, nil)
		}
		if e.Kind == "done" {
			if e.Error != nil || e.Stopped {
				t.Errorf("done: %+v, %+v", e, e.Error)
			}
			break
		}
	}
	j = p.job(id)
	if len(j.Questions) != 0 || j.Ended == nil {
		t.Errorf("afterwards: %+v", j)
	}
	said := slices.ContainsFunc(j.Events, func(e jobEvent) bool {
		return e.Type == "Answer" && strings.Contains(string(e.Data), "An island in the fog.")
	})
	if !said {
		t.Errorf("who comes later does not read what was said: %s", j.Events)
	}
	p.get("POST", "/api/jobs/"+id+"/answer", `{"number":2,"text":"late"}`, 409, nil)
	kept := filepath.Join(p.root, ".conclave", "new", "ash.json")
	if data, err := os.ReadFile(kept); err != nil || !strings.Contains(string(data), "fog") {
		t.Errorf("what was said is not kept: %s %v", data, err)
	}
}

// TestStop: a job that is stopped is settled as by an interrupt, and says so.
func TestStop(t *testing.T) {
	p := serve(t, Options{})
	l := p.listen("")
	id := p.start("TalkNewTable", "ash", "")
	l.until("question")
	p.get("POST", "/api/jobs/nobody/stop", nil, 404, nil)
	p.get("POST", "/api/jobs/"+id+"/stop", nil, 200, nil)
	if e := l.until("withdraw"); e.Answered {
		t.Errorf("the question: %+v", e)
	}
	if e := l.until("done"); !e.Stopped || e.Error == nil {
		t.Errorf("done: %+v", e)
	}
	p.get("POST", "/api/jobs/"+id+"/stop", nil, 200, nil)
}

// TestWrongCalls: what makes no sense is no job.
func TestWrongCalls(t *testing.T) {
	p := serve(t, Options{})
	for _, body := range []string{
		`{}`, `{"verb":"Nothing","args":[]}`, `{"verb":"RunInRoom","args":[]}`, `{"verb":"Call","args":["x",[]]}`,
		`{"verb":"Consult","args":[]}`, `{"verb":"Consult","args":[{"Whom":"cat"}]}`, `{"verb":"Consult","args":[1]}`,
		`{"verb":"Consult","args":{}}`, `{"verb":"InstallPlugin","args":[{}]}`,
	} {
		var got struct{ Error failure }
		p.get("POST", "/api/jobs", body, 400, &got)
		if got.Error.Kind != "usage" || got.Error.Text == "" {
			t.Errorf("%s: %+v", body, got)
		}
	}
	l := p.listen("")
	p.start("Consult", map[string]any{"who": "nobody in particular", "message": "x"})
	if e := l.until("done"); e.Error == nil || e.Error.Kind != "usage" || e.Error.Text == "" {
		t.Errorf("done: %+v", e.Error)
	}
	var all struct{ Jobs []jobState }
	p.get("GET", "/api/jobs", nil, 200, &all)
	if len(all.Jobs) != 1 {
		t.Errorf("%d jobs", len(all.Jobs))
	}
}

// TestEndSettles: when the process is told to end, what runs is stopped, told and
// waited for, and nothing new begins.
func TestEndSettles(t *testing.T) {
	p := serve(t, Options{})
	l := p.listen("")
	id := p.start("TalkNewTable", "ash", "")
	l.until("question")
	if err := p.end(); err != nil {
		t.Error(err)
	}
	var kinds []string
	for {
		e, ok := l.next()
		if !ok {
			break
		}
		kinds = append(kinds, e.Kind)
	}
	if len(kinds) < 3 || !slices.Equal(kinds[len(kinds)-2:], []string{"done", "end"}) {
		t.Errorf("at the end was told: %v", kinds)
	}
	for _, j := range p.s.jobs.list {
		if !j.ended() || j.state.Job != id {
			t.Errorf("%+v is left", j.told())
		}
	}
	if _, err := p.s.jobs.run("Council", []json.RawMessage{[]byte("{}")}, ""); err == nil {
		t.Error("something began afterwards")
	}
}

func TestTooManyJobs(t *testing.T) {
	p := serve(t, Options{})
	var ids []string
	for i := range maxJobs {
		ids = append(ids, p.start("TalkNewTable", fmt.Sprintf("ash-%d", i), ""))
	}
	p.get("POST", "/api/jobs", map[string]any{"verb": "TalkNewTable", "args": args{"more", ""}}, 409, nil)
	l := p.listen("")
	for _, id := range ids {
		p.get("POST", "/api/jobs/"+id+"/stop", nil, 200, nil)
		for l.until("done").Job != id {
			continue
		}
	}
	for i := range maxEnded + 4 { // those that ended are forgotten, the oldest first
		id := p.start("Consult", map[string]any{"who": fmt.Sprint("nobody ", i)})
		for l.until("done").Job != id {
			continue
		}
	}
	var all struct{ Jobs []jobState }
	p.get("GET", "/api/jobs", nil, 200, &all)
	if n := len(all.Jobs); n > maxJobs+maxEnded || all.Jobs[n-1].Verb != "Consult" {
		t.Errorf("%d jobs are kept", n)
	}
}

// TestEventsInOrder: whoever shows at once, the stream and the job agree in which
// order it was.
func TestEventsInOrder(t *testing.T) {
	p := serve(t, Options{})
	l := p.listen("")
	l.next()
	j := &job{server: p.s, waiting: map[int]chan reply{}, state: jobState{Job: "J"}}
	var showing sync.WaitGroup
	const each = 200
	for who := range 8 {
		showing.Go(func() {
			for n := range each {
				j.show(app.Passage{Kind: fmt.Sprint(who), Text: fmt.Sprint(n)})
			}
		})
	}
	showing.Wait()
	last := map[string]int{}
	state := j.told()
	for i := range 8 * each {
		e, _ := l.next()
		if e.Told != i+1 || string(e.Event.Data) != string(state.Events[i].Data) {
			t.Fatalf("%d: %+v, and kept %s", i, e, state.Events[i].Data)
		}
		var text struct{ Kind, Text string }
		if err := json.Unmarshal(e.Event.Data, &text); err != nil {
			t.Fatal(err)
		}
		if text.Text != fmt.Sprint(last[text.Kind]) {
			t.Fatalf("%s says %s after %d", text.Kind, text.Text, last[text.Kind])
		}
		last[text.Kind]++
	}
}

// TestWhatIsKeptOfAJob: words of one are joined, of progress the newest is there,
// and there is a bound.
func TestWhatIsKeptOfAJob(t *testing.T) {
	j := &job{server: &Server{stream: newStream()}, state: jobState{Job: "J"}}
	say := func(name string, part app.Part, text string) { j.show(app.Speech{Name: name, Part: part, Text: text}) }
	for n := range int64(50) {
		j.show(app.Progress{What: "work", Done: n})
	}
	for range 3 {
		say("Cat", app.Spoken, "a ")
	}
	say("Owl", app.Spoken, "b")
	say("Cat", app.Spoken, "c")
	say("Cat", app.Whole, "a a a c")
	var got []string
	for _, e := range j.told().Events {
		got = append(got, string(e.Data))
	}
	want := []string{`{"what":"work","done":49,"total":0}`, `{"emoji":"","name":"Cat","part":"spoken","text":"a a a "}`,
		`{"emoji":"","name":"Owl","part":"spoken","text":"b"}`, `{"emoji":"","name":"Cat","part":"spoken","text":"c"}`,
		`{"emoji":"","name":"Cat","part":"whole","text":"a a a c"}`}
	if !slices.Equal(got, want) {
		t.Errorf("kept: %q", got)
	}
	for range 20_000 {
		say("Cat", app.Spoken, "word after word ")
	}
	state := j.told()
	if n := len(state.Events); n < 60 || n > 120 {
		t.Errorf("20,000 pieces are kept as %d", n)
	}
	long := strings.Repeat("x", maxJobSize/4)
	for range 10 {
		j.show(app.Passage{Text: long})
	}
	size := 0
	state = j.told()
	for _, e := range state.Events {
		size += len(e.Data)
	}
	if size > maxJobSize || size != j.size || !state.Cut {
		t.Errorf("%d bytes are kept, counted %d, cut %v", size, j.size, state.Cut)
	}
}
