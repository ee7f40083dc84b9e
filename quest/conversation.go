package quest

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"conclave/frontmatter"
	"conclave/policy"
	"conclave/profile"
)

// ConversationsDir is where conversations are kept in the workspace.
const ConversationsDir = ".campaign/conversations"

// Message is one message of an exchange. Text is what was really said, byte
// for byte.
type Message struct {
	Speaker string // the tag it is shown under: profile.UserTag or a Face's Tag
	Text    string
}

// Conversation is everything a conversation file holds.
type Conversation struct {
	Agent    policy.Role // one of the ten of the file name's closed list
	Skin     string      // the skin name exactly, or empty
	FilePart string      // the skin in the file name: Face.FilePart
	Phase    Phase
	Mode     Mode
	Start    time.Time // local time, drawn once
	Quest    string    // the quest's title
	Purpose  string
	Exchange []Message
	Outcome  string // empty: no such section
}

// These stand for the quest's title in what is held without one.
const (
	StandaloneQuest        = "none (standalone council)"
	StandaloneConsultation = "none (standalone consultation)"
)

// With returns the conversation held by that face; Simon is filed as council.
func (c Conversation) With(f profile.Face) Conversation {
	c.Agent, c.Skin, c.FilePart = policy.Role(f.Archetype.ID), f.Skin, f.FilePart()
	if c.Agent == policy.Simon {
		c.Agent, c.Skin, c.FilePart = policy.Council, "", ""
	}
	return c
}

func (c Conversation) check() error {
	known := policy.ConversationOf(string(c.Agent))
	switch {
	case known == policy.ConversationOther || known == policy.ConversationSimon:
		return fmt.Errorf("write conversation: %q is not an agent that conversations are filed under", c.Agent)
	case slices.ContainsFunc(c.Exchange, func(m Message) bool { return !isTag(m.Speaker) }):
		return fmt.Errorf("write conversation: somebody speaks without a tag")
	case !c.Phase.Valid():
		return fmt.Errorf("write conversation: phase %d is not one of 1 to 6", int(c.Phase))
	case c.Start.IsZero():
		return fmt.Errorf("write conversation: it has no start")
	}
	if mode, err := ParseMode(string(c.Mode)); err != nil || mode != c.Mode {
		return errors.Join(fmt.Errorf("write conversation: %q is no mode as it is written", c.Mode), err)
	}
	if c.Skin == "" {
		if c.FilePart != "" {
			return fmt.Errorf("write conversation: a file name part %q without a skin", c.FilePart)
		}
		return nil
	}
	if err := profile.CheckSkinName(c.Skin); err != nil {
		return fmt.Errorf("write conversation: %w", err)
	}
	if c.FilePart == "" || strings.ContainsAny(c.FilePart, `/\:*?"<>|()`+"\x00\n\r") || strings.HasPrefix(c.FilePart, ".") {
		return fmt.Errorf("write conversation: %q cannot be part of a file name", c.FilePart)
	}
	return nil
}

// Names yields the names this conversation may be filed under, best first: the
// plain one, then _02 to _99 for those that began in the same minute, and beyond
// them _99_100 and so on. An underscore sorts after the dot, numbers of one length
// keep the order, and a longer one stands behind the last of the shorter.
func (c Conversation) Names() iter.Seq[string] {
	stem := c.Start.Format("2006-01-02-15-04") + "-" + string(c.Agent)
	if c.FilePart != "" {
		stem += "(" + c.FilePart + ")"
	}
	return numberedNames(stem, 9999) // more than a minute has room for
}

// numberedNames are the names of a file that begins so, should the earlier ones
// be taken.
func numberedNames(stem string, most int) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(stem + ".md") {
			return
		}
		before := stem
		for n, longer := 2, 100; n <= most; n++ {
			if n == longer {
				before, longer = fmt.Sprintf("%s_%d", before, n-1), longer*10
			}
			if !yield(fmt.Sprintf("%s_%02d.md", before, n)) {
				return
			}
		}
	}
}

