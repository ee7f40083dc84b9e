package export

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"conclave/archive"
	"conclave/internal/jsontext"
)

// openFixtures opens captured sessions.
func openFixtures(t *testing.T, patterns ...string) *archive.Archive {
	t.Helper()
	var files []string
	for _, p := range patterns {
		found, err := filepath.Glob(filepath.Join("..", "..", "testdata", "fixtures", filepath.FromSlash(p)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", p, len(found), err)
		}
		files = append(files, found...)
	}
	a, err := archive.OpenFiles(t.Context(), t.TempDir(), files, archive.Options{NoRedact: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// exported writes captured sessions in one format.
func exported(t *testing.T, f Format, o Options, patterns ...string) string {
	t.Helper()
	a := openFixtures(t, patterns...)
	var b bytes.Buffer
	if _, err := Write(&b, f, a.Entries(context.Background()), o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const (
	withTools     = "claude/02-thinking-tools/home/.claude/projects/*/*.jsonl"
	withSubagents = "bundles/wink-claude-subagents.zip"
	ofCodex       = "codex/03-command-execution/codex_home/sessions/*/*/*/*.jsonl"
)

// otlpRequest is a request as the JSON form of the protocol has it, and no more:
// a member that it does not know is a fault.
type otlpRequest struct {
	ResourceSpans []struct {
		Resource   struct{ Attributes []otlpAttribute }
		ScopeSpans []struct {
			Scope struct{ Name, Version string }
			Spans []struct {
				TraceID      string `json:"traceId"`
				SpanID       string `json:"spanId"`
				ParentSpanID string `json:"parentSpanId"`
				Name         string
				Kind         int
				Start        string `json:"startTimeUnixNano"`
				End          string `json:"endTimeUnixNano"`
				Attributes   []otlpAttribute
				Status       struct {
					Code    int
					Message string
				}
			}
		}
	}
}

type otlpAttribute struct {
	Key   string
	Value struct {
		StringValue *string `json:"stringValue"`
		IntValue    *string `json:"intValue"`
		DoubleValue *float64
		ArrayValue  *struct {
			Values []struct{ StringValue string }
		}
	}
}

// readOTLP reads requests as a collector does, holds them to what it asks, and
// returns how many spans of each operation there are.
func readOTLP(t *testing.T, text string) map[string]int {
	t.Helper()
	count, ids, parents := map[string]int{}, map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(text) {
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		var r otlpRequest
		if err := dec.Decode(&r); err != nil {
			t.Fatalf("%v in %.300s", err, line)
		}
		for _, s := range r.ResourceSpans[0].ScopeSpans[0].Spans {
			trace, err1 := hex.DecodeString(s.TraceID)
			id, err2 := hex.DecodeString(s.SpanID)
			start, err3 := strconv.ParseUint(s.Start, 10, 64)
			end, err4 := strconv.ParseUint(s.End, 10, 64)
			if err := errors.Join(err1, err2, err3, err4); err != nil || len(trace) != 16 || len(id) != 8 || end < start ||
				ids[s.SpanID] || s.Kind < 1 || s.Kind > 5 {
				t.Errorf("span %+v", s)
			}
			ids[s.SpanID] = true
			if s.ParentSpanID != "" {
				parents[s.ParentSpanID] = true
			}
			operation := ""
			for _, a := range s.Attributes {
				values := 0
				for _, has := range []bool{a.Value.StringValue != nil, a.Value.IntValue != nil, a.Value.DoubleValue != nil,
					a.Value.ArrayValue != nil} {
					if has {
						values++
					}
				}
				if values != 1 {
					t.Errorf("%s of %s has no value, or two", a.Key, s.Name)
				}
				if a.Key == "gen_ai.operation.name" {
					operation = *a.Value.StringValue
				}
			}
			if operation == "" || !strings.HasPrefix(s.Name, operation) {
				t.Errorf("span %q of the operation %q", s.Name, operation)
			}
			count[operation]++
		}
	}
	for p := range parents {
		if !ids[p] {
			t.Errorf("no span has the id %s, and some have it as their parent", p)
		}
	}
	return count
}

func TestOTLP(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file                string
		agents, tools, chat int
	}{{withTools, 1, 4, 3}, {ofCodex, 1, 2, 3}} {
		text := exported(t, OTLP, Options{}, c.file)
		got := readOTLP(t, text)
		if got["invoke_agent"] != c.agents || got["execute_tool"] != c.tools || got["chat"] == 0 {
			t.Errorf("%s: %v", c.file, got)
		}
		if strings.Contains(text, "gen_ai.tool.call.arguments") || strings.Contains(text, "messages") {
			t.Errorf("%s: what was said is in it, and nobody asked for it", c.file)
		}
		if again := exported(t, OTLP, Options{}, c.file); again != text {
			t.Errorf("%s: a second export has other ids", c.file)
		}
		full := exported(t, OTLP, Options{Content: true}, c.file)
		if !strings.Contains(full, "gen_ai.tool.call.arguments") || !strings.Contains(full, "gen_ai.output.messages") {
			t.Errorf("%s: what was said was asked for, and is not there", c.file)
		}
	}
	// A session may begin with lines that have no time. None of its spans begins in 1970.
	for _, o := range []Options{{}, {Content: true}} {
		text := exported(t, OTLP, o, "claude/*/home/.claude/projects/*/*.jsonl", "codex/*/codex_home/sessions/*/*/*/*.jsonl")
		if got := readOTLP(t, text); got["invoke_agent"] < 30 || strings.Contains(text, `"startTimeUnixNano":"0"`) {
			t.Errorf("%v, or a span without a beginning", got)
		}
	}
	if got := readOTLP(t, exported(t, OTLP, Options{}, withSubagents)); got["invoke_agent"] < 2 || got["chat"] == 0 {
		t.Errorf("subagents: %v", got)
	}
}

// readATIF reads trajectories by the rules of the format: steps are numbered
// from 1, times are of ISO 8601, what is an agent's stands with agents only, an
// observation answers a call of its own step, a reference leads to an embedded
// trajectory with an id of its own.
func readATIF(t *testing.T, text string) (trajectories, steps, calls, answered int) {
	t.Helper()
	for line := range strings.Lines(text) {
		trajectories++
		ids := map[string]bool{}
		if embedded := jsontext.Get([]byte(line), "subagent_trajectories"); embedded != nil {
			_ = jsontext.Elements(embedded, func(v []byte) error {
				id := jsontext.Text(jsontext.Get(v, "trajectory_id"))
				if id == "" || ids[id] {
					t.Errorf("an embedded trajectory has the id %q", id)
				}
				ids[id] = true
				return nil
			})
			_ = jsontext.Elements(embedded, func(v []byte) error {
				s, c, a := readTrajectory(t, v, ids)
				steps, calls, answered = steps+s, calls+c, answered+a
				return nil
			})
		}
		s, c, a := readTrajectory(t, []byte(line), ids)
		steps, calls, answered = steps+s, calls+c, answered+a
	}
	return trajectories, steps, calls, answered
}

func readTrajectory(t *testing.T, text []byte, embedded map[string]bool) (steps, calls, answered int) {
	t.Helper()
	var r struct {
		Version string `json:"schema_version"`
		Agent   struct{ Name, Version string }
		Steps   []struct {
			ID        int `json:"step_id"`
			Timestamp string
			Source    string
			Message   *string
			Model     string `json:"model_name"`
			Reasoning string `json:"reasoning_content"`
			Calls     []struct {
				ID        string `json:"tool_call_id"`
				Name      string `json:"function_name"`
				Arguments map[string]any
			} `json:"tool_calls"`
			Observation *struct {
				Results []struct {
					Call string `json:"source_call_id"`
					Subs []struct {
						ID string `json:"trajectory_id"`
					} `json:"subagent_trajectory_ref"`
				}
			}
			Metrics *struct {
				Prompt int64 `json:"prompt_tokens"`
			}
		}
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if r.Version != "ATIF-v1.7" || r.Agent.Name == "" || r.Agent.Version == "" || len(r.Steps) == 0 {
		t.Errorf("%s by %+v, %d steps", r.Version, r.Agent, len(r.Steps))
	}
	for i, s := range r.Steps {
		if s.ID != i+1 || s.Message == nil || s.Source != "user" && s.Source != "agent" && s.Source != "system" {
			t.Errorf("step %d is %+v", i+1, s)
		}
		if _, err := time.Parse(time.RFC3339, s.Timestamp); s.Timestamp != "" && err != nil {
			t.Error(err)
		}
		if s.Source != "agent" && (s.Model != "" || s.Reasoning != "" || s.Calls != nil || s.Metrics != nil) {
			t.Errorf("step %d of the %s has what only an agent has", s.ID, s.Source)
		}
		own := map[string]bool{}
		for _, c := range s.Calls {
			if c.ID == "" || c.Name == "" || c.Arguments == nil || own[c.ID] {
				t.Errorf("step %d: call %+v", s.ID, c)
			}
			own[c.ID] = true
			calls++
		}
		if s.Observation == nil {
			continue
		}
		for _, o := range s.Observation.Results {
			if o.Call != "" && !own[o.Call] {
				t.Errorf("step %d: a result of the call %s, which is not there", s.ID, o.Call)
			}
			if o.Call != "" {
				answered++
			}
			for _, sub := range o.Subs {
				if !embedded[sub.ID] {
					t.Errorf("step %d names the trajectory %q, which is not there", s.ID, sub.ID)
				}
			}
		}
	}
	return len(r.Steps), calls, answered
}

func TestATIF(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		files        []string
		trajectories int
		calls        int
	}{{[]string{withTools}, 1, 4}, {[]string{ofCodex}, 1, 2}, {[]string{withTools, ofCodex}, 2, 6}} {
		text := exported(t, ATIF, Options{}, c.files...)
		n, steps, calls, answered := readATIF(t, text)
		if n != c.trajectories || steps < 3 || calls != c.calls || answered != calls {
			t.Errorf("%v: %d trajectories, %d steps, %d calls, %d answered", c.files, n, steps, calls, answered)
		}
	}
	text := exported(t, ATIF, Options{}, withSubagents)
	_, _, calls, answered := readATIF(t, text)
	if calls == 0 || answered != calls || !strings.Contains(text, "subagent_trajectories") {
		t.Errorf("subagents: %d calls, %d answered", calls, answered)
	}
}
