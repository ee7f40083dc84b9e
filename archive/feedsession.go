package archive

import (
	"bytes"
	"io"
	"path/filepath"

	"conclave/session"
	"conclave/session/claude"
	"conclave/session/kind"
	"conclave/transcript"
)

// sessionFeed makes items of the lines of one session file of a program.
type sessionFeed struct {
	lineReader
	index   indexer
	kind    *kind.Kind
	seq     int64
	at      int64 // the time of the last line that had one
	org     origin
	origin  *origin
	model   string // the model that a codex file named last
	request requests
}

// newSessionFeed returns the feed of a session file; dir is the project if the
// file does not say.
func newSessionFeed(adapter, path string, x indexer) *sessionFeed {
	f := &sessionFeed{index: x, kind: session.OfAdapter(adapter)}
	file := session.Unnamed(path, f.kind)
	if at, ok := claude.Locate(path); ok && f.kind == claude.Kind {
		file = at
	}
	f.lineReader = newLineReader(f.kind, file, kind.Options{Reuse: true})
	f.org = origin{adapter: adapter, source: file.Source, session: file.Session, seat: "main"}
	if f.kind == claude.Kind {
		f.org.project = file.Project
	}
	if !file.Main() {
		f.org.seat = "subagent"
		if note, ok, err := f.kind.Note(file); ok && err == nil {
			f.mapper.(kind.Child).SetParent(note.Hangs(nil))
			if note.Role != "" {
				f.org.seat = note.Role
			}
		}
	}
	return f
}

// warm lets the mapping see a line that is in the archive already.
func (f *sessionFeed) warm(line []byte) {
	f.read(line)
	f.envelope()
	f.seq += int64(len(f.items))
}

// add appends the items of a line, which stands at off in its block.
func (f *sessionFeed) add(dst []item, line []byte, off int) []item {
	f.read(line)
	f.envelope()
	sum := uint32(0)
	for i := range f.items {
		t := &f.items[i]
		it := f.item(t, i)
		it.off, it.size = off, len(line)
		if searchable(t.Type) && !f.index.off {
			if sum == 0 {
				sum = lineSum(line)
			}
			f.index.text = f.text(f.index.text[:0], t)
			f.index.index(&it, sum)
		}
		dst = append(dst, it)
	}
	return dst
}

// flush appends what the mapping held back for a line that did not come.
func (f *sessionFeed) flush(dst []item, off, size int) []item {
	for i, t := range f.mapper.Flush() {
		it := f.item(&t, 100+i)
		it.off, it.size = off, size
		dst = append(dst, it)
	}
	return dst
}

// envelope takes time, model and request from the line.
func (f *sessionFeed) envelope() {
	if len(f.items) == 0 {
		return
	}
	var stamp []byte
	if l := f.apart(); l != nil {
		stamp = bare(l.timestamp)
		if l.request != nil {
			f.request.note(str(l.id), str(l.request))
		}
	} else {
		stamp = quick(f.line, `"timestamp":"`)
	}
	if at := transcript.ParseTime(stamp); at != 0 {
		f.at = at
	}
	if f.org.adapter == transcript.AdapterCodex {
		if m := quick(f.line, `"model":"`); len(m) > 0 {
			f.model = string(m)
		}
	}
}

// identify finds out whose session it is by how the file begins. All of its
// entries have one origin: that a program changed its directory later does not
// make it another project.
func (f *sessionFeed) identify(r io.Reader) error {
	start := make([]byte, 256<<10)
	n, err := io.ReadFull(r, start)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	start = start[:n]
	if cwd := quick(start, `"cwd":"`); len(cwd) > 0 {
		f.org.project = str(append(append([]byte{'"'}, cwd...), '"'))
	}
	if f.org.session == "" {
		for _, name := range []string{`"session_id":"`, `"thread_id":"`, `"id":"`} {
			if id := quick(start, name); len(id) > 0 {
				f.org.session = string(id)
				break
			}
		}
	}
	f.org.prompt = filepath.Base(f.org.project) + "/" + f.org.session
	f.origin = &f.org
	return nil
}

func (f *sessionFeed) item(t *transcript.Item, part int) item {
	f.seq++
	it := item{typ: t.Type, seq: f.seq, at: f.at, part: part, origin: f.origin}
	switch t.Type {
	case transcript.ToolUse, transcript.ToolResult:
		rest, _ := f.beside(t.Detail)
		d := members(rest, "tool_use_id", "name", "is_error", "subtype")
		it.toolID, it.tool, it.failed, it.subtype = str(d[0]), str(d[1]), string(d[2]) == "true", str(d[3])
	case transcript.TokenUsage:
		d := members(t.Detail, "usage", "model", "message_id")
		if u, ok := readFigures(d[0]); ok {
			id := str(d[2])
			if u.model = str(d[1]); u.model == "" {
				u.model = f.model
			}
			u.key = transcript.ResponseKey(id, f.request.of(id), it.origin.session, it.at, u.Usage)
			it.usage = &u
		}
	default:
		it.subtype = intern(bare(lastMember(t.Detail, `"subtype":"`)))
	}
	return it
}

// quick finds the value of a member by its name, without looking at what is
// around it: for members that stand once on a line, or first where it counts.
func quick(line []byte, name string) []byte {
	i := bytes.Index(line, []byte(name))
	if i < 0 {
		return nil
	}
	rest := line[i+len(name):]
	end := bytes.IndexByte(rest, '"')
	for end > 0 && rest[end-1] == '\\' {
		next := bytes.IndexByte(rest[end+1:], '"')
		if next < 0 {
			return nil
		}
		end += 1 + next
	}
	if end < 0 {
		return nil
	}
	return rest[:end]
}

// lastMember finds a member that the mapping puts before or behind the line
// itself.
func lastMember(detail []byte, name string) []byte {
	at := -1
	if len(detail) > len(name) && string(detail[1:1+len(name)]) == name {
		at = 1
	} else {
		window := max(0, len(detail)-512)
		if i := bytes.LastIndex(detail[window:], []byte(name)); i >= 0 {
			at = window + i
		}
	}
	if at < 0 {
		return nil
	}
	rest := detail[at+len(name)-1:]
	if end := bytes.IndexByte(rest[1:], '"'); end >= 0 {
		return rest[:end+2]
	}
	return nil
}
