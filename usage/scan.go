package usage

import (
	"bytes"
	"crypto/sha256"
	"io"
	"iter"

	"conclave/archive"
	"conclave/session"
	"conclave/session/claude"
	"conclave/transcript"
	"conclave/workspace"
)

// response is what one response of a model consumed, as one file tells it.
type response struct {
	key     [16]byte // of the response: the same in every file
	at      int64    // microseconds
	model   string
	session string
	role    string // "" is the file's
	transcript.Usage
	whole bool // the message had ended
}

// file is what one file, or a part of it, says about usage.
type file struct {
	path          string
	size, mtime   int64
	pos           int64 // lines before it have been read
	kind          string
	project, role string
	began         int64 // when its session began; see session.Beginning
	rows          []response
	sums          []programSum
	reader        claude.Responses
	heard         int64 // the youngest time that was read so far, near the end
}

// programSum is what the program itself has counted for a session; see session.Accounts.
type programSum struct {
	at int64 // no response before it is younger
	session.Sum
}

func responseKey(key string) (k [16]byte) {
	sum := sha256.Sum256([]byte(key))
	copy(k[:], sum[:])
	return k
}

// usageMark stands on every line that has figures. Most lines have none, and
// are passed over without being looked at; within texts its quote is escaped.
var usageMark = []byte(`usage":`)

// spacedMark is the same as others write it, with blanks.
var spacedMark = []byte(`usage" `)

// maxAnswer is how long a line with figures can be: an answer and no more. Two
// of this length are in memory at a time.
const maxAnswer = 32 << 20

// scanClaude reads the lines of a session file that begin in [from, to).
func (u *file) scanClaude(f io.ReaderAt, from, to int64, buf []byte) ([]byte, error) {
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
		u.hear(f, pos)
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
func (u *file) lines(b []byte) {
	mark := usageMark
	if !bytes.Contains(b, mark) {
		mark = spacedMark
	}
	if u.project == "" || u.began == 0 {
		begin := session.Begin(session.Unnamed(u.path, claude.Kind), session.Start(b))
		if u.project == "" {
			u.project = begin.Directory
		}
		if u.began == 0 {
			u.began = begin.At
		}
	}
	u.lookForSums(b)
	for line := range linesWith(b, mark) {
		u.line(line)
	}
}

// linesWith are the lines that have the mark, and where they begin.
func linesWith(b, mark []byte) iter.Seq2[[]byte, int] {
	return func(yield func([]byte, int) bool) {
		for from := 0; ; {
			i := bytes.Index(b[from:], mark)
			if i < 0 {
				return
			}
			i += from
			start := bytes.LastIndexByte(b[from:i], '\n') + 1 + from
			end := bytes.IndexByte(b[i:], '\n')
			if end < 0 {
				end = len(b) - i
			}
			if !yield(b[start:i+end], start) || i+end+1 >= len(b) {
				return
			}
			from = i + end + 1
		}
	}
}

// sumMark stands on the line of a sum (modelUsage), and on few others. It begins
// with a letter that is rare, which is what makes looking for it fast.
var sumMark = []byte(`Usage"`)

// lookForSums takes up the program's own sums from whole lines. They bear no time:
// what they count had happened by the youngest time that stands before them.
func (u *file) lookForSums(b []byte) {
	for line, start := range linesWith(b, sumMark) {
		s := claude.SumOf(line)
		if s == nil {
			continue
		}
		at := max(u.heard, youngest(b[max(0, start-nearBytes):start]))
		for i := range u.rows {
			at = max(at, u.rows[i].at)
		}
		u.sums = append(u.sums, programSum{at, *s})
	}
	u.heard = max(u.heard, youngest(b[max(0, len(b)-nearBytes):]))
}

// nearBytes is how far before a sum its time is looked for.
const nearBytes = 64 << 10

var timeMark = []byte(`"timestamp":"`)

func youngest(b []byte) (at int64) {
	for {
		i := bytes.Index(b, timeMark)
		if i < 0 {
			return at
		}
		b = b[i+len(timeMark):]
		if end := bytes.IndexByte(b, '"'); end > 0 {
			at = max(at, transcript.ParseTime(b[:end]))
		}
	}
}

// hear finds out what time it was before pos.
func (u *file) hear(f io.ReaderAt, pos int64) {
	buf := make([]byte, min(pos, nearBytes))
	n, _ := f.ReadAt(buf, pos-int64(len(buf))) // what cannot be read says nothing
	u.heard = youngest(buf[:n])
}

// line takes the figures out of one line, as the mapping of session files
// does: once per message, errors of the program and messages that were cut off
// not at all.
func (u *file) line(line []byte) {
	r, ok := u.reader.Read(line)
	if !ok {
		return
	}
	row := response{at: r.At, model: u.intern(r.Model), session: u.internSession(r.Session),
		Usage: r.Usage, whole: r.Whole}
	row.key = responseKey(transcript.ResponseKey(string(r.Message), string(r.Request), row.session, row.at, row.Usage))
	u.add(row, r.Aborted)
}

// add keeps one row per message: lines of one message follow each other.
func (u *file) add(row response, aborted bool) {
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
func (u *file) intern(name []byte) string {
	for i := len(u.rows) - 1; i >= max(0, len(u.rows)-4); i-- {
		if u.rows[i].model == string(name) {
			return u.rows[i].model
		}
	}
	return string(name)
}

func (u *file) internSession(name []byte) string {
	if n := len(u.rows); n > 0 && u.rows[n-1].session == string(name) {
		return u.rows[n-1].session
	}
	return string(name)
}

// scanWhole reads a rollout or a record from its beginning.
func (u *file) scanWhole(f io.ReaderAt) error {
	told, err := archive.Responses(u.kind, u.path, f, func(r archive.Response) {
		u.add(response{key: responseKey(r.Key), at: r.At, model: r.Model, session: r.Session, role: r.Role,
			Usage: r.Usage, whole: true}, false)
	}, func(s archive.Sum) { u.sums = append(u.sums, programSum{s.At, s.Sum}) })
	u.project, u.role, u.began, u.pos = told.Project, told.Role, told.Began, told.End
	return err
}

// scan reads what is new in the file.
func (u *file) scan(buf []byte, from, to int64) ([]byte, error) {
	f, err := workspace.OpenNamed(u.path)
	if err != nil {
		return buf, err
	}
	defer f.Close()
	if u.kind != claude.Kind.Name {
		return buf, u.scanWhole(f)
	}
	u.role = session.Of(u.path, claude.Kind).Role()
	return u.scanClaude(f, from, to, buf)
}
