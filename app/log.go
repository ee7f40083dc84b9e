package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
	file   *os.File // nil for one that is somebody else's
	made   bool     // there was no such file
	out    io.Writer
	tell   func(string)
	stream *transcript.Stream

	broken bool // the last line is not whole
	once   sync.Once
}

// OpenLog begins the log stream to a file, which is appended to and readable for
// the person alone, or to out when the name is "-". Whoever opens it closes it.
func (a *App) OpenLog(name string, out io.Writer) (*Log, error) {
	l := &Log{name: name, out: out, tell: a.tell}
	if name != "-" {
		path := a.AbsPath(name)
		err := checkLog(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, environmentError("--log: %w", err)
		}
		l.made = err != nil
		// A pipe that nobody reads is an error and not a wait.
		const flags = os.O_APPEND | os.O_CREATE | os.O_WRONLY | syscall.O_NONBLOCK
		l.file, err = os.OpenFile(path, flags, 0o600)
		if errors.Is(err, syscall.ENXIO) {
			return nil, environmentError("--log: %w: nobody reads that pipe; start who does first", err)
		}
		if err != nil {
			return nil, environmentError("--log: %w", err)
		}
		l.out = l.file
	}
	l.stream = transcript.NewStream(transcript.NewHandler(l, "conclave", nil), transcript.StreamOptions{})
	return l, nil
}

// checkLog refuses a file that is no log: what begins otherwise is somebody's
// own, and a link may have come with a clone. What is no file, such as a pipe, may
// be reached by any name.
func checkLog(path string) error {
	link, err := os.Lstat(path)
	if err != nil {
		return err
	}
	linked := link.Mode()&fs.ModeSymlink != 0
	info, err := os.Stat(path)
	switch {
	case linked && (err != nil || info.Mode().IsRegular()):
		return fmt.Errorf("%s is a link: name the file itself", path)
	case err != nil || !info.Mode().IsRegular() || info.Size() == 0:
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	first := make([]byte, 1)
	if _, err := f.Read(first); err == nil && first[0] != '{' {
		return fmt.Errorf("%s holds something else than a log: name another file", path)
	}
	return nil
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
	if l.file != nil {
		info, err := l.file.Stat()
		_ = l.file.Close() // as with any line, the record has it
		if err == nil && l.made && info.Size() == 0 {
			_ = os.Remove(l.file.Name()) // nothing ran
		}
	}
	if s := l.stream.Stats(); s.Dropped+s.Failed > 0 {
		l.tell(fmt.Sprintf("--log %s: %d of %d log records were left out; the record has them",
			l.name, s.Dropped+s.Failed, s.Delivered+s.Dropped+s.Failed))
	}
}

// keepOutOf refuses a log in a workspace, but for the engine's own directory,
// which enters no room: seats that see the project would read there what the
// others are told. Standard output is looked behind where the system shows what
// it is.
func (l *Log) keepOutOf(root string) error {
	if l == nil {
		return nil
	}
	f, ok := l.out.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return refusedHere(err)
	}
	file, err := filepath.EvalSymlinks(f.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it has no name any more
	}
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return environmentError("--log: %w", err)
	}
	rel, err := filepath.Rel(root, file)
	if err != nil || !filepath.IsLocal(rel) || filepath.Dir(rel) == engineDir {
		return nil
	}
	return usageError("--log %s: seats that see the workspace would read there what others are told; "+
		"put the log outside of it, or into .conclave/", l.name)
}

// without says that a setting leaves out of the log what somebody reading it
// would look for.
func (l *Log) without(whose string, quiet, noRaw bool) {
	switch {
	case l == nil:
	case quiet:
		l.tell(fmt.Sprintf("--log %s: the transcript of %s is turned off by a setting; the record has it", l.name, whose))
	case noRaw:
		l.tell(fmt.Sprintf("--log %s: raw is turned off for %s by a setting; the record has it", l.name, whose))
	}
}

// to is where seats and collectors send the stream; nil for nowhere.
func (l *Log) to() *transcript.Stream {
	if l == nil {
		return nil
	}
	return l.stream
}
