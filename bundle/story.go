package bundle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"conclave/internal/jsontext"
	"conclave/record"
	"conclave/session"
	"conclave/transcript"
)

// before writes what is known before the first frame: the state, and how the
// streamed files begin.
func (w *writer) before(p *pour) error {
	item, err := json.Marshal(w.runItem(false))
	if err != nil {
		return err
	}
	if err := w.put(beforeFile, append(w.cleanedJSON(beforeFile, item), '\n')); err != nil {
		return err
	}
	h := w.survey.header
	head, err := json.Marshal(map[string]string{"run": h.Run, "role": h.Attributes["role"], "prompt_name": h.Attributes["prompt_name"]})
	if err != nil {
		return err
	}
	for _, s := range []*spool{p.input, p.output} {
		text := w.cleanedJSON(s.name(), head)
		_, _ = s.Write(append(text[:len(text)-1:len(text)-1], ",\n  \"turns\": ["...))
	}
	return nil
}

func (w *writer) cleanedJSON(name string, text []byte) []byte {
	if w.redactor == nil {
		return text
	}
	out, found := w.redactor.JSON(nil, text)
	w.tally.add(name, found)
	return out
}

// cleaned redacts a text that is written beside the frames; cleanedJSON one
// JSON value.
func (w *writer) cleaned(name string, text []byte) []byte {
	if w.redactor == nil {
		return text
	}
	out, found := w.redactor.Bytes(nil, text)
	w.tally.add(name, found)
	return out
}

// runItem is the state item of the run itself.
func (w *writer) runItem(after bool) map[string]any {
	h := w.survey.header
	item := map[string]any{"__type__": "run", "run": h.Run, "created": stamp(h.Created), "program": h.Program}
	for k, v := range h.Attributes {
		item["attribute_"+k] = v
	}
	if after {
		item["frames"], item["head"], item["sealed"] = w.survey.frames, w.survey.head.String(), w.survey.sealed
		if w.survey.sealed {
			item["seal_reason"] = w.survey.seal.Reason
		}
	}
	return item
}

// finish ends the streamed files and writes those that tell of the whole run.
func (w *writer) finish(p *pour, f *failure) error {
	item, err := json.Marshal(w.runItem(true))
	if err != nil {
		return err
	}
	writeLine(p.after, w.cleanedJSON(afterFile, item))
	tail(p.input, "first_message", p.firstAsk)
	tail(p.output, "last_message", p.lastSaid)
	if m := &p.metrics; m.InputTokens == 0 && m.OutputTokens == 0 {
		m.add(p.used)
	}
	p.metrics.DurationMS = w.survey.ended().Sub(w.survey.started()).Milliseconds()
	if err := w.addJSON(metricsFile, p.metrics); err != nil {
		return err
	}
	if err := w.addJSON(configFile, w.config()); err != nil {
		return err
	}
	if err := w.addJSON(contextFile, w.context()); err != nil {
		return err
	}
	if f == nil {
		return nil
	}
	return w.addJSON(errorFile, f)
}

// failure is error.json.
type failure struct {
	Type    string `json:"type"`
	Phase   string `json:"phase"`
	Message string `json:"message"`
	Turn    string `json:"turn,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
}

// failure is what the run failed of, nil when it went well: by its turns, and
// where it has none, being somebody else's session, by its entries.
func (w *writer) failure(p *pour) *failure {
	if f := w.survey.failure(); f != nil {
		return &failure{"TurnFailed", "turn", f.Error, f.Turn, f.Attempt}
	}
	detail := p.outcome.Failure()
	if detail == nil || p.metrics.Turns+p.metrics.Failed > 0 {
		return nil
	}
	var words session.Words
	text := words.Append(nil, w.survey.header.Attributes["adapter"], transcript.Error, detail)
	kind := jsontext.Text(jsontext.Get(detail, "subtype"))
	return &failure{Type: cmp.Or(kind, "error"), Phase: "session", Message: cmp.Or(string(text), kind, "error")}
}

// tail ends a request file. detail was redacted with its line.
func tail(s *spool, name string, detail []byte) {
	end := "]"
	if len(detail) > 0 {
		end += ",\n  \"" + name + "\": " + string(detail)
	}
	_, _ = s.Write([]byte(end + "\n}\n"))
}

func (w *writer) config() any {
	return map[string]any{
		"adapter":  map[string]string{"name": w.survey.header.Attributes["adapter"]},
		"conclave": w.o.Config,
		"bundle":   map[string]any{"redact": !w.o.NoRedact, "with_workspace": w.o.WithWorkspace, "max_file": w.o.maxFile, "max_all": w.o.maxAll},
	}
}

func (w *writer) context() any {
	return map[string]any{
		"run_id": w.survey.header.Run, "request_id": w.survey.header.Run, "session_id": w.manifest.Request.SessionID,
		"bundle_id": w.manifest.BundleID, "attributes": w.survey.header.Attributes, "program": w.survey.header.Program,
		"record": map[string]any{"frames": w.survey.frames, "head": w.survey.head, "sealed": w.survey.sealed},
	}
}

// readme tells a person the way.
func readme(m Manifest) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Debug bundle %s\nof the run %s, which ended in %s\nmade %s by conclave %s\n\n", m.BundleID,
		m.Request.RequestID, m.Request.Status, m.CreatedAt, m.Build.Version)
	for _, line := range [][2]string{
		{"manifest.json", "what this is, what was removed, and a SHA-256 of every file"},
		{"request/", "what was asked (input.json) and what came back (output.json)"},
		{"session/", "the state before and after, one item a line, its kind in __type__"},
		{"logs/app.jsonl", "every log record of the run, one a line"},
		{"transcript.jsonl", "of these the transcript.entry records, in order"},
		{"receipts.jsonl", "for every turn: what was in the room, and what held it shut"},
		{"record/run.frames", "the record without what the log has: conclave bundle extract puts it together"},
		{"environment/", "machine, program, packages, variables (filtered), git"},
		{"config.json, run_context.json, metrics.json", "settings, ids, figures"},
		{"error.json", "what went wrong, if anything did"},
		{"filesystem/", "the workspace, if it was asked for"},
	} {
		fmt.Fprintf(&b, "  %-44s %s\n", line[0], line[1])
	}
	head := record.Hash{}
	if m.Record != nil {
		head = m.Record.Head
	}
	fmt.Fprintf(&b,
		"\nCheck it:  conclave bundle verify FILE.zip\nRead it:   conclave bundle open FILE.zip\nAsk it:    conclave query FILE.zip \"SELECT entry_type, count(*) FROM transcript GROUP BY 1\"\n\nHead of the chain: %s\nFormat version: %s\n", head, m.FormatVersion)
	return b.String()
}
