package gm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"conclave/table"
)

// Signal is who is to be asked: [AWAIT_AI_PLAYERS: a, b], on a line of its own and
// outside fenced code. The first one counts.
type Signal struct {
	Found bool
	Names []string // as typed, without repeats; not yet checked against the roster
	Fault string   // why the signal cannot be read; Names is then empty
}

const awaitTag = "[AWAIT_AI_PLAYERS"

// maxSignalLines bounds how far a list of names may wrap.
const maxSignalLines = 32

func opensSignal(line string) bool {
	t := strings.TrimLeft(line, table.Decoration)
	if len(t) <= len(awaitTag) || !strings.EqualFold(t[:len(awaitTag)], awaitTag) {
		return false
	}
	return t[len(awaitTag)] == ':' || t[len(awaitTag)] == ']'
}

// readSignal reads the signal that opens the first line and says how many lines
// it takes; 0 when it is not alone on them.
func readSignal(lines []string) (names []string, fault string, n int) {
	list := strings.TrimLeft(lines[0], table.Decoration)[len(awaitTag):]
	for n = 1; !strings.Contains(list, "]"); n++ {
		if n >= len(lines) || n >= maxSignalLines || strings.TrimSpace(lines[n]) == "" {
			return nil, "the signal has no closing bracket", 1
		}
		list += "\n" + lines[n]
	}
	list, rest, _ := strings.Cut(list, "]")
	if strings.Trim(rest, table.Decoration+"\n") != "" {
		return nil, "", 0
	}
	for item := range strings.SplitSeq(strings.TrimPrefix(list, ":"), ",") {
		name := strings.Trim(item, table.Decoration+"\n")
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		fault = "the signal names nobody"
	}
	return names, fault, n
}

// FormatSignal is the text form, as the engine writes it for a GM that signals
// through a tool.
func FormatSignal(names []string) string {
	return awaitTag + ": " + strings.Join(names, ", ") + "]"
}

// SignalError refuses a signal as a whole: nobody starts. Its Repair is the
// message to the GM.
type SignalError struct {
	Fault string
	Names []NameFault
	Known []string // the roster
}

// NameFault is a name that cannot be called, and why.
type NameFault struct{ Name, Reason, Suggest string }

func (e *SignalError) Error() string {
	return strings.ReplaceAll(strings.TrimSpace(e.Repair()), "\n", "; ")
}

// Repair is the message to the GM.
func (e *SignalError) Repair() string {
	var b strings.Builder
	b.WriteString("Signal refused, nobody was started.\n")
	if e.Fault != "" {
		b.WriteString("- " + e.Fault + "\n")
	}
	for _, n := range e.Names {
		fmt.Fprintf(&b, "- %s: %s", strconv.Quote(table.Clip(n.Name, 80)), n.Reason)
		if n.Suggest != "" {
			b.WriteString("; did you mean " + n.Suggest + "?")
		}
		b.WriteByte('\n')
	}
	b.WriteString("Characters: " + strings.Join(e.Known, ", ") + "\n")
	return b.String()
}

// Check matches the names exactly against the roster, all or nothing. The
// slugs that it returns come from the roster, not from the text.
func (s Signal) Check(r table.Roster) ([]string, *SignalError) {
	bad := &SignalError{Fault: s.Fault, Known: r.Slugs()}
	var out []string
	for _, name := range s.Names {
		c, ok := r.Get(name)
		switch {
		case !ok:
			bad.Names = append(bad.Names, NameFault{name, "no such character", r.Suggest(name)})
		case c.Status != table.Present:
			bad.Names = append(bad.Names, NameFault{name, string(c.Status), ""})
		default:
			out = append(out, c.Slug)
		}
	}
	if len(s.Names) == 0 && bad.Fault == "" {
		bad.Fault = "the signal names nobody"
	}
	if bad.Fault != "" || len(bad.Names) > 0 {
		return nil, bad
	}
	return out, nil
}
