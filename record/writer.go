package record

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"conclave/internal/atomicfile"
	"conclave/internal/lockfile"
)

// The policy, as the package comment states it.
const (
	bufferLimit = 256 << 10              // bytes held in memory
	bufferAge   = 100 * time.Millisecond // before they are written
	bufferMost  = 4 << 20                // bytes held while others are on their way

	// The largest buffers that are used again, while much is written and
	// afterwards: one large payload, one large import must not stay for good.
	mostKept  = bufferMost + 2*calmKept
	calmKept  = 4 * bufferLimit
	syncBytes = 32 << 20        // bytes written or held
	syncAge   = 2 * time.Second // before they are synced
)

var (
	// errClosed is returned by a Writer after Close.
	errClosed = errors.New("record is closed")
	// ErrSealed is returned by a Writer after Seal, and by Resume.
	ErrSealed = errors.New("record is sealed")
)

// Writer appends to a record. Its methods are safe for concurrent use; the
// order of the record is the order in which Append calls take its lock.
//
// After an error of writing or syncing, every call returns that error: what
// had been appended and not committed may or may not be in the file.
type Writer struct {
	path   string
	header Header

	// io is held while frames are digested, written and synced, mu while they are
	// added. io is always taken first, so that appends go on meanwhile.
	io      sync.Mutex
	file    file
	lock    *lockfile.Lock
	chain   chain // over what has its digest
	offset  int64 // bytes written
	spare   []byte
	note    [prefixSize + saltSize + markSize]byte // the last mark
	unnamed bool                                   // the file's name is not durable yet
	closed  bool
	closing error // what the first Close returned

	mu      sync.Mutex
	count   uint64 // frames appended
	durable uint64
	buf     []byte    // frames that are not written yet
	linked  int       // how many bytes of buf the chain has
	since   time.Time // when buf got its first frame
	busy    bool      // a goroutine writes what is appended
	pending int       // bytes appended since the last sync began
	oldest  time.Time // when pending left zero
	salts   []byte    // random bytes not used yet
	pool    [256 * saltSize]byte
	stop    error // why nothing more is appended
	broken  error // why nothing more is written; then stop is the same
}

func newWriter(path string, h Header, f file, c Cursor) *Writer {
	return &Writer{
		path: path, header: h, file: f, offset: c.Offset,
		chain: chain{c.Count, c.Head}, count: c.Count,
	} // its buffers grow with what is written: many a record is short
}

// AppendLog adds one log record: a line of JSON without its newline. It
// returns when the line has its place; Commit makes it durable.
func (w *Writer) AppendLog(line []byte) error {
	if err := checkLog(line); err != nil {
		return fmt.Errorf("append to record %s: %w", w.path, err)
	}
	return w.append(KindLog, "", line)
}

// AppendBlob adds bytes of a named channel: evidence that is no log record. It
// returns as AppendLog does. The name has 1 to 255 bytes.
func (w *Writer) AppendBlob(channel string, data []byte) error {
	if err := checkBlob(channel, data); err != nil {
		return fmt.Errorf("append to record %s: %w", w.path, err)
	}
	return w.append(KindBlob, channel, data)
}

func (w *Writer) append(k Kind, channel string, data []byte) error {
	w.mu.Lock()
	if w.stop != nil {
		defer w.mu.Unlock()
		return w.stop
	}
	now := time.Now()
	w.add(k, channel, data, now)
	target := w.count
	due, full := w.outstanding(now)
	much := len(w.buf) >= bufferLimit
	beside, begin := w.busy, much && !w.busy
	wait := beside && len(w.buf) < bufferMost // for whoever writes to come to it
	w.busy = beside || begin
	w.mu.Unlock()
	switch {
	case begin:
		go w.work()
	case wait:
	case due && !beside:
		return w.commit(target)
	case full || due:
		return w.Flush()
	}
	return nil
}

// outstanding says whether what was appended is due to be synced, or at least to
// be written. mu is held.
func (w *Writer) outstanding(now time.Time) (due, full bool) {
	return w.pending >= syncBytes || w.pending > 0 && now.Sub(w.oldest) >= syncAge,
		len(w.buf) >= bufferLimit || len(w.buf) > 0 && now.Sub(w.since) >= bufferAge
}

// work writes and syncs as long as that is due. What goes wrong is told by every
// later call.
func (w *Writer) work() {
	for w.workOnce() {
	}
}

func (w *Writer) workOnce() (more bool) {
	w.io.Lock()
	defer w.io.Unlock()
	w.mu.Lock()
	due, full := w.outstanding(time.Now())
	target := w.count
	w.busy = (due || full) && w.broken == nil && !w.closed
	more = w.busy
	w.mu.Unlock()
	if due && more {
		_ = w.commitHeld(target)
	} else if more {
		_, _ = w.write(false)
	}
	return more
}

// add puts a chained frame into the buffer; its digest comes when it is written.
// mu is held.
func (w *Writer) add(k Kind, channel string, data []byte, now time.Time) {
	if len(w.buf) == 0 {
		w.since = now
	}
	if w.pending == 0 {
		w.oldest = now
	}
	before := len(w.buf)
	w.buf = layFrame(w.buf, k, w.salt(), channel, data)
	w.count++
	w.pending += len(w.buf) - before
}

// link gives everything appended its digest. io and mu are held.
func (w *Writer) link() {
	w.chain.take(w.buf[w.linked:])
	w.linked = len(w.buf)
}

// salt takes from a pool: asking the system for each frame costs more than
// hashing a short one. mu is held.
func (w *Writer) salt() []byte {
	if len(w.salts) == 0 {
		rand.Read(w.pool[:]) // ends the program rather than return an error
		w.salts = w.pool[:]
	}
	s := w.salts[:saltSize]
	w.salts = w.salts[saltSize:]
	return s
}

