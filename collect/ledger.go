package collect

import "hash/maphash"

// ledger holds what is on the record of one file's present content: a hash per
// line, in order. Eight bytes a line, and 64-bit hashes of a seed of this
// process: it is built anew from the record at each start.
type ledger struct {
	seed   maphash.Seed
	chunks [][]uint64
	n      int
}

// ledgerChunk is how many hashes stand together, so that growing copies none.
const ledgerChunk = 4096

func newLedger() *ledger { return &ledger{seed: maphash.MakeSeed()} }

func (l *ledger) hash(raw []byte) uint64 { return maphash.Bytes(l.seed, raw) }

func (l *ledger) add(h uint64) {
	if l.n%ledgerChunk == 0 {
		first := 16 // most files are short
		if l.n > 0 {
			first = ledgerChunk
		}
		l.chunks = append(l.chunks, make([]uint64, 0, first))
	}
	last := len(l.chunks) - 1
	l.chunks[last] = append(l.chunks[last], h)
	l.n++
}

func (l *ledger) at(i int) uint64 { return l.chunks[i/ledgerChunk][i%ledgerChunk] }

func (l *ledger) truncate(n int) {
	if n >= l.n {
		return
	}
	l.chunks = l.chunks[:(n+ledgerChunk-1)/ledgerChunk]
	if len(l.chunks) > 0 {
		last := len(l.chunks) - 1
		l.chunks[last] = l.chunks[last][:n-last*ledgerChunk]
	}
	l.n = n
}
