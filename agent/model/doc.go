// Package model lets a model behind an API sit in a seat, without a program
// around it: Anthropic Messages, OpenAI Responses, chat completions as many
// servers speak them, and Gemini.
//
// An agent of this package runs in this process and has one way out: the
// gateway of its seat, by agent.Model.Dial. It shows the gateway's token; the
// key stays there, and so do budget, the list of models and the record of every
// byte that is sent and comes. It reads files through agent.Spec.Files alone and
// starts nothing. It refuses to start without a gateway, a model's name or an
// emitter.
//
// # A turn
//
// A message is sent with the conversation so far. The answer is read as it
// streams: pieces of text are shown as they come. When it has ended its blocks
// are recorded, each with the very bytes of the stream that told of it (raw), so
// that each byte of an answer stands in one entry; then, and not before, its
// tools are called, one after another in the order in which the model named
// them: those of the room (Spec.Tools.Caller), and list_files, read_file and
// search_files over Spec.Files where Spec.Tools.Builtin names them. Their results
// go back with the next call, until the model calls none. Limits.Turns bounds
// the calls of the model in one Send; the tools of the last one still run.
//
// What a response consumed is an entry of its own, counted by gateway.Meter as
// the gateway counts it. A response that was cut is counted by an estimate, and
// its entry says so.
//
// # What goes wrong
//
// Too many requests, an overloaded or unreachable server: the call is made again
// after a pause that grows, with jitter, or that the server names; the person and
// the record are told. A pause that is longer than the turn should wait ends it
// with the time in the error. A stream that breaks in the middle: what was said
// stands on the record as partial, and the same call is made again. Tools are
// called only when an answer is whole, so that nothing is done twice by that. An
// answer that the gateway cuts because it passed a budget is not asked for again:
// the turn ends with the gateway's words.
//
// A conversation that no longer fits the model's context: results of older
// calls are left out first, then older messages, never the system text, the
// first message (the task and its criteria) or the current one. A sentence
// stands in place of what was left out, and a system_event says what it was.
//
// A server that does not know a request's optional part – a form for the answer,
// the count of tokens in a stream – is asked again without it, once, and that is
// remembered for the session. A refusal is an error that says so.
//
// # Structured answers
//
// The form is asked for natively where the API has a way; else by
// agent/structured, in words. The answer is held against the schema either way,
// and one that does not fit is asked for once more. The entry of the answer says
// which way it was.
//
// # Sessions
//
// The package stores nothing. A session that is resumed goes on with what
// Spec.Past tells of it: the entries of its turns hold the bytes of every answer,
// and what is sent again is, byte for byte, what a session that was never
// interrupted would send. Of a turn that another agent answered, or that had
// images, only words and calls of the room's tools are known, and a system_event
// says so. A turn that failed is not remembered: it will be asked again.
package model
