package export

import (
	"bufio"
	"cmp"
	"encoding/json"

	"conclave/archive"
	"conclave/internal/jsontext"
	"conclave/transcript"
)

// atifVersion is the version of the trajectory format that is written.
const atifVersion = "ATIF-v1.7"

// atif writes a trajectory for each run, one a line; of one run that is a file of
// the format. A trajectory is told as a whole, with those of subagents within it,
// so it is held in memory until its run ends.
type atif struct {
	out  *bufio.Writer
	o    Options
	run  string
	main *trajectory
	subs []*trajectory // in the order in which they came
}

type trajectory struct {
	Version  string        `json:"schema_version"`
	Session  string        `json:"session_id,omitempty"`
	ID       string        `json:"trajectory_id,omitempty"`
	Agent    atifAgent     `json:"agent"`
	Steps    []*step       `json:"steps"`
	Final    *finalMetrics `json:"final_metrics,omitempty"`
	Extra    *atifExtra    `json:"extra,omitempty"`
	Embedded []*trajectory `json:"subagent_trajectories,omitempty"`

	used   transcript.Usage
	open   *step // the agent's step that may still grow
	calls  map[string]*step
	parent string // the call that began a subagent
}

type atifAgent struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Model   string `json:"model_name,omitempty"`
}

// atifExtra is what the format has no place for: in whose role it was said, and
// so what it was allowed to know.
type atifExtra struct {
	Run     string `json:"conclave.run,omitempty"`
	Role    string `json:"conclave.role,omitempty"`
	Prompt  string `json:"conclave.prompt_name,omitempty"`
	Project string `json:"conclave.project,omitempty"`
	Source  string `json:"conclave.source,omitempty"`
	Level   string `json:"conclave.level,omitempty"`
	Input   string `json:"conclave.model_input,omitempty"`

	Given  *[]string `json:"conclave.given,omitempty"` // nil: nobody noted it
	Denied *[]string `json:"conclave.denied,omitempty"`
}

type finalMetrics struct {
	Prompt     int64   `json:"total_prompt_tokens"`
	Completion int64   `json:"total_completion_tokens"`
	Cached     int64   `json:"total_cached_tokens"`
	Cost       float64 `json:"total_cost_usd,omitempty"`
	Steps      int     `json:"total_steps"`
}

type step struct {
	ID          int          `json:"step_id"`
	Timestamp   string       `json:"timestamp,omitempty"`
	Source      string       `json:"source"`
	Model       string       `json:"model_name,omitempty"`
	Message     string       `json:"message"`
	Reasoning   string       `json:"reasoning_content,omitempty"`
	Calls       []atifCall   `json:"tool_calls,omitempty"`
	Observation *observation `json:"observation,omitempty"`
	Metrics     *stepMetrics `json:"metrics,omitempty"`
}

type atifCall struct {
	ID        string          `json:"tool_call_id"`
	Name      string          `json:"function_name"`
	Arguments json.RawMessage `json:"arguments"`
}

type observation struct {
	Results []*result `json:"results"`
}

type result struct {
	Call    string          `json:"source_call_id,omitempty"`
	Content string          `json:"content"`
	Subs    []trajectoryRef `json:"subagent_trajectory_ref,omitempty"`
}

type trajectoryRef struct {
	ID string `json:"trajectory_id"`
}

type stepMetrics struct {
	Prompt     int64   `json:"prompt_tokens"`
	Completion int64   `json:"completion_tokens"`
	Cached     int64   `json:"cached_tokens,omitempty"`
	Cost       float64 `json:"cost_usd,omitempty"`
}

func (a *atif) entry(e *archive.Entry) error {
	if a.main != nil && e.Run != a.run {
		if err := a.close(); err != nil {
			return err
		}
	}
	if a.main == nil {
		a.run = e.Run
		a.main = newTrajectory(e)
		a.main.Extra = &atifExtra{Run: e.Run, Role: e.Role, Prompt: e.PromptName, Project: e.Project}
	}
	t := a.of(e)
	t.add(e, a.o.All)
	if e.Response != nil {
		t.usage(e.Response)
	}
	if r := e.Room; r != nil {
		x := t.Extra
		x.Level, x.Input, x.Given, x.Denied = r.Level, r.ModelInput, &r.Given, &r.Denied
	}
	return nil
}

func newTrajectory(e *archive.Entry) *trajectory {
	return &trajectory{Version: atifVersion, Session: e.SessionID,
		Agent: atifAgent{Name: cmp.Or(e.Adapter, "unknown"), Version: "unknown"},
		Steps: []*step{}, calls: map[string]*step{}}
}

// of is the trajectory that an entry belongs to.
func (a *atif) of(e *archive.Entry) *trajectory {
	if e.Source == transcript.Main {
		return a.main
	}
	for _, t := range a.subs {
		if t.ID == e.Source {
			return t
		}
	}
	t := newTrajectory(e)
	t.ID, t.Extra = e.Source, &atifExtra{Source: e.Source}
	t.parent = jsontext.Text(jsontext.Get(e.Detail, "parent_tool_use_id"))
	a.subs = append(a.subs, t)
	return t
}

