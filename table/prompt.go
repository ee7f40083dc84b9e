package table

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"conclave/internal/markdown"
)

// RequestType is what a prompt asks for.
type RequestType string

const (
	QuickReaction RequestType = "QUICK_REACTION"
	CombatAction  RequestType = "COMBAT_ACTION"
	FullContext   RequestType = "FULL_CONTEXT"
	SecretAction  RequestType = "SECRET_ACTION"
)

// requestTypes are all of them; there is no default.
var requestTypes = []RequestType{QuickReaction, CombatAction, FullContext, SecretAction}

// requiredSections, in the order in which they are reported.
var requiredSections = []string{"Scene", "Just Happened", "Request"}

// Prompt is a valid prompt file.
type Prompt struct {
	Type     RequestType
	Sections []Section // in order, repeated headings joined
	header   []string  // lines of the front matter, the type in canonical form
	body     string    // everything after the front matter, untouched
}

// Section is a level-2 heading and what stands under it.
type Section struct{ Name, Body string }

// Section returns the body of a section by name, whatever its case.
func (p Prompt) Section(name string) string {
	for _, s := range p.Sections {
		if sameHeading(s.Name, name) {
			return s.Body
		}
	}
	return ""
}

// Bytes is the canonical file: UTF-8, LF, the request type in capitals; unknown
// keys and sections are kept in their order.
func (p Prompt) Bytes() []byte {
	return []byte("---\n" + strings.Join(append(slices.Clone(p.header), "---"), "\n") + "\n" + markdown.EndLine(p.body))
}

// Asked is what a person reads of it: what comes before the question, the
// question, and what kind of answer is wanted.
func (p Prompt) Asked() (lead, request, hint string) {
	var parts []string
	for _, s := range p.Sections {
		body := strings.TrimSpace(s.Body)
		switch {
		case sameHeading(s.Name, "Request"):
			request = body
			continue
		case !slices.Contains(requiredSections, s.Name):
			body = s.Name + ": " + body
		}
		parts = append(parts, body)
	}
	return strings.Join(parts, "\n\n"), request, hints[p.Type]
}

// hints say what kind of answer a request wants.
var hints = map[RequestType]string{
	QuickReaction: "A sentence or two; /veto REASON if you need to know more first.",
	CombatAction:  "One turn: what you do, and where you move.",
	FullContext:   "Take your time.",
	SecretAction:  "Nobody but the game master will know.",
}

// MalformedPrompt says what a prompt lacks. Its File is what stands in for the
// player's response; the engine writes it before any model is called.
type MalformedPrompt struct {
	Missing []string // request_type, Scene, Just Happened, Request
	Notes   []string // further lines
}

func (e *MalformedPrompt) Error() string {
	return "malformed prompt: " + strings.Join(e.lines(), "; ")
}

func (e *MalformedPrompt) lines() []string {
	var out []string
	for _, m := range e.Missing {
		out = append(out, "Missing required section: "+m)
	}
	return append(out, e.Notes...)
}

// File is the error form of the seed, byte for byte.
func (e *MalformedPrompt) File() []byte {
	return []byte("[ERROR: Malformed prompt]\n\n" + strings.Join(e.lines(), "\n") + "\n")
}

// PromptNotFound is the error form for a prompt that does not exist. The path
// is always the logical one: an absolute path would tell of the host.
func PromptNotFound(campaign, character string) []byte {
	return fmt.Appendf(nil, "[ERROR: Prompt file not found]\n\nExpected: campaigns/%s/tmp/%s\n",
		campaign, PromptFile(character))
}

// ParsePrompt reads a prompt file or returns a *MalformedPrompt.
func ParsePrompt(data []byte, caps Caps) (Prompt, error) {
	limit := caps.WithDefaults().Prompt
	if int64(len(data)) > limit {
		note := fmt.Sprintf("Unreadable prompt: %d bytes, limit %d", len(data), limit)
		return Prompt{}, &MalformedPrompt{Notes: []string{note}}
	}
	if !markdown.Readable(data) {
		return Prompt{}, &MalformedPrompt{Notes: []string{"Unreadable prompt: not valid UTF-8"}}
	}
	var p Prompt
	bad := &MalformedPrompt{}
	p.readHeader(markdown.Normalise(string(data)), bad)
	p.Sections = sections(p.body)
	for _, name := range requiredSections {
		if placeholder(p.Section(name)) {
			bad.Missing = append(bad.Missing, name)
		}
	}
	if len(bad.Missing) > 0 {
		return Prompt{}, bad
	}
	return p, nil
}

