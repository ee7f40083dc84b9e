package web

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app"
)

const (
	maxJobs    = 16      // that run
	maxEnded   = 16      // that are kept for who looks again
	maxJobSize = 4 << 20 // bytes of the events of one
)

// jobs are the verbs that run for the page, and the last that did.
type jobs struct {
	server *Server

	mu      sync.Mutex
	ctx     context.Context // nil before the server serves, and when it ends
	cancel  context.CancelFunc
	list    []*job
	running sync.WaitGroup
}

// job is one verb. It is that App's Show and Person.
type job struct {
	server *Server
	cancel context.CancelFunc

	mu      sync.Mutex
	state   jobState
	newest  app.Event // of state.Events the last
	size    int       // of all of them
	last    int       // question
	waiting map[int]chan reply
}

// jobState is what is told of a job.
type jobState struct {
	Job     string            `json:"job"`
	Verb    string            `json:"verb"`
	Args    []json.RawMessage `json:"args"`
	Seat    string            `json:"seat,omitempty"` // at a table: the page shows it to who looks from there
	Began   time.Time         `json:"began"`
	Ended   *time.Time        `json:"ended,omitempty"`
	Stopped bool              `json:"stopped,omitempty"` // the person asked for it
	// Told is how much the stream has told of it; the number stands there, too, so
	// that nobody takes for new what is here.
	Told      int               `json:"told"`
	Events    []jobEvent        `json:"events"`
	Cut       bool              `json:"cut,omitempty"` // the oldest events are gone
	Questions []jobQuestion     `json:"questions"`     // that wait
	Results   []json.RawMessage `json:"results,omitempty"`
	Error     *failure          `json:"error,omitempty"`
}

type jobEvent struct {
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

type jobQuestion struct {
	Number   int             `json:"number"`
	Question json.RawMessage `json:"question"`
}

// reply is what the person said; none: they have nothing more to say.
type reply struct {
	text string
	none bool
}

func newJobs(s *Server) *jobs { return &jobs{server: s} }

func (j *jobs) begin(ctx context.Context) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ctx, j.cancel = context.WithCancel(ctx)
}

// end takes no more jobs, stops those that run, and waits for them.
func (j *jobs) end() {
	j.mu.Lock()
	j.ctx = nil
	j.cancel()
	j.mu.Unlock()
	j.running.Wait()
}

// start begins a job.
func (j *jobs) start(w http.ResponseWriter, r *http.Request) (any, error) {
	var in struct {
		Verb string            `json:"verb"`
		Args []json.RawMessage `json:"args"`
		Seat string            `json:"seat"`
	}
	if err := readJSON(r, &in); err != nil {
		return nil, err
	}
	if err := j.server.app.CheckCall(in.Verb, in.Args); err != nil {
		return nil, err
	}
	id, err := j.run(in.Verb, in.Args, in.Seat)
	if err != nil {
		return nil, err
	}
	answer(w, r, http.StatusAccepted, map[string]string{"job": id})
	return nil, nil
}

func (j *jobs) run(verb string, args []json.RawMessage, seat string) (string, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	running := 0
	for _, other := range j.list {
		if !other.ended() {
			running++
		}
	}
	switch {
	case j.ctx == nil:
		return "", app.ErrorOf(app.Environment, "the page is being closed")
	case running >= maxJobs:
		return "", app.ErrorOf(app.No, "%d things run already: let one end, or stop it", running)
	}
	for i := 0; len(j.list) >= maxJobs+maxEnded && i < len(j.list); i++ {
		if j.list[i].ended() {
			j.list = slices.Delete(j.list, i, i+1)
			i--
		}
	}
	t := &job{server: j.server, waiting: map[int]chan reply{}, state: jobState{
		Job: newSecret(), Verb: verb, Args: args, Seat: seat, Began: time.Now().UTC(),
		Events: []jobEvent{}, Questions: []jobQuestion{},
	}}
	ctx, cancel := context.WithCancel(j.ctx)
	t.cancel = cancel
	j.list = append(j.list, t)
	j.server.stream.publish(event{"kind": "began", "job": t.state.Job, "verb": verb})
	j.running.Go(func() {
		defer cancel()
		a := *j.server.app
		a.Show, a.Person, a.Stdin = t.show, t, strings.NewReader("")
		t.done(a.Call(ctx, verb, args))
	})
	return t.state.Job, nil
}

func (j *jobs) find(r *http.Request) (*job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, t := range j.list {
		if t.state.Job == r.PathValue("job") {
			return t, nil
		}
	}
	return nil, missing("there is no such job")
}

// show tells everything of those that run, and of the last that ended.
func (j *jobs) show(http.ResponseWriter, *http.Request) (any, error) {
	j.mu.Lock()
	list := slices.Clone(j.list)
	j.mu.Unlock()
	states := make([]jobState, len(list))
	for i, t := range list {
		states[i] = t.told()
	}
	return map[string]any{"jobs": states}, nil
}

func (j *jobs) answer(_ http.ResponseWriter, r *http.Request) (any, error) {
	var in struct {
		Number int    `json:"number"`
		Text   string `json:"text"`
		None   bool   `json:"none"`
	}
	if err := readJSON(r, &in); err != nil {
		return nil, err
	}
	t, err := j.find(r)
	if err != nil {
		return nil, err
	}
	if !t.reply(in.Number, reply{in.Text, in.None}) {
		return nil, app.ErrorOf(app.No, "nobody waits for that answer any more")
	}
	return map[string]bool{"taken": true}, nil
}

