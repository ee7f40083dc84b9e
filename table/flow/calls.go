package flow

import (
	"encoding/json"
	"strings"

	"conclave/agent"
	"conclave/audit"
	"conclave/internal/jsontext"
	"conclave/record"
	"conclave/toolbox"
)

// toolCall is a call that a turn made, from its record.
type toolCall struct {
	Tool  string
	Input json.RawMessage
	// Said is how much of the turn's text had been said before it.
	Said int `json:",omitempty"`

	failed bool
}

// toolCalls reads the calls of the last attempt at a turn that were not
// refused, each at its place in what was said.
func toolCalls(workspace, run, turn string, reply agent.Reply) ([]toolCall, error) {
	path, err := record.Path(workspace, run)
	if err != nil {
		return nil, err
	}
	r, err := record.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var all []toolCall
	at := map[int]int{} // by the number on the record
	mine := false
	for r.Next() {
		f := r.Frame()
		if f.Kind != record.KindLog {
			continue
		}
		name, _ := jsontext.String(jsontext.Get(f.Payload, "event"))
		if name != audit.EventMessage && (!mine || name != toolbox.EventCall && name != toolbox.EventResult) {
			continue
		}
		var c struct {
			Turn    string `json:"turn"`
			Call    int    `json:"call"`
			Tool    string `json:"tool"`
			Input   string `json:"input"`
			IsError bool   `json:"is_error"`
		}
		if err := json.Unmarshal(jsontext.Get(f.Payload, "context"), &c); err != nil {
			return nil, err
		}
		switch name {
		case audit.EventMessage:
			if mine = c.Turn == turn; mine {
				clear(at)
				all = nil
			}
		case toolbox.EventCall:
			at[c.Call] = len(all)
			all = append(all, toolCall{Tool: c.Tool, Input: json.RawMessage(c.Input)})
		case toolbox.EventResult:
			if i, ok := at[c.Call]; ok {
				all[i].failed = c.IsError
			}
		}
	}
	place(all, reply)
	var out []toolCall
	for _, c := range all {
		if !c.failed {
			out = append(out, c)
		}
	}
	return out, r.Err()
}

// place finds the calls among the uses of a reply: the first of a name is the
// first of that name there. A call that the agent does not tell of comes last.
func place(calls []toolCall, reply agent.Reply) {
	seen := map[string]int{}
	for i := range calls {
		n := seen[calls[i].Tool]
		seen[calls[i].Tool]++
		calls[i].Said = len(reply.Text)
		for _, u := range reply.Uses {
			if !isTool(u.Name, calls[i].Tool) {
				continue
			}
			if n == 0 {
				calls[i].Said = min(u.Said, len(reply.Text))
				break
			}
			n--
		}
	}
}

// isTool says whether a program means a tool of ours: many put the name of the
// server in front.
func isTool(used, name string) bool { return used == name || strings.HasSuffix(used, "__"+name) }
