package codex

import (
	"conclave/internal/jsontext"
	"conclave/transcript"
)

// eventMsg maps what the person saw.
func (r *Rollout) eventMsg(l *rolloutLine) []transcript.Item {
	switch l.sub {
	case "item_completed":
		return r.itemCompleted(l)
	case "token_count":
		var last, total []byte
		_ = pick(jsontext.Get(l.payload, "info"), want{"last_token_usage", &last}, want{"total_token_usage", &total})
		return r.tokens(l, total, last)
	case "task_started", "turn_started":
		r.newTurn()
		return r.event("turn_started", l)
	case "task_complete", "turn_complete":
		return r.taskComplete(l)
	case "turn_aborted":
		return r.event("interrupted", l)
	case "error", "stream_error":
		return r.failure(l)
	case "user_message":
		return r.prompt(l, jsontext.Get(l.payload, "message"))
	case "agent_message":
		return r.said(l, "", transcript.AssistantMessage, jsontext.Get(l.payload, "message"))
	case "agent_reasoning", "agent_reasoning_raw_content":
		return r.said(l, "", transcript.Thinking, jsontext.Get(l.payload, "text"))
	case "context_compacted", "thread_settings_applied", "warning", "thread_rolled_back",
		"entered_review_mode", "exited_review_mode", "thread_name_updated", "thread_goal_updated":
		return r.event(l.sub, l)
	case "exec_command_begin", "exec_command_end", "patch_apply_begin", "patch_apply_end",
		"mcp_tool_call_begin", "mcp_tool_call_end", "web_search_begin", "web_search_end", "view_image_tool_call":
		return r.event("duplicate", l) // the response_item of the call is the entry
	}
	return r.notKnown(l, "event_msg "+l.sub)
}

func (r *Rollout) newTurn() {
	clear(r.seen)
	r.counted()
	r.prompts, r.spoken, r.failed = nil, nil, false
}

// failure maps an error event; the end of the turn repeats it.
func (r *Rollout) failure(l *rolloutLine) []transcript.Item {
	subtype := "error"
	if l.sub == "stream_error" {
		subtype = "retry"
	} else {
		r.failed = true
	}
	return one(r.item(transcript.Error, subtype, l, nil))
}

func (r *Rollout) taskComplete(l *rolloutLine) []transcript.Item {
	failure := jsontext.Get(l.payload, "error")
	if len(failure) <= len(`""`) || string(failure) == "null" || r.failed {
		return r.event("turn_completed", l)
	}
	return one(r.item(transcript.Error, "turn_failed", l, func(d *detail) { d.raw("error", failure) }))
}

// itemCompleted maps an item; its type is spelt in capitals here.
func (r *Rollout) itemCompleted(l *rolloutLine) []transcript.Item {
	item := jsontext.Get(l.payload, "item")
	var id, kind, content []byte
	_ = pick(item, want{"id", &id}, want{"type", &kind}, want{"content", &content})
	switch k := jsontext.Text(kind); k {
	case "UserMessage":
		return r.prompt(l, joinTexts(content))
	case "AgentMessage", "Plan":
		text := joinTexts(content)
		if text == nil {
			text = jsontext.Get(item, "text")
		}
		return r.said(l, jsontext.Text(id), transcript.AssistantMessage, text)
	case "Reasoning":
		return r.said(l, jsontext.Text(id), transcript.Thinking,
			firstText(item, "summary_text", "summary", "raw_content", "content"))
	case "ContextCompaction":
		return r.event("compaction_notice", l)
	case "SubAgentActivity", "HookPrompt", "EnteredReviewMode", "ExitedReviewMode":
		return r.event("item", l)
	case "CommandExecution", "FileChange", "McpToolCall", "DynamicToolCall", "CollabAgentToolCall",
		"WebSearch", "ImageView", "ImageGeneration", "Sleep", "FunctionCallOutput":
		return r.toolItem(l, item, jsontext.Text(id), k)
	default:
		return r.notKnown(l, "item type "+k)
	}
}

// toolItem maps a finished tool call. Its call and its output are usually
// lines of their own. Calls made by a script of the model are nowhere else,
// and a web search has no output of its own.
func (r *Rollout) toolItem(l *rolloutLine, item []byte, id, kind string) []transcript.Item {
	name := jsontext.Quote(kind)
	if tool := jsontext.Get(item, "tool"); len(tool) > 2 {
		name = tool
	}
	if s := r.tools[id]; s.used && kind != "WebSearch" {
		s.failed = s.failed || itemFailed(item) // the output's own line does not say
		r.tools[id] = s
		return r.event("duplicate", l)
	}
	var out []transcript.Item
	if !r.tools[id].used {
		out = r.use(l, id, name)
	}
	return append(out, r.result(l, id, name, itemFailed(item))...)
}