func (j *jobs) stop(_ http.ResponseWriter, r *http.Request) (any, error) {
	t, err := j.find(r)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	t.state.Stopped = t.state.Stopped || t.state.Ended == nil
	t.mu.Unlock()
	t.cancel()
	return map[string]bool{"stopping": true}, nil
}

func (t *job) ended() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state.Ended != nil
}

// told is a copy that nobody changes.
func (t *job) told() jobState {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.state
	s.Events, s.Questions = slices.Clone(s.Events), slices.Clone(s.Questions)
	return s
}

// tell publishes something of the job. The lock is held, so that the stream has it
// in the order in which it happened.
func (t *job) tell(e event) {
	t.state.Told++
	e["job"], e["told"] = t.state.Job, t.state.Told
	t.server.stream.publish(e)
}

func (t *job) show(e app.Event) {
	name, data, err := app.EventData(e)
	if err != nil {
		return // TestEveryEventHasAForm
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tell(event{"kind": "job", "event": jobEvent{name, data}})
	if joined, ok := join(t.newest, e); ok {
		e = joined
		if _, data, err = app.EventData(e); err != nil {
			return
		}
		last := len(t.state.Events) - 1
		t.size -= len(t.state.Events[last].Data)
		t.state.Events = t.state.Events[:last]
	}
	t.newest = e
	t.keep(jobEvent{name, data})
}

// maxJoined is how long words get that are kept as one.
const maxJoined = 4 << 10

// join makes one event of two, for who comes later: of progress the newest is
// enough, and words that were spoken a few at a time are words.
func join(before, e app.Event) (app.Event, bool) {
	switch e := e.(type) {
	case app.Progress:
		_, same := before.(app.Progress)
		return e, same
	case app.Speech:
		said, ok := before.(app.Speech)
		if !ok || said.Part != app.Spoken || e.Part != app.Spoken || said.Name != e.Name || len(said.Text) > maxJoined {
			return nil, false
		}
		e.Text = said.Text + e.Text
		return e, true
	}
	return nil, false
}

// keep remembers an event for who comes later, while there is room.
func (t *job) keep(e jobEvent) {
	events := append(t.state.Events, e)
	t.size += len(e.Data)
	for t.size > maxJobSize && len(events) > 1 {
		t.size -= len(events[0].Data)
		events, t.state.Cut = events[1:], true
	}
	t.state.Events = events
}

func (t *job) done(results []json.RawMessage, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now().UTC()
	t.state.Ended, t.state.Results = &now, results
	if err != nil {
		_, f := failureOf(err)
		t.state.Error = &f
	}
	t.tell(event{"kind": "done", "results": results, "error": t.state.Error, "stopped": t.state.Stopped})
}

// Ask implements app.Person.
func (t *job) Ask(ctx context.Context, q app.Question) (string, error) {
	data, err := json.Marshal(q)
	if err != nil {
		return "", err
	}
	answered := make(chan reply, 1)
	t.mu.Lock()
	t.last++
	number := t.last
	t.waiting[number] = answered
	asked := jobQuestion{number, data}
	t.state.Questions = append(t.state.Questions, asked)
	t.tell(event{"kind": "question", "number": number, "question": asked.Question})
	t.mu.Unlock()
	select {
	case r := <-answered:
		return r.typed()
	case <-ctx.Done():
	}
	if t.withdraw(number) {
		return "", context.Cause(ctx)
	}
	r := <-answered // it came in between: nobody's words are dropped
	return r.typed()
}

func (r reply) typed() (string, error) {
	if r.none {
		return "", io.EOF
	}
	return r.text, nil
}

// reply answers the question of a number, if that still waits.
func (t *job) reply(number int, r reply) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	to := t.waiting[number]
	if to == nil {
		return false
	}
	t.heard(number, r)
	t.settled(number)
	to <- r
	t.tell(event{"kind": "withdraw", "number": number, "answered": true})
	return true
}

// heard keeps what the person said among the events, so that who comes back reads
// the whole conversation; what is not echoed at a terminal is not kept here.
func (t *job) heard(number int, r reply) {
	i := slices.IndexFunc(t.state.Questions, func(q jobQuestion) bool { return q.Number == number })
	var asked struct{ Secret bool }
	if r.none || i < 0 || json.Unmarshal(t.state.Questions[i].Question, &asked) != nil || asked.Secret {
		return
	}
	data, err := json.Marshal(map[string]string{"text": r.text})
	if err != nil {
		return
	}
	said := jobEvent{"Answer", data}
	t.tell(event{"kind": "job", "event": said})
	t.newest = nil // what comes next is not joined to what came before
	t.keep(said)
}

// withdraw takes a question back; false where it was answered.
func (t *job) withdraw(number int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting[number] == nil {
		return false
	}
	t.settled(number)
	t.tell(event{"kind": "withdraw", "number": number})
	return true
}

func (t *job) settled(number int) {
	delete(t.waiting, number)
	t.state.Questions = slices.DeleteFunc(t.state.Questions, func(q jobQuestion) bool { return q.Number == number })
}
