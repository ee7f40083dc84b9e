package export

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// atifMembers are the members of each part of a trajectory, by the published
// description of version 1.7. Readers of the format refuse any other: what it has
// no place for belongs in extra.
var atifMembers = map[string]string{
	"": "schema_version session_id trajectory_id agent steps notes final_metrics continued_trajectory_ref extra " +
		"subagent_trajectories",
	"agent": "name version model_name tool_definitions extra",
	"steps": "step_id timestamp source model_name reasoning_effort message reasoning_content tool_calls observation " +
		"metrics extra llm_call_count is_copied_context",
	"tool_calls":              "tool_call_id function_name arguments extra",
	"observation":             "results",
	"results":                 "source_call_id content subagent_trajectory_ref extra",
	"subagent_trajectory_ref": "trajectory_id session_id trajectory_path extra",
	"metrics": "prompt_tokens completion_tokens cached_tokens cost_usd prompt_token_ids completion_token_ids " +
		"logprobs extra",
	"final_metrics": "total_prompt_tokens total_completion_tokens total_cached_tokens total_cost_usd total_steps extra",
}

// strange are the members of a value that the format does not know.
func strange(v any, part string) (list []string) {
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			list = append(list, strange(element, part)...)
		}
	case map[string]any:
		if part == "subagent_trajectories" {
			part = ""
		}
		for key, member := range v {
			if !slices.Contains(strings.Fields(atifMembers[part]), key) {
				list = append(list, part+"."+key)
			} else if _, deeper := atifMembers[key]; deeper || key == "subagent_trajectories" {
				list = append(list, strange(member, key)...)
			}
		}
	}
	return list
}

// TestATIFHasNoMembersOfItsOwn: of every captured session, with and without what
// the program noted for itself, and of a seat's.
func TestATIFHasNoMembersOfItsOwn(t *testing.T) {
	texts := []string{exported(t, ATIF, Options{}, withSubagents)}
	for _, all := range []bool{false, true} {
		texts = append(texts, exported(t, ATIF, Options{All: all}, "claude/*/home/.claude/projects/*/*.jsonl",
			"codex/*/codex_home/sessions/*/*/*/*.jsonl"))
	}
	var seat strings.Builder
	if _, err := Write(&seat, ATIF, openLog(t).Entries(t.Context()), Options{}); err != nil {
		t.Fatal(err)
	}
	trajectories := 0
	for _, text := range append(texts, seat.String()) {
		readATIF(t, text)
		for line := range strings.Lines(text) {
			trajectories++
			var v any
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Fatal(err)
			}
			if list := strange(v, ""); len(list) > 0 {
				t.Errorf("the format does not know %v", list)
			}
		}
	}
	if trajectories < 60 {
		t.Errorf("only %d trajectories were read", trajectories)
	}
	if list := strange(map[string]any{"steps": []any{map[string]any{"colour": 1}}}, ""); len(list) != 1 {
		t.Errorf("a strange member is not found: %v", list)
	}
}