func (t *trajectory) add(e *archive.Entry, all bool) {
	t.Session = cmp.Or(t.Session, e.SessionID)
	switch e.Type {
	case transcript.UserMessage:
		t.step("user", e).Message = e.Text
	case transcript.AssistantMessage:
		s := t.agent(e, func(s *step) bool { return s.Message == "" && s.Calls == nil })
		s.Message = e.Text
	case transcript.Thinking:
		s := t.agent(e, func(s *step) bool { return s.Message == "" && s.Calls == nil && s.Reasoning == "" })
		s.Reasoning = e.Text
	case transcript.ToolUse:
		s := t.agent(e, func(*step) bool { return true })
		s.Calls = append(s.Calls, atifCall{e.ToolID, orTool(e.Tool), arguments(e)})
		t.calls[e.ToolID] = s
	case transcript.ToolResult:
		t.result(e)
	case transcript.TokenUsage: // see Response
	case transcript.Error:
		t.step("system", e).Message = "error: " + e.Text
	default:
		if all {
			t.step("system", e).Message = e.Text
		}
	}
}

// step adds one; whatever the agent did before is finished.
func (t *trajectory) step(source string, e *archive.Entry) *step {
	s := &step{ID: len(t.Steps) + 1, Timestamp: stamp(e.Timestamp), Source: source}
	t.Steps = append(t.Steps, s)
	t.open = nil
	return s
}

// agent is the agent's step at hand if it takes one thing more, else a new one:
// what came after a result was said knowing it.
func (t *trajectory) agent(e *archive.Entry, takes func(*step) bool) *step {
	if t.open == nil || t.open.Observation != nil || !takes(t.open) {
		t.open = t.step("agent", e)
	}
	return t.open
}

// result puts what a tool gave back to its call; what answers none is told by
// the system.
func (t *trajectory) result(e *archive.Entry) {
	r := &result{Call: e.ToolID, Content: e.Text}
	s := t.calls[e.ToolID]
	if s == nil || e.ToolID == "" {
		open := t.open
		s = t.step("system", e)
		t.open, r.Call = open, ""
	}
	if s.Observation == nil {
		s.Observation = &observation{}
	}
	s.Observation.Results = append(s.Observation.Results, r)
}

func (t *trajectory) usage(r *archive.Response) {
	u, model := r.Usage, r.Model
	t.used = t.used.Add(u)
	t.Agent.Model = cmp.Or(t.Agent.Model, model)
	for i := len(t.Steps) - 1; i >= 0; i-- {
		if s := t.Steps[i]; s.Source == "agent" {
			if s.Metrics == nil {
				s.Metrics, s.Model = &stepMetrics{}, model
			}
			s.Metrics.Prompt += u.Input + u.CacheRead + u.CacheWrite
			s.Metrics.Completion += u.Output
			s.Metrics.Cached += u.CacheRead
			s.Metrics.Cost += u.CostUSD
			return
		}
	}
}

// arguments are what a tool was called with: an object, as the format wants it.
func arguments(e *archive.Entry) json.RawMessage {
	if len(e.Input) > 0 && e.Input[0] == '{' && jsontext.Valid(e.Input) {
		return e.Input
	}
	text, _ := jsontext.AppendString([]byte(`{"input":`), []byte(e.Text))
	return append(text, '}')
}

// finish says what the whole trajectory came to.
func (t *trajectory) finish() {
	t.Final = &finalMetrics{Prompt: t.used.Input + t.used.CacheRead + t.used.CacheWrite, Completion: t.used.Output,
		Cached: t.used.CacheRead, Cost: t.used.CostUSD, Steps: len(t.Steps)}
}

// close writes the run at hand.
func (a *atif) close() error {
	if a.main == nil {
		return nil
	}
	for _, sub := range a.subs {
		if sub.finish(); len(sub.Steps) == 0 {
			continue
		}
		for _, t := range append([]*trajectory{a.main}, a.subs...) {
			s := t.calls[sub.parent]
			if s == nil || sub.parent == "" || s.Observation == nil {
				continue
			}
			for _, r := range s.Observation.Results {
				if r.Call == sub.parent {
					r.Subs = append(r.Subs, trajectoryRef{sub.ID})
				}
			}
		}
	}
	a.main.finish()
	for _, sub := range a.subs {
		if len(sub.Steps) > 0 { // else it said nothing
			a.main.Embedded = append(a.main.Embedded, sub)
		}
	}
	if len(a.main.Steps) == 0 {
		// The format wants one. Whoever wrote this kept of the main agent what
		// is none.
		a.main.Steps = append(a.main.Steps, &step{ID: 1, Source: "system", Message: "nothing was said here"})
	}
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(a.main)
	a.main, a.subs = nil, nil
	return err
}