// Flush hands what was appended to the operating system, where readers see
// it. It survives the death of this process, not that of the machine.
func (w *Writer) Flush() error {
	w.io.Lock()
	defer w.io.Unlock()
	_, err := w.write(false)
	return err
}

// Commit returns nil when everything appended before the call is durable.
func (w *Writer) Commit() error {
	w.mu.Lock()
	target := w.count
	w.mu.Unlock()
	return w.commit(target)
}

// commit makes the first target frames durable. Whoever waits for io while
// another syncs finds its frames durable then, or takes along all that was
// appended meanwhile: one sync for many.
func (w *Writer) commit(target uint64) error {
	w.io.Lock()
	defer w.io.Unlock()
	return w.commitHeld(target)
}

func (w *Writer) commitHeld(target uint64) error {
	if w.durableFrames() >= target {
		return nil
	}
	c, err := w.write(true)
	if err != nil {
		return err
	}
	if err := w.sync(); err != nil {
		return err
	}
	if err := w.mark(c); err != nil {
		return err
	}
	w.setDurable(c)
	return nil
}

// write empties the buffer into the file and returns the chain up to there.
// When a sync follows, what is appended from now on is pending anew. io is
// held.
func (w *Writer) write(syncFollows bool) (chain, error) {
	w.mu.Lock()
	if w.broken != nil {
		defer w.mu.Unlock()
		return chain{}, w.broken
	}
	batch, linked, kept := w.buf, w.linked, calmKept
	if w.busy {
		kept = mostKept
	}
	w.buf, w.linked = w.spare[:0], 0
	if syncFollows {
		w.pending = 0
	}
	w.mu.Unlock()

	w.chain.take(batch[linked:])
	c := w.chain
	err := w.put(batch)
	if cap(batch) > kept {
		batch = nil
	}
	w.spare = batch
	return c, err
}

// put writes b. io is held.
func (w *Writer) put(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	n, err := w.file.Write(b)
	w.offset += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return w.fail("write", err)
	}
	return nil
}

func (w *Writer) sync() error {
	if err := w.file.Sync(); err != nil {
		// The kernel may have dropped the pages that it could not write;
		// a second sync would succeed and mean nothing.
		return w.fail("sync", err)
	}
	if !w.unnamed {
		return nil
	}
	if err := atomicfile.SyncDir(filepath.Dir(w.path)); err != nil {
		return w.fail("sync directory of", err)
	}
	w.unnamed = false
	return nil
}

// mark states that c was durable. Marks are outside the chain, as frames
// appended during the sync have already been chained. io is held.
func (w *Writer) mark(c chain) error {
	w.mu.Lock()
	salt := w.salt()
	payload := markPayload(c, w.offset)
	b, _ := appendFrame(w.note[:0], kindMark, salt, "", payload[:])
	w.mu.Unlock()
	return w.put(b)
}

func (w *Writer) setDurable(c chain) {
	w.mu.Lock()
	w.durable = c.count
	w.mu.Unlock()
}

// fail poisons the writer.
func (w *Writer) fail(verb string, cause error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken == nil {
		w.broken = fmt.Errorf("%s record %s: %w; it takes nothing more until it is resumed", verb, w.path, cause)
		w.stop = w.broken
	}
	return w.broken
}

// Seal ends the run: it appends the seal, makes everything durable and
// returns what receipts keep. Afterwards only Close is of use.
func (w *Writer) Seal(reason string) (Seal, error) {
	w.io.Lock()
	defer w.io.Unlock()
	seal, err := w.addSeal(reason)
	if err != nil {
		return Seal{}, err
	}
	c, err := w.write(true)
	if err != nil {
		return Seal{}, err
	}
	if err := w.sync(); err != nil {
		return Seal{}, err
	}
	w.setDurable(c)
	return seal, nil
}

func (w *Writer) addSeal(reason string) (Seal, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop != nil {
		return Seal{}, w.stop
	}
	w.link()
	now := time.Now().UTC()
	p, err := json.Marshal(storedSeal{Count: w.chain.count, Head: w.chain.head, Reason: reason, Sealed: now})
	if err == nil {
		err = checkSize(len(p))
	}
	if err != nil {
		return Seal{}, fmt.Errorf("seal record %s: %w", w.path, err)
	}
	w.add(KindSeal, "", p, now)
	w.link()
	w.stop = fmt.Errorf("append to record %s: %w", w.path, ErrSealed)
	return Seal{Frames: w.chain.count, Head: w.chain.head, Reason: reason, Sealed: now}, nil
}

// Close makes durable what was appended, closes the file and lets the next
// writer in. It does not seal: the run can be resumed. Further calls return
// what the first returned.
func (w *Writer) Close() error {
	w.io.Lock()
	defer w.io.Unlock()
	if w.closed {
		return w.closing
	}
	w.mu.Lock()
	if w.broken == nil {
		w.stop = fmt.Errorf("use record %s: %w", w.path, errClosed)
	}
	target, err := w.count, w.broken
	w.mu.Unlock()
	if err == nil {
		err = w.commitHeld(target)
	}
	w.closed = true
	w.closing = errors.Join(err, w.file.Close(), w.lock.Unlock())
	return w.closing
}

// Path is where the record is.
func (w *Writer) Path() string { return w.path }

// Head is the head of the chain over everything appended so far, and the
// number of frames it covers.
func (w *Writer) Head() (Hash, uint64) {
	w.io.Lock()
	defer w.io.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.link()
	return w.chain.head, w.chain.count
}

// durableFrames is the number of frames that are known to be durable.
func (w *Writer) durableFrames() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.durable
}
