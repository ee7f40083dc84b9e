package flow

import (
	"errors"
	"log/slog"

	"conclave/record"
	"conclave/transcript"
)

// Role is that of a gate's own record: nobody sits there.
const Role = "gate"

// The events of a gate's own record, in their order. The last one is
// receipt.Event. The structs are their stored form: fields are only added.
const (
	eventCase    = "gate.case"    // gate.Case
	eventCheck   = "gate.check"   // receipt.Check
	eventJudged  = "gate.judged"  // judged
	eventDecided = "gate.decided" // gate.Decision
)

// judged is what came of one judge.
type judged struct {
	Number  int    `json:"number"`
	Run     string `json:"run"`
	Head    string `json:"head"` // of its sealed record
	Family  string `json:"family,omitempty"`
	Verdict string `json:"verdict,omitempty"`
	Failed  string `json:"failed,omitempty"`
	Votes   []vote `json:"votes"`
}

// vote is a judge's on one criterion.
type vote struct {
	Number int    `json:"number"`
	Vote   string `json:"vote"`
}

// open begins the gate's own record.
func (g *run) open() error {
	path, err := record.Path(g.Root, g.id)
	if err != nil {
		return err
	}
	g.writer, err = record.Create(path, record.Header{Run: g.id, Program: g.Program, Attributes: map[string]string{
		"role": Role, "prompt_name": Role, "adapter": transcript.AdapterOffline, "flow": Role, "quest": g.Quest,
		"phase": Role,
	}})
	if err != nil {
		return err
	}
	g.emitter, err = transcript.NewEmitter(transcript.Options{
		PromptName: Role, Adapter: transcript.AdapterOffline, Store: g.writer, Stream: g.Stream,
	})
	if err != nil {
		return errors.Join(err, g.writer.Close())
	}
	return nil
}

// note puts something on the gate's own record.
func (g *run) note(event, message string, context any) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.emitter.Event(slog.LevelInfo, event, message, context)
}
