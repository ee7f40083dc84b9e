package export

import (
	"bufio"
	"hash/maphash"
	"time"

	"conclave/archive"
	"conclave/internal/parquet"
	"conclave/transcript"
)

// rows writes a table of Parquet with a row per entry. Tokens and costs stand in
// the row that first tells of a response, so that sums are right: of a response
// that several runs tell of, the later rows have its name alone.
type rows struct {
	to      *parquet.Writer
	seed    maphash.Seed
	counted map[uint64]struct{}
}

func newRows(out *bufio.Writer) (*rows, error) {
	to, err := parquet.NewWriter(out, "conclave", []parquet.Column{
		{Name: "run", Kind: parquet.Text},
		{Name: "project", Kind: parquet.Text},
		{Name: "adapter", Kind: parquet.Text},
		{Name: "prompt_name", Kind: parquet.Text},
		{Name: "session_id", Kind: parquet.Text},
		{Name: "source", Kind: parquet.Text},
		{Name: "sequence_number", Kind: parquet.Int},
		{Name: "timestamp", Kind: parquet.Time},
		{Name: "entry_type", Kind: parquet.Text},
		{Name: "role", Kind: parquet.Text},
		{Name: "content", Kind: parquet.Text},
		{Name: "tool_name", Kind: parquet.Text},
		{Name: "tool_use_id", Kind: parquet.Text},
		{Name: "tool_arguments", Kind: parquet.Text},
		{Name: "is_error", Kind: parquet.Bool},
		{Name: "model", Kind: parquet.Text},
		{Name: "response", Kind: parquet.Text},
		{Name: "input_tokens", Kind: parquet.Int},
		{Name: "output_tokens", Kind: parquet.Int},
		{Name: "cache_read_tokens", Kind: parquet.Int},
		{Name: "cache_write_tokens", Kind: parquet.Int},
		{Name: "cache_write_1h_tokens", Kind: parquet.Int}, // of the former
		{Name: "web_searches", Kind: parquet.Int},
		{Name: "cost_usd", Kind: parquet.Real},
		{Name: "conclave_role", Kind: parquet.Text},
		{Name: "conclave_turn", Kind: parquet.Text},
		{Name: "conclave_level", Kind: parquet.Text},
		{Name: "conclave_model_input", Kind: parquet.Text},
		{Name: "conclave_given", Kind: parquet.Texts},
		{Name: "conclave_denied", Kind: parquet.Texts},
	}...)
	return &rows{to, maphash.MakeSeed(), map[uint64]struct{}{}}, err
}

func (t *rows) entry(e *archive.Entry) error {
	usage := t.usage(e.Response)
	var room [5]parquet.Cell
	if r := e.Room; r != nil {
		room = [5]parquet.Cell{someText(r.Turn), someText(r.Level), someText(r.ModelInput),
			parquet.OfTexts(r.Given), parquet.OfTexts(r.Denied)}
	}
	var failed parquet.Cell
	if e.Type == transcript.ToolResult {
		failed = parquet.OfBool(e.Failed)
	}
	return t.to.Row(someText(e.Run), someText(e.Project), someText(e.Adapter), someText(e.PromptName),
		someText(e.SessionID), someText(e.Source), parquet.OfInt(e.Sequence), someTime(e.Timestamp),
		someText(string(e.Type)), someText(speaker(e.Type)), parquet.OfText(e.Text), someText(e.Tool),
		someText(e.ToolID), someText(string(e.Input)), failed,
		usage[0], usage[1], usage[2], usage[3], usage[4], usage[5], usage[6], usage[7], usage[8],
		someText(e.Role), room[0], room[1], room[2], room[3], room[4])
}

// usage are model, name and figures of a response, the figures once.
func (t *rows) usage(r *archive.Response) (cells [9]parquet.Cell) {
	if r == nil {
		return cells
	}
	cells[0], cells[1] = someText(r.Model), someText(r.Key)
	key := maphash.String(t.seed, r.Key)
	if _, known := t.counted[key]; known {
		return cells
	}
	t.counted[key] = struct{}{}
	for i, n := range []int64{r.Input, r.Output, r.CacheRead, r.CacheWrite, r.CacheWrite1h, r.Searches} {
		cells[2+i] = parquet.OfInt(n)
	}
	if r.CostUSD > 0 {
		cells[8] = parquet.OfReal(r.CostUSD)
	}
	return cells
}

func (t *rows) close() error { return t.to.Close() }

func someText(s string) parquet.Cell {
	if s == "" {
		return parquet.Cell{}
	}
	return parquet.OfText(s)
}

func someTime(at time.Time) parquet.Cell {
	if stamp(at) == "" {
		return parquet.Cell{}
	}
	return parquet.OfTime(at)
}

// speaker is whose words an entry is, as data sets of conversations call them.
func speaker(t transcript.Type) string {
	switch t {
	case transcript.UserMessage:
		return "user"
	case transcript.AssistantMessage, transcript.Thinking, transcript.ToolUse:
		return "assistant"
	case transcript.ToolResult:
		return "tool"
	}
	return "system"
}
