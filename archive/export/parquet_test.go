package export

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"conclave/archive"
	"conclave/bundle/redact"
	"conclave/internal/parquet"
	"conclave/internal/readers"
	"conclave/transcript"
)

// openLog opens testdata/seat.jsonl, a log with two turns of one seat: what it was
// given, what it said, and the receipts. The second turn was asked twice, the seat
// opened again between the attempts.
func openLog(t *testing.T) *archive.Archive {
	t.Helper()
	a, err := archive.OpenFiles(t.Context(), t.TempDir(), []string{filepath.Join("testdata", "seat.jsonl")},
		archive.Options{Redactor: redact.New(redact.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// TestRooms: each entry comes with what its agent was allowed to see, secrets
// taken out of that, too.
func TestRooms(t *testing.T) {
	var got []archive.Room
	for e, err := range openLog(t).Entries(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Room == nil {
			t.Fatalf("entry %d has no room", e.Sequence)
		}
		for i, path := range e.Room.Given {
			if strings.Contains(path, "AKIA7Q3ZP4LMX2WVN5RT") {
				t.Errorf("entry %d tells a key", e.Sequence)
			} else if i == 1 {
				e.Room.Given[i] = "work/a secret"
			}
		}
		got = append(got, *e.Room)
	}
	given, denied := []string{"work/a.md", "work/a secret"}, []string{"secret.md"}
	want := []archive.Room{{Given: given, Denied: denied},
		{Turn: "t1", Level: "L2", ModelInput: "observed", Given: given, Denied: denied},
		{Turn: "t2", Level: "L3", ModelInput: "not observed", Given: given, Denied: denied},
		{Turn: "t2", Level: "L3", ModelInput: "not observed", Given: []string{}, Denied: []string{}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the rooms are\n%+v, not\n%+v", got, want)
	}
}

// TestParquet: a reader that is not ours finds in the table every entry with its
// types and its figures, and sums that are those of usage.
func TestParquet(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real program; make test runs it")
	}
	read := func(a *archive.Archive) (readers.Table, []archive.Entry) {
		path := filepath.Join(t.TempDir(), "t.parquet")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := Write(f, Parquet, a.Entries(t.Context()), Options{}); err != nil {
			t.Fatal(err)
		}
		var list []archive.Entry
		for e, err := range a.Entries(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, e)
		}
		return readers.Parquet(t, path), list
	}

	a := openFixtures(t, withTools, withSubagents, ofCodex)
	file, list := read(a)
	if len(file.Rows) != len(list) || len(list) < 50 {
		t.Fatalf("%d rows of %d entries", len(file.Rows), len(list))
	}
	type sums struct{ input, output, read, write int64 }
	var got, want sums
	number := func(v any) int64 {
		s, _ := v.(string)
		n, _ := strconv.ParseInt(s, 10, 64)
		return n
	}
	results := 0
	for i, e := range list {
		row := file.Rows[i]
		for name, want := range map[string]any{"run": e.Run, "source": e.Source, "entry_type": string(e.Type),
			"content": e.Text, "sequence_number": strconv.FormatInt(e.Sequence, 10),
			"timestamp": strconv.FormatInt(e.Timestamp.UnixMicro(), 10), "session_id": orNil(e.SessionID),
			"tool_name": orNil(e.Tool), "tool_use_id": orNil(e.ToolID), "conclave_given": nil,
			"tool_arguments": orNil(string(e.Input))} {
			if !reflect.DeepEqual(row[name], want) {
				t.Errorf("row %d: %s is %.200v, not %.200v", i, name, row[name], want)
			}
		}
		if e.Type == transcript.ToolResult {
			results++
			if row["is_error"] != e.Failed || row["role"] != "tool" {
				t.Errorf("row %d: %v %v", i, row["is_error"], row["role"])
			}
		}
		got = sums{got.input + number(row["input_tokens"]), got.output + number(row["output_tokens"]),
			got.read + number(row["cache_read_tokens"]), got.write + number(row["cache_write_tokens"])}
	}
	err := a.Reader().QueryRowContext(t.Context(), `SELECT sum(input), sum(output), sum(cache_read), sum(cache_write)
		FROM (SELECT * FROM usage_rows GROUP BY key)`).Scan(&want.input, &want.output, &want.read, &want.write)
	if err != nil || got != want || got.output == 0 || results == 0 {
		t.Errorf("the sums are %+v, those of usage %+v, %v; %d results", got, want, err, results)
	}
	if c := file.Columns; c["timestamp"] != "TIMESTAMP" || c["content"] != "STRING" || c["cost_usd"] != "DOUBLE" {
		t.Errorf("the columns are %v", c)
	}

	file, _ = read(openLog(t))
	last, _ := json.Marshal(file.Rows[1])
	for _, want := range []string{`"conclave_denied":["secret.md"]`, `"conclave_level":"L2"`, `"conclave_turn":"t1"`,
		`"conclave_model_input":"observed"`, `"timestamp":"1794733203000000"`} {
		if !strings.Contains(string(last), want) {
			t.Errorf("the row lacks %s: %s", want, last)
		}
	}
}

// TestAllowedToSee: traces and trajectories say what the agent was allowed to
// see, and only where a record says it.
func TestAllowedToSee(t *testing.T) {
	for f, want := range map[Format]string{
		OTLP: `{"key":"conclave.denied","value":{"arrayValue":{"values":[]}}}`,
		ATIF: `"conclave.level":"L3","conclave.model_input":"not observed","conclave.given":[],"conclave.denied":[]`} {
		var b strings.Builder
		if _, err := Write(&b, f, openLog(t).Entries(t.Context()), Options{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s lacks %s: %s", f, want, b.String())
		}
		if f == OTLP {
			readOTLP(t, b.String())
		}
		if text := exported(t, f, Options{}, withTools); strings.Contains(text, "conclave.given") {
			t.Errorf("%s says of somebody's own session what it was allowed to see", f)
		}
	}
}

// TestParquetCountsOnce: the figures of a response that two runs tell of stand in
// one row.
func TestParquetCountsOnce(t *testing.T) {
	to, err := newRows(bufio.NewWriter(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	r := &archive.Response{Key: "msg_1", Model: "m", Usage: transcript.Usage{Input: 5, Output: 3}}
	first, second := to.usage(r), to.usage(r)
	if !reflect.DeepEqual(first[:2], second[:2]) || reflect.DeepEqual(first[2], second[2]) ||
		!reflect.DeepEqual(second[2:], make([]parquet.Cell, 7)) {
		t.Errorf("first %v, then %v", first, second)
	}
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}
