package session

import (
	"bytes"
	"io"

	"conclave/internal/jsontext"
	"conclave/session/claude"
	"conclave/session/kind"
	"conclave/transcript"
)

// BeginBytes is how much of a file Begin should be shown, if its first line is not
// longer.
const BeginBytes = 256 << 10

// Start is as much of b as Begin should be shown.
func Start(b []byte) []byte {
	first := bytes.IndexByte(b, '\n')
	if first < 0 {
		first = len(b)
	}
	return b[:min(len(b), max(first, BeginBytes))]
}

// ReadStart reads as much of a file as Begin should be shown: into buf if it fits.
// Of a first line that is longer than MaxLine it reads so much.
func ReadStart(r io.Reader, buf []byte) ([]byte, error) {
	if len(buf) < BeginBytes {
		buf = make([]byte, BeginBytes)
	}
	n := 0
	for {
		more, err := io.ReadFull(r, buf[n:])
		first := bytes.IndexByte(buf[n:n+more], '\n') >= 0
		n += more
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return Start(buf[:n]), nil
		case err != nil:
			return nil, err
		case first || n >= MaxLine:
			return Start(buf[:n]), nil
		}
		buf = append(buf, make([]byte, len(buf))...)
	}
}

// Beginning is what the first lines of a session say of all of it. That a
// program changed its directory later does not make it another project.
type Beginning struct {
	ID        string // the session's identity, "" when nothing tells it
	Directory string // in which the program was started
	Session   string // under which the program files it; subagents' may be their parent's
	At        int64  // of the first line that has a time: when this session began
}

// Begin reads how a session begins: its first lines, and f, which is what the
// path of its file tells.
func Begin(f File, start []byte) (b Beginning) {
	if cwd := jsontext.Find(start, `"cwd":"`); len(cwd) > 0 {
		b.Directory = jsontext.Text(append(append([]byte{'"'}, cwd...), '"'))
	}
	b.At = transcript.ParseTime(jsontext.Find(start, `"timestamp":"`))
	if f.Named {
		b.ID, b.Session = f.ID(), f.Session
	} else {
		b.Session = f.Session
		if owner := f.Kind.OwnerIn; owner != nil {
			if session, source := owner(start); session != "" {
				b.ID, b.Session = f.Kind.ID(session, source), session
			}
		}
	}
	if in := f.Kind.SessionIn; in != nil {
		b.Session = in(start)
	}
	return b
}

// Place tells of which of a session's files a line is (see File.Place), by the
// source of its entries and the line itself.
func Place(source string, line []byte) string {
	return File{Source: source, Beside: claude.Beside(line)}.Place()
}

// Clock tells when the lines of a source were written: what a line says, and of
// one that says nothing what the last one did. The zero value is ready for use.
type Clock struct{ at int64 }

// Line takes a line and the time that it bears, 0 if it bears none. aside says
// that it is what the program notes for itself: that may have its time further
// inside.
func (c *Clock) Line(at int64, line []byte, aside bool) int64 {
	if at == 0 && aside {
		at = transcript.ParseTime(jsontext.Find(line, `"timestamp":"`))
	}
	if at != 0 {
		c.at = at
	}
	return c.at
}

// Kept is one source of a session that is read from the entries that were made
// of it, on a record or in a bundle: what the source's own file would tell of
// each. Kind has to be set.
type Kept struct {
	Kind  *kind.Kind
	At    int64  // when the line at hand was written; 0: nothing says
	Model string // named last
	Part  int    // which of the line's entries it is

	clock  Clock
	mapper kind.Mapper // where only a mapping can tell
}

// Entry takes the next entry: the line that it was made of, or nil for a
// further entry of the line before. said says that the entry is something that
// was said or done.
func (k *Kept) Entry(line []byte, said bool) {
	if line == nil {
		k.Part++
		return
	}
	k.Part = 0
	at, model := k.stamp(line)
	k.At = k.clock.Line(at, line, !said)
	if model != "" {
		k.Model = model
	}
}

func (k *Kept) stamp(line []byte) (at int64, model string) {
	if k.Kind.Stamp != nil {
		return k.Kind.Stamp(line)
	}
	if k.mapper == nil {
		k.mapper = k.Kind.NewMapper(Unnamed("", k.Kind), Options{NoRaw: true})
	}
	items := k.mapper.Append(nil, line)
	for i := range items {
		if f := k.mapper.Facts(i); f.Model != "" {
			model = f.Model
		}
	}
	return k.mapper.Time(), model
}
