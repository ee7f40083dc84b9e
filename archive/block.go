package archive

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"
	"sync/atomic"

	"conclave/internal/pack"
)

// A block is a run of whole lines of one source. Where it ends depends on the
// lines alone, so that the same lines in another file make the same blocks.
const (
	blockMin = 32 << 10
	blockMax = 192 << 10
	// After blockMin, one line in blockOdds ends a block.
	blockOdds = 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// lineSum is a short digest of a line: it decides where blocks end and is a
// part of the number of a document.
func lineSum(line []byte) uint32 { return crc32.Checksum(line, castagnoli) }

// blockEnds says whether a block of size bytes ends with a line of that sum.
func blockEnds(size int, sum uint32) bool {
	return size >= blockMax || size >= blockMin && sum%blockOdds == 0
}

// chunk is a block on its way into the archive.
type chunk struct {
	pos    int64 // where it begins in its source
	raw    []byte
	size   int // of raw, which goes back to the pool
	packed []byte
	sum    [sha256.Size]byte
	open   bool // it ends where the source ended, not where a block does
	items  []item
	cursor []byte // where a record is read on from
}

var errDamaged = errors.New("a block of the archive does not match its digest: " +
	"conclave archive rebuild reads it again from its file, if that is still there")

// packer compresses blocks. It is safe for concurrent use. It packs less than
// it could: whoever takes up a year of sessions waits for it, and so does every
// search that reads a text. A quick one is for caches, which live for a day or a
// week: it gives blocks numbers in place of digests.
type packer struct {
	quick bool
	count atomic.Uint64
}

// pack packs c into room, or into new memory if that is too small, and returns
// it for the next block.
func (p *packer) pack(c *chunk, room []byte) []byte {
	c.size = len(c.raw)
	if p.quick {
		p.number(c)
	} else {
		c.sum = sha256.Sum256(c.raw)
	}
	c.packed = pack.Squeeze(room, c.raw)
	return c.packed
}

// number gives a block a number.
func (p *packer) number(c *chunk) {
	binary.BigEndian.PutUint64(c.sum[:], p.count.Add(1))
}

func (p *packer) unpack(packed []byte, size int) ([]byte, error) {
	raw, err := pack.Expand(packed, size)
	if err != nil || len(raw) != size {
		return nil, fmt.Errorf("%w (%v)", errDamaged, err)
	}
	return raw, nil
}

// blockCache keeps the blocks that were read last. It is safe for concurrent
// use.
type blockCache struct {
	mu    sync.Mutex
	size  int
	limit int
	held  map[int64][]byte
	order []int64
}

func newBlockCache(limit int) *blockCache {
	return &blockCache{limit: limit, held: map[int64][]byte{}}
}

func (c *blockCache) get(id int64) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held[id]
}

func (c *blockCache) put(id int64, raw []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held[id] != nil {
		return
	}
	c.held[id] = raw
	c.order = append(c.order, id)
	c.size += len(raw)
	for c.size > c.limit && len(c.order) > 1 {
		c.size -= len(c.held[c.order[0]])
		delete(c.held, c.order[0])
		c.order = c.order[1:]
	}
}

func (c *blockCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.held)
	c.order, c.size = nil, 0
}
