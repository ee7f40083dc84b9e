package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"conclave/transcript"
)

// Log is the log stream: every log record that goes on the record while a verb
// runs, as a line of JSON with timestamp, level, logger, event, message and
// context, for whoever watches. It holds the words of every seat.
//
// It comes after the record and is never in its way. What cannot be written
// fast enough is dropped, what cannot be written at all is passed over; both
// are counted, and the record has them.
type Log struct {
	name   string
	out    io.Writer
	tell   func(string)
	stream *transcript.Stream

	broken bool // the last line is not whole
	once   sync.Once
}

// OpenLog begins the log stream to a file, which is appended to and readable for
// the person alone, or to out when the name is "-". Whoever opens it closes it.
func (a *App) OpenLog(name string, out io.Writer) (*Log, error) {
	if name != "-" {
		// A pipe that nobody reads is an error and not a wait.
		const flags = os.O_APPEND | os.O_CREATE | os.O_WRONLY | syscall.O_NONBLOCK
		f, err := os.OpenFile(a.AbsPath(name), flags, 0o600)
		if errors.Is(err, syscall.ENXIO) {
			return nil, environmentError("--log: %w: nobody reads that pipe; start who does first", err)
		}
		if err != nil {
			return nil, environmentError("--log: %w", err)
		}
		out = f
	}
	l := &Log{name: name, out: out, tell: a.tell}
	l.stream = transcript.NewStream(transcript.NewHandler(l, "conclave", nil), transcript.StreamOptions{})
	return l, nil
}

// Write implements io.Writer for the stream, a line at a time. The first line
// that cannot be written is said; none ends the run.
func (l *Log) Write(line []byte) (int, error) {
	if l.broken {
		if _, err := l.out.Write([]byte("\n")); err != nil {
			return 0, err
		}
		l.broken = false
	}
	n, err := l.out.Write(line)
	if err != nil {
		l.broken = n > 0
		l.once.Do(func() {
			l.tell(fmt.Sprintf("--log %s: %v; the run goes on, and the record has everything", l.name, err))
		})
	}
	return n, err
}

// Close writes what waits, until ctx ends, and says how much was left out.
func (l *Log) Close(ctx context.Context) {
	if l == nil {
		return
	}
	_ = l.stream.Close(ctx) // what it left out is in the figures
	if f, ok := l.out.(*os.File); ok && l.name != "-" {
		_ = f.Close() // as with any line, the record has it
	}
	if s := l.stream.Stats(); s.Dropped+s.Failed > 0 {
		l.tell(fmt.Sprintf("--log %s: %d of %d log records were left out; the record has them",
			l.name, s.Dropped+s.Failed, s.Delivered+s.Dropped+s.Failed))
	}
}

// to is where seats and collectors send the stream; nil for nowhere.
func (l *Log) to() *transcript.Stream {
	if l == nil {
		return nil
	}
	return l.stream
}
