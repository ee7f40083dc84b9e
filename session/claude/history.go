package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"conclave/internal/jsontext"
	"conclave/transcript"
)

// Order says which line of its file a line is and which it follows, by their
// uuids; "" when it has none.
func Order(line []byte) (uuid, parent string) {
	var s scanner
	if !s.scan(line) {
		return "", ""
	}
	return string(jsontext.Bare(s.env.uuid)), string(jsontext.Bare(s.env.parentUUID))
}

// History is what a session held when it was taken up again.
type History struct {
	UUIDs map[string]bool
	// Totals are the program's own sums, which it takes up again too. Only
	// the newer program writes them.
	Totals transcript.Usage
}

// ReadHistory reads the main file of a session.
func ReadHistory(path string) (History, error) {
	h := History{UUIDs: map[string]bool{}}
	data, err := os.ReadFile(path)
	if err != nil {
		return h, fmt.Errorf("read the session to resume: %w", err)
	}
	var s scanner
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		if !s.scan(line) {
			continue
		}
		if s.env.uuid != nil {
			h.UUIDs[string(jsontext.Bare(s.env.uuid))] = true
		}
		if string(s.env.typ) == SumLine {
			h.Totals = ModelUsage(jsontext.Get(line, "modelUsage"))
			_ = json.Unmarshal(jsontext.Get(line, "totalCostUSD"), &h.Totals.CostUSD) // else the sum of the models'
		}
	}
	return h, nil
}

// OnlySaid is the item of a line that the program wrote to its stdout and to
// no session file.
func OnlySaid(line []byte, why string) transcript.Item {
	detail := appendMember([]byte(`{"subtype":"stdout"`), "reason", why)
	if jsontext.Valid(line) {
		detail = appendRaw(detail, "stdout", line)
	}
	return transcript.Item{Type: transcript.Unknown, Detail: append(detail, '}'), Raw: line}
}
