package archive

import (
	"bytes"
	"crypto/sha256"
	"io"
	"math"
	"path/filepath"
	"strings"

	"conclave/internal/jsontext"
	"conclave/record"
	"conclave/session/claude"
	"conclave/session/codex"
	"conclave/transcript"
	"conclave/workspace"
)

// usageRow is the usage of one response, as one file tells it.
type usageRow struct {
	key                                  [16]byte // of the response: the same in every file
	at                                   int64    // microseconds
	model                                string
	session                              string
	input, output, cacheRead, cacheWrite int64
	whole                                bool // the message had ended
}

// usageFile is what one file, or a part of it, says about usage.
type usageFile struct {
	path          string
	size, mtime   int64
	pos           int64 // lines before it have been read
	kind          string
	project, role string
	rows          []usageRow
}

func responseKey(key string) (k [16]byte) {
	sum := sha256.Sum256([]byte(key))
	copy(k[:], sum[:])
	return k
}

// usageMark stands on every line that has figures. Most lines have none, and
// are passed over without being looked at; within texts its quote is escaped.
var usageMark = []byte(`usage":{"`)

// maxAnswer is how long a line with figures can be: an answer and no more. Two
// of this length are in memory at a time.
const maxAnswer = 32 << 20

// scanClaude reads the lines of a session file that begin in [from, to).
func (u *usageFile) scanClaude(f io.ReaderAt, from, to int64, buf []byte) ([]byte, error) {
	if cap(buf) < 1<<20 {
		buf = make([]byte, 0, 4<<20)
	}
	buf = buf[:0]
	pos := from // of buf[0]
	if from > 0 {
		// The line that runs into this part belongs to the part before it.
		pos--
		skip, err := lineEnd(f, pos)
		if err != nil || skip >= to {
			u.pos = max(u.pos, to)
			return buf, err
		}
		pos = skip
	}
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := f.ReadAt(buf[len(buf):cap(buf)], pos+int64(len(buf)))
		buf = buf[:len(buf)+n]
		last := bytes.LastIndexByte(buf, '\n') + 1
		if last == 0 && len(buf) > maxAnswer { // no figures are looked for in such a line
			if pos, err = lineEnd(f, pos+int64(len(buf))); err != nil || pos >= to {
				u.pos = max(u.pos, pos)
				return nil, err
			}
			buf = make([]byte, 0, 4<<20)
			continue
		}
		if err == io.EOF && last < len(buf) {
			u.lines(buf) // a last line without its end: it is read again later
			u.pos = max(u.pos, pos+int64(last))
			return buf, nil
		}
		done := last
		if pos+int64(last) > to {
			// Up to the end of the line that begins before to.
			if done = int(to - pos); done > 0 && buf[done-1] != '\n' {
				done += bytes.IndexByte(buf[done:], '\n') + 1
			}
		}
		u.lines(buf[:done])
		pos += int64(done)
		if err == io.EOF || pos >= to {
			u.pos = max(u.pos, pos)
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
		buf = buf[:copy(buf, buf[done:])]
	}
}

// lineEnd is the place behind the first newline from pos on.
func lineEnd(f io.ReaderAt, pos int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for {
		n, err := f.ReadAt(buf, pos)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return pos + int64(i) + 1, nil
		}
		pos += int64(n)
		if err == io.EOF {
			return pos, nil
		}
		if err != nil {
			return pos, err
		}
	}
}

// lines takes the figures out of whole lines.
func (u *usageFile) lines(b []byte) {
	if u.project == "" {
		if cwd := quick(b[:min(len(b), 256<<10)], `"cwd":"`); len(cwd) > 0 {
			u.project = str(append(append([]byte{'"'}, cwd...), '"'))
		}
	}
	for {
		i := bytes.Index(b, usageMark)
		if i < 0 {
			return
		}
		start := bytes.LastIndexByte(b[:i], '\n') + 1
		end := bytes.IndexByte(b[i:], '\n')
		if end < 0 {
			u.line(b[start:])
			return
		}
		u.line(b[start : i+end])
		b = b[i+end+1:]
	}
}

// line takes the figures out of one line, as the mapping of session files
// does: once per message, errors of the program and messages that were cut off
// not at all.
func (u *usageFile) line(line []byte) {
	var typ, stamp, request, message, session, apiError, aborted []byte
	if jsontext.Walk(line, func(key, value []byte) error {
		switch string(key) {
		case "type":
			typ = value
		case "timestamp":
			stamp = value
		case "requestId":
			request = value
		case "message":
			message = value
		case "sessionId":
			session = value
		case "isApiErrorMessage":
			apiError = value
		case "isAbortedMidStream":
			aborted = value
		}
		return nil
	}) != nil || string(typ) != `"assistant"` || string(apiError) == "true" {
		return
	}
	m := members(message, "id", "model", "usage", "stop_reason")
	id := str(m[0])
	row := usageRow{at: transcript.ParseTime(bare(stamp)), model: u.intern(m[1]), session: u.internSession(session)}
	f, ok := readFigures(m[2])
	if !ok || row.model == "<synthetic>" {
		return
	}
	row.input, row.output, row.cacheRead, row.cacheWrite = f.Input, f.Output, f.CacheRead, f.CacheWrite
	row.key = responseKey(transcript.ResponseKey(id, str(request), row.session, row.at, f.Usage))
	row.whole = len(m[3]) > 0 && m[3][0] == '"'
	u.add(row, string(aborted) == "true")
}