// readHeader reads the front matter. It is not YAML: lines "key: value" between
// two lines "---", the first of which opens the file.
func (p *Prompt) readHeader(text string, bad *MalformedPrompt) {
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t") != "---" {
		p.body = text
		bad.Missing = append(bad.Missing, "request_type")
		return
	}
	closed := false
	var values []string
	for p.body = rest; p.body != "" && !closed; {
		var line string
		line, p.body, _ = strings.Cut(p.body, "\n")
		if closed = strings.TrimRight(line, " \t") == "---"; closed {
			break
		}
		key, value, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(key) == "request_type" {
			v := canonicalType(value)
			values = append(values, v)
			line = "request_type: " + v
		}
		p.header = append(p.header, line)
	}
	if !closed {
		p.body = rest
		bad.Missing = append(bad.Missing, "request_type")
		bad.Notes = append(bad.Notes, "Front matter is not closed")
		return
	}
	p.setType(values, bad)
}

func (p *Prompt) setType(values []string, bad *MalformedPrompt) {
	slices.Sort(values)
	values = slices.Compact(values)
	switch {
	case len(values) == 1 && slices.Contains(requestTypes, RequestType(values[0])):
		p.Type = RequestType(values[0])
		return
	case len(values) > 1:
		bad.Notes = append(bad.Notes, "Conflicting request_type: "+quoted(values[0])+", "+quoted(values[1]))
	case len(values) == 1 && values[0] != "":
		bad.Notes = append(bad.Notes, "Unknown request_type: "+quoted(values[0]))
	}
	bad.Missing = append(bad.Missing, "request_type")
}

func quoted(s string) string { return strconv.Quote(Clip(s, 80)) }

// canonicalType trims, unquotes and upper-cases; nothing fuzzier.
func canonicalType(v string) string {
	v = strings.TrimSpace(v)
	if n := len(v); n >= 2 && (v[0] == '"' || v[0] == '\'') && v[n-1] == v[0] {
		v = strings.TrimSpace(v[1 : n-1])
	}
	return strings.ToUpper(v)
}

// sections splits a body at its level-2 headings, outside fenced code.
func sections(body string) []Section {
	var out []Section
	var f markdown.Fence
	at := -1
	for line := range strings.Lines(body) {
		bare := strings.TrimSuffix(line, "\n")
		if level, name := markdown.Heading(bare); !f.Inside(bare) && level == 2 {
			at = slices.IndexFunc(out, func(s Section) bool { return sameHeading(s.Name, name) })
			if at < 0 {
				at = len(out)
				out = append(out, Section{Name: name})
			} else {
				out[at].Body = strings.TrimRight(out[at].Body, "\n") + "\n\n"
			}
			continue
		}
		if at >= 0 {
			out[at].Body += line
		}
	}
	for i := range out {
		out[i].Body = strings.Trim(out[i].Body, "\n")
	}
	return out
}

func sameHeading(a, b string) bool {
	return strings.EqualFold(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "))
}

// placeholders are what stands in the sections of the template.
var placeholders = []string{
	"[Current situation from character's perspective]",
	"[What triggered this request]",
	"[What the GM needs - be specific about expected response format]",
}

// placeholder reports whether a body says nothing: blank, or a text of the
// template that nobody has replaced. Other words in brackets are words.
func placeholder(body string) bool {
	b := strings.ToLower(strings.Join(strings.Fields(body), " "))
	return b == "" || slices.ContainsFunc(placeholders, func(p string) bool {
		// Also one that was cut short: "[What the GM needs]".
		return len(b) > 12 && b[len(b)-1] == ']' && strings.HasPrefix(strings.ToLower(p), b[:len(b)-1])
	})
}
