// Package toolbox serves the few tools that an agent has inside its room: to
// submit a verdict, write a prompt, roll, narrate. What they do is up to their
// makers; the toolbox is the counter over which they are handed.
//
// A Toolbox belongs to one room for one turn. Programs reach it as an MCP
// server over streamable HTTP (ServeHTTP; the gateway puts it at /mcp), agents
// of this process through CallTool: the same tools, checks and limits.
//
// It refuses whatever lacks the room's token (without one nobody is served over
// HTTP), requests of browsers, inputs that are too large or do not fit the
// tool's schema, and calls beyond the limit. What it refuses it explains to
// the agent, by the place in the input and what was expected there. Schemas
// are those of internal/schema; a keyword outside of it is refused when the
// toolbox is made, because a rule that is not checked is none.
//
// Recorded are, for every call, an event "tool.call" with the input's text and
// digest before the tool runs, and "tool.result" after. What cannot be recorded
// does not happen: the tool does not run, its result is not given, and no
// further call is taken.
//
// It promises that a tool is called with exactly the bytes that were checked,
// that these name no key twice, and that tools run one at a time. It speaks the
// part of MCP that the known programs use of such a server: initialize, ping,
// tools/list and tools/call, each answered by plain JSON, without sessions.
package toolbox
