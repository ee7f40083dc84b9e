package archive

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"

	"conclave/bundle"
	"conclave/internal/jsontext"
	"conclave/record"
	"conclave/session"
	"conclave/transcript"
)

// collected is what the entries of a log have in common that was made of the
// files of a session: they are that session's, as its own files are.
type collected struct {
	file    session.File
	begin   session.Beginning
	sources map[string]*keptSource // by place, see session.File
	roles   map[string]string      // of subagents, by their source
	buf     []byte
	model   func(source string) string // known from earlier entries; nil: none are

	// alone says that no other source can have the same lines: they need no sums,
	// and so not their own bytes where the detail has what they say.
	alone bool
}

// keptSource is one of the files.
type keptSource struct {
	session.Kept
	sum  uint32
	size int
}

// attributeCollected is the attribute of a record that was made of files.
const attributeCollected = "collected"

// newCollected finds out whose session a log is of, by the attributes of its
// record and by its first lines; nil when it is no such log, but one of a run.
func newCollected(attributes map[string]string, lines iter.Seq[[]byte]) *collected {
	k := session.OfAdapter(attributes["adapter"])
	if k == nil || attributes[attributeCollected] == "" {
		return nil
	}
	c := &collected{sources: map[string]*keptSource{}, roles: map[string]string{}}
	c.file = session.Unnamed("", k)
	c.file.Project, c.file.Session = attributes["project"], attributes["session_id"]
	c.file.Named = c.file.Session != ""
	var start []byte
	var l logLine
	for line := range lines {
		if l.parse(line); l.entry && string(jsontext.Bare(l.source)) == transcript.Main {
			if raw := l.raw(&c.buf); raw != nil {
				start = append(append(start, raw...), '\n')
			}
		}
		if len(start) >= session.BeginBytes {
			break
		}
	}
	c.begin = session.Begin(c.file, session.Start(start))
	return c
}

// id is the identity of one of the session's sources.
func (c *collected) id(source string) string {
	if c.file.Named {
		return c.file.Kind.ID(c.file.Session, source)
	}
	return c.begin.ID // a file that was given by its path: there is no other
}

// name completes an origin: role and project are the session's.
func (c *collected) name(o *origin) {
	if o.source == "" {
		return // a log record that is no entry
	}
	o.whose, o.project, o.seat = c.id(o.source), c.project(), "main"
	if o.source != transcript.Main {
		o.seat = c.roles[o.source]
	}
}

// meet finds out the role of a subagent by its first entry, which says it.
func (c *collected) meet(source string, detail []byte) {
	if source == transcript.Main || c.roles[source] != "" {
		return
	}
	c.roles[source] = "subagent"
	if role := jsontext.Text(jsontext.Get(detail, "agent_type")); role != "" {
		c.roles[source] = role
	}
}

func (c *collected) project() string {
	if c.begin.Directory != "" {
		return c.begin.Directory
	}
	return c.file.Project
}

// entry takes the next entry of a log.
func (c *collected) entry(l *logLine, source string, typ transcript.Type) *keptSource {
	if c.alone && l.hasRaw() {
		if line := l.entryLine(); line != nil {
			s := c.kept(source, line)
			s.Entry(line, searchable(typ))
			return s
		}
	}
	raw := l.raw(&c.buf)
	s := c.kept(source, raw)
	if s.Entry(raw, searchable(typ)); raw != nil {
		s.sum, s.size = lineSum(raw), len(raw)
	}
	return s
}

// kept is the file of which a line is.
func (c *collected) kept(source string, line []byte) *keptSource {
	place := session.Place(source, line)
	s := c.sources[place]
	if s == nil {
		s = &keptSource{Kept: session.Kept{Kind: c.file.Kind}}
		if c.model != nil {
			s.Model = c.model(source)
		}
		c.sources[place] = s
	}
	return s
}

// recordOf reads who a record is of.
func recordOf(src io.ReaderAt) *collected {
	r := record.NewReader(src)
	if !r.Next() {
		return nil
	}
	return newCollected(r.Header().Attributes, func(yield func([]byte) bool) {
		for r.Next() {
			if f := r.Frame(); f.Kind == record.KindLog && !f.Withheld && !yield(f.Payload) {
				return
			}
		}
	})
}

// bundleOf reads who a bundle is of: the record in it tells.
func bundleOf(b *bundle.Reader, log string) *collected {
	attributes := bundleAttributes(b)
	if attributes[attributeCollected] == "" {
		return nil
	}
	var err error // of the log, which is read again
	return newCollected(attributes, b.Lines(log, &err))
}

func bundleAttributes(b *bundle.Reader) map[string]string {
	if !b.Has(bundle.RecordFile) {
		return nil
	}
	r, err := b.Open(bundle.RecordFile)
	if err != nil {
		return nil
	}
	defer r.Close()
	head := make([]byte, 64<<10)
	n, _ := io.ReadFull(r, head)
	frames := record.NewReader(bytes.NewReader(head[:n]))
	if !frames.Next() {
		return nil
	}
	return frames.Header().Attributes
}

// warmRecord shows a feed the entries before the place to read on from.
func (a *Archive) warmRecord(j *job, c *collected, src io.ReaderAt, until record.Cursor) error {
	c.model = func(source string) string { return a.lastModel(j.known.id, source) }
	from, err := a.cursorBefore(j.known.id, until.Offset)
	if err != nil {
		return err
	}
	r, err := record.NewReaderAt(src, from)
	if err != nil {
		return err
	}
	var l logLine
	for r.Cursor().Offset < until.Offset && r.Next() {
		f := r.Frame()
		if f.Kind != record.KindLog || f.Withheld {
			continue
		}
		if l.parse(f.Payload); l.entry {
			c.entry(&l, jsontext.Text(l.source), transcript.Type(jsontext.Bare(l.typ)))
		}
	}
	return r.Err()
}

// lastModel is the model of the last response of a source of a record.
func (a *Archive) lastModel(id int64, source string) (model string) {
	_ = a.reader.QueryRow(`SELECT u.model FROM usage_rows u JOIN items i ON i.id = u.item
		WHERE i.source = ? AND i.agent = ? ORDER BY i.seq DESC LIMIT 1`, id, source).Scan(&model) // else none is known
	return model
}

// warmBlocks is how many blocks before the place to read on from are looked at:
// the entries of one line are never that far apart.
const warmBlocks = 16

// cursorBefore is a place some blocks before another.
func (a *Archive) cursorBefore(id, offset int64) (c record.Cursor, err error) {
	rows, err := a.reader.Query(`SELECT cursor FROM source_blocks WHERE source = ? AND pos < ? AND cursor IS NOT NULL
		ORDER BY pos DESC LIMIT ?`, id, offset, warmBlocks)
	if err != nil {
		return c, err
	}
	defer rows.Close()
	for rows.Next() {
		var at []byte
		if err := rows.Scan(&at); err != nil {
			return c, err
		}
		c = record.Cursor{}
		if err := json.Unmarshal(at, &c); err != nil {
			return c, err
		}
	}
	return c, rows.Err()
}
