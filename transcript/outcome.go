package transcript

import "bytes"

// Outcome says of the entries of a run, seen in order, whether it went well: it
// did not if its last error was followed by nothing that the model did. An error
// that was tried again and answered, or after which somebody went on and got an
// answer, is the past. What subagents met is for their caller to judge. The zero
// value has seen nothing; where a run has turns of ours, their events say it
// better.
type Outcome struct{ failure []byte }

// See takes an entry; detail is copied where it matters.
func (o *Outcome) See(t Type, source string, detail []byte) {
	if source != Main {
		return
	}
	switch t {
	case Error:
		if o.failure = append(o.failure[:0], detail...); detail == nil {
			o.failure = append(o.failure, "{}"...)
		}
	case AssistantMessage, Thinking, ToolUse, ToolResult:
		o.failure = o.failure[:0]
	}
}

// Failure is the detail of the error that the run ended in, nil when it went
// well.
func (o *Outcome) Failure() []byte {
	if len(o.failure) == 0 {
		return nil
	}
	return bytes.Clone(o.failure)
}
