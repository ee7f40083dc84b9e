// Package export writes runs for people and other programs: Markdown, one
// self-contained page of HTML, JSON lines, CSV and Parquet; traces as
// OpenTelemetry's tools take them (OTLP) and trajectories as those who train and
// compare agents do (ATIF).
//
// It takes entries as the archive shows them, secrets already taken out, one
// after the other: memory does not grow with the run, but for a trajectory, which
// is one value, and for a table of Parquet, which remembers of each response of a
// model that it was counted. It stores nothing, and refuses to write formats that
// it does not know. A page of HTML loads nothing from anywhere and runs no script;
// every text in it is escaped, by html/template. A cell of CSV that a spreadsheet
// would take for a formula is quoted with an apostrophe, by the one rule for it
// (screen.Cell).
//
// No format of others has a place for what an agent was allowed to see. Where a
// record says it, Parquet has it in columns whose names begin with conclave_,
// traces in attributes of the span invoke_agent, trajectories in extra.
package export

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"conclave/archive"
	"conclave/internal/screen"
	"conclave/transcript"
)

// Format is a way to write runs.
type Format string

// The formats.
const (
	Markdown Format = "md"
	HTML     Format = "html"
	JSONL    Format = "jsonl"
	CSV      Format = "csv"
	OTLP     Format = "otlp"
	ATIF     Format = "atif"
	Parquet  Format = "parquet"
)

// ErrFormat is returned for an unknown format.
var ErrFormat = errors.New("the formats are md, html, jsonl, csv, parquet, otlp and atif")

// Options say how to write. The zero value works.
type Options struct {
	Title string // of the document; "" means one made from the run
	// All writes what the program noted for itself, too: requests, snapshots.
	// JSON lines have everything always.
	All bool
	// Content puts what was said into traces; else they have times and figures.
	Content bool
}

// maxText is where texts of tool results are cut in documents for people.
const maxText = 20_000

// writer writes entries in one format.
type writer interface {
	entry(e *archive.Entry) error
	close() error
}

// Write writes entries to w and says how many.
func Write(w io.Writer, f Format, entries iter.Seq2[archive.Entry, error], o Options) (n int, err error) {
	out := bufio.NewWriterSize(w, 64<<10)
	var to writer
	switch f {
	case Markdown:
		to = &markdown{out: out, o: o}
	case HTML:
		to = &page{out: out, o: o}
	case JSONL:
		to = &lines{out: out}
	case CSV:
		to = newTable(out)
	case Parquet:
		rows, err := newRows(out)
		if err != nil {
			return 0, err
		}
		to = rows
	case OTLP:
		to = &otlp{out: out, o: o}
	case ATIF:
		to = &atif{out: out, o: o}
	default:
		return 0, fmt.Errorf("%q: %w", f, ErrFormat)
	}
	for e, err := range entries {
		if err != nil {
			return n, err
		}
		if (f == Markdown || f == HTML) && !o.All && !spoken(e.Type) {
			continue
		}
		if err := to.entry(&e); err != nil {
			return n, err
		}
		n++
	}
	if err := to.close(); err != nil {
		return n, err
	}
	return n, out.Flush()
}

// spoken are the types that a reader wants.
func spoken(t transcript.Type) bool {
	return t != transcript.Unknown && t != transcript.SystemEvent && t != transcript.TokenUsage
}

// lines writes the log record of each entry, as bundles and logs have it.
type lines struct {
	out *bufio.Writer
	buf []byte
}

func (l *lines) entry(e *archive.Entry) error {
	l.buf = append(transcript.AppendEntry(l.buf[:0], &e.Entry), '\n')
	_, err := l.out.Write(l.buf)
	return err
}

func (l *lines) close() error { return nil }

// table writes a row per entry.
type table struct{ csv *csv.Writer }

func newTable(w io.Writer) *table {
	t := &table{csv.NewWriter(w)}
	_ = t.csv.Write([]string{"run", "project", "role", "source", "sequence_number", "timestamp", "entry_type",
		"tool_name", "tool_use_id", "is_error", "text"}) // an error stays with the writer
	return t
}

func (t *table) entry(e *archive.Entry) error {
	row := []string{e.Run, e.Project, e.Role, e.Source, strconv.FormatInt(e.Sequence, 10), stamp(e.Timestamp),
		string(e.Type), e.Tool, e.ToolID, strconv.FormatBool(e.Failed), e.Text}
	for i, cell := range row {
		row[i] = screen.Cell(cell)
	}
	return t.csv.Write(row)
}

func (t *table) close() error {
	t.csv.Flush()
	return t.csv.Error()
}

func stamp(t time.Time) string {
	if t.IsZero() || t.Unix() == 0 {
		return ""
	}
	return t.Format(transcript.TimeLayout)
}

// label says in words what an entry is.
func label(e *archive.Entry) string {
	switch e.Type {
	case transcript.UserMessage:
		return "Message"
	case transcript.AssistantMessage:
		return "Answer"
	case transcript.Thinking:
		return "Thinking"
	case transcript.ToolUse:
		return "Calls " + orTool(e.Tool)
	case transcript.ToolResult:
		if e.Failed {
			return orTool(e.Tool) + " failed"
		}
		return "Result of " + orTool(e.Tool)
	case transcript.Error:
		return "Error"
	}
	return strings.ReplaceAll(string(e.Type), "_", " ")
}

func orTool(name string) string {
	if name == "" {
		return "a tool"
	}
	return name
}

// cut shortens a long text of a tool and says by how much.
func cut(e *archive.Entry) string {
	said := e.Type == transcript.UserMessage || e.Type == transcript.AssistantMessage
	if said || len(e.Text) <= maxText {
		return e.Text
	}
	at := maxText
	for at > 0 && e.Text[at]&0xC0 == 0x80 {
		at--
	}
	return fmt.Sprintf("%s\n… (%d bytes more)", e.Text[:at], len(e.Text)-at)
}
