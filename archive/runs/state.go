package runs

import (
	"slices"
	"time"

	"conclave/transcript"
)

// State is how a run stands; see the package comment.
type State string

// The states.
const (
	Working State = "working"
	Waiting State = "waiting"
	Idle    State = "idle"
	Stale   State = "stale"
)

const (
	workingFor = time.Minute
	// copiedAfter is from when on a file that was changed says nothing of a run: who
	// works says something, and files are copied and restored.
	copiedAfter = 10 * time.Minute
	staleAfter  = 24 * time.Hour
)

// asks are the tools with which programs put a question to their person.
var asks = []string{
	"AskUserQuestion", "ExitPlanMode", "ask_user", "ask_followup_question", "request_user_input", "question",
}

// standing is what a state is told by.
type standing struct {
	last    time.Time       // of its entries; zero: none bears a time
	written time.Time       // the last change of one of its files
	over    bool            // sealed, or gone
	said    transcript.Type // of what was said or done last in the main lane
	tool    string          // of that, if it is a call
}

func (s standing) state(now time.Time) State {
	asked := s.said == transcript.ToolUse && slices.Contains(asks, s.tool)
	switch {
	case s.last.IsZero() || now.Sub(s.last) > staleAfter:
		return Stale
	case s.over:
		return Idle
	case s.said == transcript.AssistantMessage || asked:
		return Waiting
	case now.Sub(s.last) < workingFor, now.Sub(s.last) < copiedAfter && now.Sub(s.written) < workingFor:
		return Working
	}
	return Idle
}