// add keeps one row per message: lines of one message follow each other.
func (u *usageFile) add(row usageRow, aborted bool) {
	for i := len(u.rows) - 1; i >= max(0, len(u.rows)-32); i-- {
		if u.rows[i].key != row.key {
			continue
		}
		switch have := &u.rows[i]; {
		case aborted && !have.whole:
			u.rows = append(u.rows[:i], u.rows[i+1:]...)
		case !have.whole && !aborted:
			*have = row
		}
		return
	}
	if !aborted {
		u.rows = append(u.rows, row)
	}
}

// intern lets rows share the memory of names: a file has few.
func (u *usageFile) intern(b []byte) string {
	name := bare(b)
	for i := len(u.rows) - 1; i >= max(0, len(u.rows)-4); i-- {
		if u.rows[i].model == string(name) {
			return u.rows[i].model
		}
	}
	return string(name)
}

func (u *usageFile) internSession(b []byte) string {
	name := bare(b)
	if n := len(u.rows); n > 0 && u.rows[n-1].session == string(name) {
		return u.rows[n-1].session
	}
	return string(name)
}

// scanCodex reads a rollout: figures are differences of totals, so it is read
// from its beginning, but only the lines that have a part in them.
func (u *usageFile) scanCodex(f io.ReaderAt) error {
	feed := newSessionFeed(transcript.AdapterCodex, u.path, indexer{off: true})
	if err := feed.identify(io.NewSectionReader(f, 0, math.MaxInt64)); err != nil {
		return err
	}
	u.project = feed.org.project
	var items []item
	var err error
	for line := range transcript.Lines(io.NewSectionReader(f, 0, math.MaxInt64), &err) {
		u.pos += int64(len(line)) + 1
		head := line[:min(len(line), 240)]
		meta := bytes.Contains(head, []byte(`"session_meta"`))
		if !meta && !bytes.Contains(head, []byte(`"token_`)) && !bytes.Contains(head, []byte(`"turn_context"`)) && codex.Sniff(line) == codex.FormatRollout {
			continue
		}
		items = feed.add(items[:0], line, 0)
		u.take(items)
	}
	return err
}

// scanRecord reads the entries of a record that have figures.
func (u *usageFile) scanRecord(f io.ReaderAt) error {
	feed := logFeed{index: indexer{off: true}}
	r := record.NewReader(f)
	var items []item
	for r.Next() {
		fr := r.Frame()
		if fr.Kind != record.KindLog || fr.Withheld || !bytes.Contains(fr.Payload, []byte(`usage"`)) {
			continue
		}
		items = feed.add(items[:0], fr.Payload, 0)
		if len(items) > 0 && items[0].kind != 0 && u.role == "" {
			u.role = items[0].origin.seat
		}
		u.take(items)
	}
	u.pos = r.Cursor().Offset
	return r.Err()
}

func (u *usageFile) take(items []item) {
	for i := range items {
		f := items[i].usage
		if f == nil {
			continue
		}
		row := usageRow{key: responseKey(f.key), at: items[i].at, model: f.model, session: items[i].origin.session,
			input: f.Input, output: f.Output, cacheRead: f.CacheRead, cacheWrite: f.CacheWrite, whole: true}
		u.add(row, false)
	}
}

// describe says whose file it is, as far as its path tells.
func (u *usageFile) describe() {
	switch u.kind {
	case kindClaude:
		u.role = "main"
		file, _ := claude.Locate(u.path)
		if !file.Main() {
			u.role = "subagent"
			if note, ok, err := claude.Note(file); ok && err == nil && note.Role != "" {
				u.role = note.Role
			}
		}
	case kindCodex:
		u.role = "main"
	case kindRecord, kindLog:
		u.project = projectOf(u.path)
	}
}

// scan reads what is new in the file.
func (u *usageFile) scan(buf []byte, from, to int64) ([]byte, error) {
	f, err := workspace.OpenNamed(u.path)
	if err != nil {
		return buf, err
	}
	defer f.Close()
	u.describe()
	switch u.kind {
	case kindClaude:
		return u.scanClaude(f, from, to, buf)
	case kindCodex:
		return buf, u.scanCodex(f)
	case kindRecord:
		return buf, u.scanRecord(f)
	}
	return buf, nil
}

// slug is the project of a file that does not name its directory.
func (u *usageFile) slug() string {
	dir := filepath.Dir(u.path)
	if i := strings.Index(dir, string(filepath.Separator)+"subagents"); i >= 0 {
		dir = filepath.Dir(filepath.Dir(dir[:i]))
		return filepath.Base(dir)
	}
	return filepath.Base(dir)
}
