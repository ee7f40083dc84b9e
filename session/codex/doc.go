// Package codex reads what the Codex program writes: app-server messages of
// both directions, rollout files, and the output of codex exec --json.
//
// The mapping is pure. A Mapper, a Rollout or an Exec takes lines and gives
// items of the nine types; it keeps what it needs to count once what the
// program says twice, and nothing else. Source is always main: a child thread
// is told apart by detail.thread_id and detail.parent_thread_id.
// detail.notification holds the params (of a rollout line: the payload) as
// they came; detail.subtype says what a system_event is about.
//
// Every line yields at least one item, and the first bears the line as Raw.
// Deltas are recognised, so they are system_event entries of the subtype
// "delta", not unknown: the text that they add up to comes as one entry when
// its item ends, or when it is clear that it never will.
//
// Members of detail beside those: method (the message's), thread_id,
// parent_thread_id, turn_id, item_id; text of messages and thinking, with
// partial when it was cut short; name, tool_use_id and is_error of tools; usage
// of one response, with input counted without the cache; error; and for what
// is no notification, response.
package codex
