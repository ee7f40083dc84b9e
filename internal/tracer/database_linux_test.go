package tracer

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"strings"
	"unsafe"
)

// reader tells snapshots of one place apart, one after the other: by names, kinds
// and contents, and of databases by what stands in them.
type reader struct {
	shelf *shelf
	logs  map[string]*log // by the names of databases
}

// state is what a kill leaves to whoever goes on.
type state [sha256.Size]byte

func (r *reader) state(s snapshot) state {
	var all bytes.Buffer
	add := func(list []piece) {
		for _, p := range list { // one address for one content
			all.Write(binary.NativeEndian.AppendUint64(nil, uint64(uintptr(unsafe.Pointer(p)))))
		}
	}
	for i, f := range s {
		all.WriteString(strings.Join([]string{f.name, f.same, f.to, f.mode.String()}, "\x00"))
		switch main, isLog := strings.CutSuffix(f.name, "-wal"); {
		case f.volatile() || isLog && strings.HasSuffix(main, ".db"):
		case strings.HasSuffix(f.name, ".db"):
			var wal []piece
			for _, beside := range s[i+1 : min(i+3, len(s))] {
				if beside.name == f.name+"-wal" {
					wal = beside.data
				}
			}
			add(r.pages(f.name, f.data, wal))
		default:
			add(f.data)
		}
	}
	return sha256.Sum256(all.Bytes())
}

// pages are those of one of SQLite's databases as whoever opens it next finds them.
// Behind the last commit of the log beside it may stand what was being written at
// the kill. That counts for nothing, by the file format: a frame is of the log if
// it bears its salts and its checksum goes on from the frame before, and it counts
// once one that ends a transaction follows.
func (r *reader) pages(name string, main, wal []piece) []piece {
	l := r.logs[name]
	if l == nil || !l.grew(wal) {
		l = &log{shelf: r.shelf}
		r.logs[name] = l
	}
	l.read(wal)
	if l.size == 0 {
		return main
	}
	out := make([]piece, l.size)
	copy(out, main)
	for n, p := range l.pages {
		if n <= l.size {
			out[n-1] = p
		}
	}
	return out
}

// log is a log beside a database, as far as it was read.
type log struct {
	shelf   *shelf
	data    []byte // up to the last whole frame
	sum     checksum
	size    int           // of the database in pages, after the last commit; 0 for none
	pages   map[int]piece // that were committed
	pending map[int]piece // that were not
}

// The sizes in a log, and the number at its beginning on machines like these. A
// page has the size of a piece.
const (
	walHeader, frameHeader = 32, 24
	littleEndian           = 0x377f0682
)

// grew says whether a log is the one that was read, with nothing but more at its
// end.
func (l *log) grew(wal []piece) bool {
	rest := l.data
	for _, p := range wal {
		n := min(len(rest), len(*p))
		if !bytes.Equal(rest[:n], (*p)[:n]) {
			return false
		}
		rest = rest[n:]
	}
	return len(rest) == 0
}

func (l *log) read(wal []piece) {
	var all []byte
	skip := len(l.data) / pieceSize
	for _, p := range wal[min(skip, len(wal)):] {
		all = append(all, *p...)
	}
	all = append(l.data[:min(skip*pieceSize, len(l.data))], all...)
	at := len(l.data)
	if at == 0 {
		if len(all) < walHeader || binary.BigEndian.Uint32(all) != littleEndian ||
			binary.BigEndian.Uint32(all[8:]) != pieceSize {
			return
		}
		if l.sum.add(all[:24]); !l.sum.is(all[24:]) {
			return
		}
		at, l.pages, l.pending = walHeader, map[int]piece{}, map[int]piece{}
	}
	for ; len(all)-at >= frameHeader+pieceSize; at += frameHeader + pieceSize {
		head, page := all[at:at+frameHeader], all[at+frameHeader:at+frameHeader+pieceSize]
		sum := l.sum
		sum.add(head[:8])
		sum.add(page)
		if !bytes.Equal(head[8:16], all[16:24]) || !sum.is(head[16:]) {
			break
		}
		l.sum = sum
		l.pending[int(binary.BigEndian.Uint32(head))] = l.shelf.keep(page)[0]
		if after := int(binary.BigEndian.Uint32(head[4:])); after > 0 {
			l.size = after
			maps.Copy(l.pages, l.pending)
			clear(l.pending)
		}
	}
	l.data = all[:at]
}

// checksum is that of a log, which goes on from frame to frame.
type checksum struct{ a, b uint32 }

func (c *checksum) add(data []byte) {
	for ; len(data) >= 8; data = data[8:] {
		c.a += binary.LittleEndian.Uint32(data) + c.b
		c.b += binary.LittleEndian.Uint32(data[4:]) + c.a
	}
}

func (c *checksum) is(stored []byte) bool {
	return binary.BigEndian.Uint32(stored) == c.a && binary.BigEndian.Uint32(stored[4:]) == c.b
}
