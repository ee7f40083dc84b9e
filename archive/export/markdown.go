package export

import (
	"bufio"
	"fmt"
	"strings"

	"conclave/archive"
	md "conclave/internal/markdown"
	"conclave/transcript"
)

// markdown writes a document: a heading per run, one per agent in it, and the
// entries below.
type markdown struct {
	out         *bufio.Writer
	o           Options
	run, source string
	any         bool
}

func (m *markdown) entry(e *archive.Entry) error {
	if !m.any && m.o.Title != "" {
		fmt.Fprintf(m.out, "# %s\n\n", md.Plain(m.o.Title))
	}
	if e.Run != m.run || !m.any {
		m.heading(e)
	}
	if e.Source != m.source {
		if e.Source != transcript.Main || m.source != "" {
			fmt.Fprintf(m.out, "### %s\n\n", md.Plain(e.Source))
		}
		m.source = e.Source
	}
	m.any = true
	fmt.Fprintf(m.out, "**%s**", md.Plain(label(e)))
	if t := stamp(e.Timestamp); t != "" {
		fmt.Fprintf(m.out, " · %s", e.Timestamp.Format("2006-01-02 15:04:05"))
	}
	fmt.Fprintf(m.out, " · #%d\n\n", e.Sequence)
	m.body(e, cut(e))
	return nil // the buffer keeps its error until it is flushed
}

func (m *markdown) heading(e *archive.Entry) {
	m.run, m.source = e.Run, ""
	fmt.Fprintf(m.out, "## %s\n\n", md.Plain(e.Run))
	for _, line := range [][2]string{{"Prompt", e.PromptName}, {"Agent", e.Adapter}, {"Project", e.Project}} {
		if line[1] != "" {
			fmt.Fprintf(m.out, "- %s: %s\n", line[0], md.Plain(line[1]))
		}
	}
	fmt.Fprintln(m.out)
}

// body writes what was said as a quotation and what tools were given and gave
// back as code, so that no text can pass for the document's own.
func (m *markdown) body(e *archive.Entry, text string) {
	if text == "" {
		return
	}
	switch e.Type {
	case transcript.ToolUse, transcript.ToolResult, transcript.Error, transcript.SystemEvent, transcript.Unknown,
		transcript.TokenUsage:
		fence := fenceFor(text)
		fmt.Fprintf(m.out, "%stext\n%s\n%s\n\n", fence, text, fence)
	default:
		for line := range strings.SplitSeq(text, "\n") {
			fmt.Fprintf(m.out, "> %s\n", line)
		}
		fmt.Fprintln(m.out)
	}
}

// fenceFor is a fence that does not occur in text.
func fenceFor(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

func (m *markdown) close() error { return nil }
