package bundle

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"

	"conclave/record"
	"conclave/transcript"
)

// In a bundle the record is its frames: what the log says already is not said
// again. To whoever opens, verifies or extracts it, it is a file like the
// others. Bundles of earlier versions hold it whole.

// assembled says whether the record of this bundle has to be put together.
func (r *Reader) assembled() bool {
	return r.files[RecordFile] == nil && r.files[framesFile] != nil && r.files[logFile] != nil && r.manifest.Record != nil
}

// recordSize is how long the record is by what the manifest says; reading gives
// exactly so much or an error.
func (r *Reader) recordSize() int64 {
	return min(max(r.manifest.Record.Size, 0), r.limits.Bytes)
}

// openRecord puts the record together while it is read.
func (r *Reader) openRecord() (io.ReadCloser, error) {
	frames, err := r.openFile(framesFile)
	if err != nil {
		return nil, err
	}
	log, err := r.openFile(logFile)
	if err != nil {
		return nil, errors.Join(err, frames.Close())
	}
	out, in := io.Pipe()
	go func() {
		err := assemble(in, frames, log)
		in.CloseWithError(errors.Join(err, frames.Close(), log.Close()))
	}()
	return &exact{bounded{out, r.recordSize(), RecordFile}}, nil
}

func assemble(dst io.Writer, frames, log io.Reader) error {
	var logErr error
	line, stop := iter.Pull(transcript.Lines(log, &logErr))
	defer stop()
	out := bufio.NewWriterSize(dst, 256<<10)
	err := record.Restore(out, frames, func() ([]byte, error) {
		text, ok := line()
		if !ok {
			return nil, errors.Join(logErr, io.EOF)
		}
		return text, nil
	})
	if err != nil {
		return err
	}
	if _, more := line(); more {
		return fmt.Errorf("%s has lines that are no frame's", logFile)
	}
	return errors.Join(logErr, out.Flush())
}

// exact is bounded for a file whose size no zip keeps.
type exact struct{ bounded }

func (e *exact) Read(p []byte) (int, error) {
	n, err := e.bounded.Read(p)
	if err == io.EOF && e.left > 0 {
		err = fmt.Errorf("%s: it is %d bytes shorter than the manifest says", e.name, e.left)
	}
	return n, err
}
