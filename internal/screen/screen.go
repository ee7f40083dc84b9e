// Package screen is the only way from this program to a terminal.
//
// What an agent, a file, the name of a file, a model, a record or an error says
// is foreign: it must not steer the person's terminal, nor pass for a line that
// the program wrote itself. So foreign text is shown, not done. Control
// characters stand there as pictures (␛, ␍, ␡), everything else that steers,
// reorders or hides as ⟨U+202E⟩, and a byte that is no UTF-8 as ⟨0x9B⟩: C0 and
// C1, bidirectional controls, line and paragraph separators, invisible letters,
// tag characters, joiners and variation selectors where no script or picture
// uses them. A line break in a name or a title is shown too (␊); only a Block
// keeps its lines, and an error's later lines are indented.
//
// A Writer is safe by default. In Printf the format is the program's own, and
// every argument is foreign unless it is a Text, which only this package makes:
// that is how the program's own colours differ from those in a model's answer.
// What is written as plain bytes is foreign altogether; a character that is cut
// in two by the end of a chunk is put together first. JSON escapes what would
// be shown and decodes to the same value; CSV takes formulas for text.
//
// Pipes get the same as terminals, but for colours and line breaks: where the
// width of a terminal is known, prose is broken between words. Where bytes are
// what a command is for, Raw gives them exactly to a pipe, and shown to a terminal.
//
// A Writer remembers the first write that failed, and Flush returns it: who
// prints line by line need not ask after every line.
//
// The package stores nothing and knows nothing of what it prints. It does not
// promise that a text is true, only whose it is.
package screen

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// Options say what a Writer writes to.
type Options struct {
	Terminal bool       // a person looks at it
	Plain    bool       // without colours, even on a terminal
	Width    func() int // how many columns a terminal has now; nil or 0: nobody knows
}

// Writer writes to a terminal, or to what takes its place. It may be used by
// several goroutines; one Printf is never torn by another.
type Writer struct {
	out      *sink
	terminal bool
	styles   bool
	width    func() int

	mu     sync.Mutex
	stream filter
	wrap   wrapper // of a Stream; its width is 0 where nothing is broken
}

// sink is what several Writers write to. It knows whether a write has failed,
// and on a terminal in which column the last one ended.
type sink struct {
	to     io.Writer
	counts bool

	mu     sync.Mutex
	column int
	failed error
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.to.Write(p)
	if s.failed == nil {
		s.failed = err
	}
	if s.counts {
		s.column = columnAfter(s.column, p)
	}
	return n, err
}

func (s *sink) at() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.column
}

func (s *sink) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// New makes a Writer.
func New(out io.Writer, o Options) *Writer {
	w := &Writer{out: &sink{to: out, counts: o.Terminal}, terminal: o.Terminal, styles: o.Terminal && !o.Plain,
		stream: filter{form: block}}
	if o.Terminal {
		w.width = o.Width
	}
	return w
}

// columns is how many the terminal has, 0 where nobody knows.
func (w *Writer) columns() int {
	if w.width == nil {
		return 0
	}
	return w.width()
}

// Terminal says whether a person looks at it.
func (w *Writer) Terminal() bool { return w.terminal }

// Printf writes the program's own words with foreign ones in them. The format
// is a constant; a Text keeps its lines and colours, an error its lines,
// indented, and anything else is one line.
func (w *Writer) Printf(format string, args ...any) error {
	if false {
		_ = fmt.Sprintf(format, args...) // so that vet knows what this is
	}
	return w.print(Sprintf(format, args...))
}

func (w *Writer) print(t Text) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := broken(t.s, w.out.at(), w.columns())
	if !w.styles {
		text = uncoloured.Replace(text)
	}
	_, err := w.out.Write(append(w.stream.feed(nil, nil, true), text...))
	return err
}

// clearAll empties the screen and what was scrolled off it.
const clearAll = "\x1b[H\x1b[2J\x1b[3J"

// Clear takes away what stands on the screen: what comes next is for somebody
// else. Where nothing can be cleared it is scrolled away.
func (w *Writer) Clear() error {
	text := strings.Repeat("\n", 60)
	if w.styles {
		text = clearAll
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.out.Write(append(w.stream.feed(nil, nil, true), text...))
	return err
}

// Write writes foreign text as it comes, its lines kept. What cannot be judged
// yet, half a character, waits for the next Write, Printf or Flush.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.out.Write(w.shown(p, false)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// shown is what of foreign text can be written by now.
func (w *Writer) shown(p []byte, final bool) []byte {
	text := w.stream.feed(nil, p, final)
	if w.wrap.width > 0 || w.wrap.paint {
		text = w.wrap.feed(nil, text, final)
	}
	return text
}

// Flush writes what is still waiting, and returns the first error there was.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if rest := w.shown(nil, true); len(rest) > 0 {
		_, _ = w.out.Write(rest) // what fails is remembered
	}
	return w.out.failure()
}

// Raw is for commands whose purpose is bytes: a pipe gets them as they are, a
// terminal gets them shown.
func (w *Writer) Raw() io.Writer {
	if w.terminal {
		return w
	}
	return w.out.to
}

// Stream is for text that comes in pieces: Prose whose lines, but for the
// first, are indented. Where there are colours, words between ** are bold: who
// speaks there writes Markdown. It is a Writer of its own, for one text.
func (w *Writer) Stream(indent string) *Writer {
	s := &Writer{out: w.out, terminal: w.terminal, stream: filter{form: block, indent: indent}}
	s.wrap = wrapper{column: w.out.at(), hang: len(indent), paint: w.styles}
	if n := w.columns(); n >= narrowest {
		s.wrap.width = n
	}
	return s
}

// Session is for a program in a room that has a terminal of its own, and whose
// output is relayed to the person's, which is in raw mode. Where a person edits
// lines, returns and backspaces are done; all else is shown.
func (w *Writer) Session(edit bool) *Writer {
	f := filter{form: raw}
	if edit {
		f.form = edited
	}
	return &Writer{out: w.out, terminal: w.terminal, stream: f}
}

// File is the file behind it, to hand on to another program; nil if there is
// none or a person looks at it.
func (w *Writer) File() *os.File {
	f, _ := w.out.to.(*os.File)
	if w.terminal {
		return nil
	}
	return f
}

// clearLine goes back to the beginning of the line and empties it.
const clearLine = "\r\x1b[K"

// Progress writes a line over the one before. Only a terminal gets it.
func (w *Writer) Progress(format string, args ...any) {
	if false {
		_ = fmt.Sprintf(format, args...) // so that vet knows what this is
	}
	if w.terminal {
		t := Sprintf(format, args...)
		_ = w.print(Text{clearLine + t.s}) // a screen that is gone needs no progress
	}
}

// JSON writes a value as indented JSON, with <, > and & as they are.
func (w *Writer) JSON(v any) error {
	text, err := marshal(v, "  ")
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err = w.out.Write(append(text, '\n'))
	return err
}