// Render is the conversation file. The same conversation always gives the same
// bytes; the text of each message stands in it unchanged, but for a backslash
// before a line that would pass for one of the file's own.
func (c Conversation) Render() ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	var doc frontmatter.Document
	for _, kv := range []struct {
		key, value string
		set        func(key, value string) error
	}{
		{"agent", string(c.Agent), doc.SetText}, {"profile-name", c.Skin, doc.SetText},
		{"phase", fmt.Sprint(int(c.Phase)), doc.Set}, {"campaign-mode", string(c.Mode), doc.SetText},
		{"date", c.Start.Format("2006-01-02T15:04:05"), doc.Set},
	} {
		if kv.value == "" {
			continue
		}
		if err := kv.set(kv.key, kv.value); err != nil {
			return nil, fmt.Errorf("write conversation: write %s: %w", kv.key, err)
		}
	}
	var b bytes.Buffer
	b.Write(doc.Bytes())
	fmt.Fprintf(&b, "\n## Conversation Transcript\n\n### Context\n\nQuest: %s\nConsultation purpose: %s\n\n%s\n\n", oneLine(c.Quest), oneLine(c.Purpose), exchangeHeading)
	tags := c.speakers()
	for _, m := range c.Exchange {
		b.WriteString(m.Speaker)
		b.WriteByte(' ')
		b.WriteString(tags.guard(m.Text, true))
		b.WriteString("\n\n")
	}
	if c.Outcome != "" {
		fmt.Fprintf(&b, "%s\n\n%s\n", outcomeHeading, tags.guard(c.Outcome, false))
	}
	return b.Bytes(), nil
}

const (
	exchangeHeading = "### Exchange"
	outcomeHeading  = "### Outcome"
)

// mismatch says where a file differs from what was exchanged.
type mismatch struct {
	Part   string // header, context, exchange, outcome
	Line   int    // in the file, from 1
	Offset int    // in bytes
	Reason string
}

func (m *mismatch) Error() string {
	return fmt.Sprintf("line %d (byte %d, %s): %s", m.Line, m.Offset, m.Part, m.Reason)
}

// Verify proves a conversation file against what was exchanged: the
// conversation, made from the record, is rendered again and the bytes are
// compared; then the file is read back, and has to say what was said. The error
// is a *mismatch where the bytes differ.
func Verify(name string, file []byte, fromRecord Conversation) error {
	want, err := fromRecord.Render()
	if err != nil {
		return fmt.Errorf("verify %s: %w", name, err)
	}
	if !slices.Contains(slices.Collect(fromRecord.Names()), name) {
		return fmt.Errorf("verify %s: a conversation with %s that began %s is not filed under this name", name, fromRecord.Agent, fromRecord.Start.Format("2006-01-02 15:04"))
	}
	if bytes.Equal(file, want) {
		return fromRecord.readsBack(name, file)
	}
	at := 0
	for at < len(file) && at < len(want) && file[at] == want[at] {
		at++
	}
	m := &mismatch{Part: fromRecord.partAt(want, at), Line: 1 + bytes.Count(file[:at], []byte("\n")), Offset: at}
	switch {
	case at == len(file):
		m.Reason = fmt.Sprintf("the file ends here; the record goes on for %d bytes", len(want)-at)
	case at == len(want):
		m.Reason = fmt.Sprintf("the record ends here; the file goes on for %d bytes", len(file)-at)
	default:
		m.Reason = "the file and the record differ from here on"
	}
	return fmt.Errorf("verify %s: %w", name, m)
}

// readsBack holds what a reader takes out of the file against what was said.
func (c Conversation) readsBack(name string, file []byte) error {
	exchange, outcome := c.speakers().spoken(file)
	if !slices.Equal(exchange, c.Exchange) || outcome != c.Outcome {
		return fmt.Errorf("verify %s: the file does not read back as what was said", name)
	}
	return nil
}

// partAt names the part of a rendering that a byte belongs to. It counts
// instead of searching, for the exchange may hold any heading.
func (c Conversation) partAt(rendered []byte, at int) string {
	start := bytes.Index(rendered, []byte("\n"+exchangeHeading+"\n")) + 1
	end, tags := start+len(exchangeHeading)+2, c.speakers()
	for _, m := range c.Exchange {
		end += len(m.Speaker) + 1 + len(tags.guard(m.Text, true)) + 2
	}
	header := bytes.Index(rendered, []byte("\n## Conversation Transcript"))
	switch {
	case at <= header:
		return "header"
	case at < start:
		return "context"
	case at < end:
		return "exchange"
	}
	return "outcome"
}
