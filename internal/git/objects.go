package git

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// reading is how long git may take for all objects that are read.
const reading = 2 * time.Minute

// Bounds of single objects that are read whole.
const (
	maxCommitObject = 1 << 20 // a commit, a tag
	maxTreeObject   = 32 << 20
	maxSkipped      = 1 << 30
)

// Objects reads commits, trees and files as they were stored: no attributes, no
// filters, no replacements. It holds every object against its name, which git
// does not: what a commit is said to contain, it contains. It is for one caller
// at a time, and must be closed.
type Objects struct {
	r      *Repository
	ctx    context.Context // of whoever asks
	in     io.WriteCloser
	out    *bufio.Reader
	said   *bounded
	cancel context.CancelFunc
	cmd    *exec.Cmd
}

// Objects starts a git that hands out objects. Whatever is asked of the
// repository from then on has as long as the objects have.
func (r *Repository) Objects(ctx context.Context) (*Objects, error) {
	r.until = time.Now().Add(reading)
	asked := ctx
	ctx, cancel := context.WithDeadline(ctx, r.until)
	o := &Objects{r: r, ctx: asked, cancel: cancel, said: &bounded{limit: 4 << 10}}
	o.cmd = r.command(ctx, "cat-file", "--batch")
	o.cmd.Stderr = o.said
	in, err := o.cmd.StdinPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	out, err := o.cmd.StdoutPipe()
	if err == nil {
		o.in, o.out = in, bufio.NewReaderSize(out, 64<<10)
		err = o.cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("git cat-file: %w", err)
	}
	return o, nil
}

// Close ends git.
func (o *Objects) Close() error {
	o.cancel()
	o.in.Close()
	_ = o.cmd.Wait() // it was ended
	return nil
}

// errMissing says that an object is not in the repository.
var errMissing = errors.New("it is not in the repository")

// header asks for an object, and reads of what kind and how large it is.
func (o *Objects) header(id string) (kind string, size int64, err error) {
	if len(id) != 2*o.hash().Size() || !objectName.MatchString(id) {
		return "", 0, fmt.Errorf("%q is no name of an object here", id)
	}
	if _, err := io.WriteString(o.in, id+"\n"); err != nil {
		return "", 0, o.broken(err)
	}
	line, err := o.out.ReadString('\n')
	if err != nil {
		return "", 0, o.broken(err)
	}
	fields := strings.Fields(line)
	if len(fields) == 2 && fields[1] == "missing" {
		return "", 0, errMissing
	}
	if len(fields) != 3 || fields[0] != id {
		return "", 0, fmt.Errorf("git cat-file answered %q", firstLine(line))
	}
	size, err = strconv.ParseInt(fields[2], 10, 64)
	if err != nil || size < 0 {
		return "", 0, fmt.Errorf("git cat-file answered %q", firstLine(line))
	}
	return fields[1], size, nil
}

// broken says why git gives no more.
func (o *Objects) broken(err error) error {
	o.cancel()
	_ = o.cmd.Wait() // what it said is read now
	if err := o.ctx.Err(); err != nil {
		return err
	}
	if !time.Now().Before(o.r.until) {
		return fmt.Errorf("git cat-file: no answer within %v", reading)
	}
	if said := firstLine(o.said.kept.String()); said != "" {
		return fmt.Errorf("git cat-file: %s", said)
	}
	return fmt.Errorf("git cat-file: %w", err)
}

func (o *Objects) hash() hash.Hash {
	if o.r.settings.format == "sha256" {
		return sha256.New()
	}
	return sha1.New()
}

// copy writes an object's content and holds it against its name. Of an object
// that is larger than the limit nothing is written.
func (o *Objects) copy(id, want string, limit int64, dst io.Writer) (int64, error) {
	kind, size, err := o.header(id)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s %s: %w", want, id, err)
	case kind != want:
		return 0, errors.Join(fmt.Errorf("%s is a %s and no %s", id, kind, want), o.skip(size))
	case size > limit:
		return size, errors.Join(&tooLarge{size}, o.skip(size))
	}
	h := o.hash()
	fmt.Fprintf(h, "%s %d\x00", kind, size)
	if _, err := io.CopyN(io.MultiWriter(h, dst), o.out, size); err != nil {
		return 0, fmt.Errorf("%s %s: %w", want, id, o.broken(err))
	}
	if _, err := o.out.Discard(1); err != nil {
		return 0, o.broken(err)
	}
	if hex.EncodeToString(h.Sum(nil)) != id {
		return 0, fmt.Errorf("%s %s is damaged: its content has another name", want, id)
	}
	return size, nil
}

// tooLarge is an object that nobody reads.
type tooLarge struct{ size int64 }

func (e *tooLarge) Error() string { return fmt.Sprintf("it has %d bytes", e.size) }

// skip passes over an object's content.
func (o *Objects) skip(size int64) error {
	if size > maxSkipped { // it takes too long
		o.cancel()
		return nil
	}
	_, err := io.CopyN(io.Discard, o.out, size+1)
	return err
}

// whole is an object's content.
func (o *Objects) whole(id, want string, limit int64) ([]byte, error) {
	var b bytes.Buffer
	_, err := o.copy(id, want, limit, &b)
	return b.Bytes(), err
}

// Blob writes a file's content. Of one that is larger than the limit nothing is
// written, and its size is said with the error.
func (o *Objects) Blob(id string, limit int64, dst io.Writer) (int64, error) {
	return o.copy(id, "blob", limit, dst)
}
