package table

import (
	"fmt"
	"slices"
	"strings"

	"conclave/internal/markdown"
)

// Signal is what ParseSignal found in a GM's output.
type Signal struct {
	Found  bool
	Names  []string // as typed, without repeats; not yet checked against the roster
	Fault  string   // why the signal cannot be read; Names is then empty
	Before string   // the output before the signal: the narrative
	After  string   // the output after it: for the audit, withheld from everyone
	NotRun []string // names of later signals
	Strays int      // tags that were not on a line of their own, or in code: text
}

const awaitTag = "[AWAIT_AI_PLAYERS"

// maxSignalLines bounds how far a list of names may wrap.
const maxSignalLines = 32

// ParseSignal looks for [AWAIT_AI_PLAYERS: a, b] in the GM's own output, on a
// line of its own and outside fenced code. It must never be given a player's
// text. The first signal counts; names of later ones are in NotRun.
func ParseSignal(output string) Signal {
	text := markdown.Clean(output)
	lines := strings.SplitAfter(text, "\n")
	s := Signal{Before: text}
	var f markdown.Fence
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSuffix(lines[i], "\n")
		if f.Inside(line) || !opensSignal(line) {
			if strings.Contains(strings.ToUpper(line), awaitTag) {
				s.Strays++
			}
			continue
		}
		names, fault, n := readSignal(lines[i:])
		if n == 0 {
			s.Strays++
			continue
		}
		if s.Found {
			s.NotRun = append(s.NotRun, names...)
		} else {
			s.Found, s.Names, s.Fault = true, names, fault
			s.Before = strings.TrimRight(strings.Join(lines[:i], ""), " \t\n")
			s.After = strings.TrimSpace(strings.Join(lines[i+n:], ""))
		}
		i += n - 1
	}
	return s
}

const decoration = " \t*`_"

func opensSignal(line string) bool {
	t := strings.TrimLeft(line, decoration)
	if len(t) <= len(awaitTag) || !strings.EqualFold(t[:len(awaitTag)], awaitTag) {
		return false
	}
	return t[len(awaitTag)] == ':' || t[len(awaitTag)] == ']'
}

// readSignal reads the signal that opens the first line and says how many lines
// it takes; 0 when it is not alone on them.
func readSignal(lines []string) (names []string, fault string, n int) {
	list := strings.TrimLeft(lines[0], decoration)[len(awaitTag):]
	for n = 1; !strings.Contains(list, "]"); n++ {
		if n >= len(lines) || n >= maxSignalLines || strings.TrimSpace(lines[n]) == "" {
			return nil, "the signal has no closing bracket", 1
		}
		list += lines[n]
	}
	list, rest, _ := strings.Cut(list, "]")
	if strings.Trim(rest, decoration+"\n") != "" {
		return nil, "", 0
	}
	for item := range strings.SplitSeq(strings.TrimPrefix(list, ":"), ",") {
		name := strings.Trim(item, decoration+"\n")
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
		fmt.Fprintf(&b, "- %s: %s", quoted(n.Name), n.Reason)
		if n.Suggest != "" {
			b.WriteString("; did you mean " + n.Suggest + "?")
		}
		b.WriteByte('\n')
	}
	b.WriteString("Characters: " + strings.Join(e.Known, ", ") + "\n")
	return b.String()
}

// CheckSignal matches names exactly against the roster, all or nothing. The
// slugs that it returns come from the roster, not from the text.
func CheckSignal(s Signal, r Roster) ([]string, *SignalError) {
	bad := &SignalError{Fault: s.Fault, Known: r.Slugs()}
	var out []string
	for _, name := range s.Names {
		c, ok := r.Get(name)
		switch {
		case !ok:
			bad.Names = append(bad.Names, NameFault{name, "no such character", r.suggest(name)})
		case c.Status != Present:
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
