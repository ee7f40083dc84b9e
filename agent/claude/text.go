package claude

import (
	"encoding/json"
	"errors"
	"strings"

	"conclave/internal/jsontext"
)

// Text returns the words of an entry of this adapter, given its detail: what
// was said, thought, or given back by a tool; "" when there are none.
func Text(detail json.RawMessage) string {
	if b := jsontext.Get(detail, "block"); b != nil {
		return blockText(b)
	}
	line := jsontext.Get(detail, "sdk_entry")
	content := jsontext.Get(line, "message", "content")
	if content == nil {
		content = jsontext.Get(line, "content")
	}
	switch {
	case content == nil:
		for _, name := range []string{"thinking", "summary"} { // the simple form
			if s, ok := jsontext.String(jsontext.Get(line, name)); ok {
				return s
			}
		}
		return ""
	case content[0] == '"':
		s, _ := jsontext.String(content)
		return s
	}
	want := 0
	_ = json.Unmarshal(jsontext.Get(detail, "block_index"), &want) // absent: the first
	return blockText(element(content, want))
}

func element(array []byte, want int) (found []byte) {
	i := 0
	_ = jsontext.Elements(array, func(v []byte) error {
		if i == want {
			found = v
			return errEnough
		}
		i++
		return nil
	})
	return found
}

var errEnough = errors.New("enough")

func blockText(b []byte) string {
	for _, name := range []string{"text", "thinking", "content"} {
		v := jsontext.Get(b, name)
		if s, ok := jsontext.String(v); ok {
			return s
		}
		if len(v) > 0 && v[0] == '[' {
			var parts []string
			_ = jsontext.Elements(v, func(e []byte) error {
				if s, ok := jsontext.String(jsontext.Get(e, "text")); ok {
					parts = append(parts, s)
				}
				return nil
			})
			return strings.Join(parts, "\n")
		}
	}
	return ""
}

// figures are the counts of a usage object, in both spellings: that of the API
// and that of the program's own sums.
type figures struct {
	Input, Output, CacheRead, CacheWrite int64
	CostUSD                              float64
}

func (f figures) add(g figures) figures {
	return figures{f.Input + g.Input, f.Output + g.Output, f.CacheRead + g.CacheRead,
		f.CacheWrite + g.CacheWrite, f.CostUSD + g.CostUSD}
}

func (f figures) sub(g figures) figures {
	return figures{f.Input - g.Input, f.Output - g.Output, f.CacheRead - g.CacheRead,
		f.CacheWrite - g.CacheWrite, f.CostUSD - g.CostUSD}
}

func readUsage(b []byte) figures {
	var u struct {
		Input      int64 `json:"input_tokens"`
		Output     int64 `json:"output_tokens"`
		CacheRead  int64 `json:"cache_read_input_tokens"`
		CacheWrite int64 `json:"cache_creation_input_tokens"`
	}
	_ = json.Unmarshal(b, &u) // what is not there is zero
	return figures{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
}

// readModelUsage sums the program's own totals over all models.
func readModelUsage(b []byte) (sum figures) {
	var models map[string]struct {
		Input      int64   `json:"inputTokens"`
		Output     int64   `json:"outputTokens"`
		CacheRead  int64   `json:"cacheReadInputTokens"`
		CacheWrite int64   `json:"cacheCreationInputTokens"`
		Cost       float64 `json:"costUSD"`
	}
	_ = json.Unmarshal(b, &models)
	for _, m := range models {
		sum = sum.add(figures{m.Input, m.Output, m.CacheRead, m.CacheWrite, m.Cost})
	}
	return sum
}

func (f figures) max(g figures) figures {
	return figures{max(f.Input, g.Input), max(f.Output, g.Output), max(f.CacheRead, g.CacheRead),
		max(f.CacheWrite, g.CacheWrite), max(f.CostUSD, g.CostUSD)}
}

// natural says that none of the figures is negative.
func (f figures) natural() bool {
	return f.Input >= 0 && f.Output >= 0 && f.CacheRead >= 0 && f.CacheWrite >= 0 && f.CostUSD >= 0
}

func (f figures) minusCost() figures { f.CostUSD = 0; return f }
