package transcript_test

import (
	"encoding/json"
	"fmt"
	"time"

	"conclave/transcript"
)

// memory keeps log lines; a record does the same on disk.
type memory [][]byte

func (m *memory) AppendLog(line []byte) error {
	*m = append(*m, append([]byte(nil), line...))
	return nil
}

func (m memory) lines(yield func([]byte) bool) {
	for _, line := range m {
		if !yield(line) {
			return
		}
	}
}

// An adapter hands in what it knows; the emitter numbers it without a gap, and
// the lines can be read back by anyone.
func Example() {
	var log memory
	emitter, err := transcript.NewEmitter(transcript.Options{
		PromptName: "quest.consult.cat", Adapter: transcript.AdapterOffline, Store: &log,
		Now: func() time.Time { return time.Date(2026, 2, 18, 14, 32, 0, 0, time.UTC) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, item := range []transcript.Item{
		{Type: transcript.UserMessage, Detail: json.RawMessage(`{"text":"Is it ready?"}`)},
		{Type: transcript.AssistantMessage, Detail: json.RawMessage(`{"text":"Look at line 40 first."}`)},
	} {
		if _, err := emitter.Emit(item); err != nil {
			fmt.Println(err)
			return
		}
	}

	for _, e := range transcript.Reconstruct(log.lines).Entries {
		fmt.Println(e.Sequence, e.Type, string(e.Detail))
	}
	summary, err := transcript.Check(log.lines)
	fmt.Println(summary.TotalEntries, "entries,", summary.Sources, err)
	// Output:
	// 1 user_message {"text":"Is it ready?"}
	// 2 assistant_message {"text":"Look at line 40 first."}
	// 2 entries, [main] <nil>
}
