package record

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// magic opens every record; its last byte is the version of the format.
const magic = "CONCREC\x01"

const (
	headerSize = 12
	digestSize = sha256.Size
	saltSize   = 16
	prefixSize = headerSize + digestSize // what is left of a withheld frame

	// maxPayload is the longest payload of a frame.
	maxPayload = 1 << 30

	flagWithheld = 1
)

// castagnoli is immutable once made.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Kind says what a frame's payload is.
type Kind uint8

// The kinds of version 1. Mark never leaves the package: a Reader checks marks
// and goes on.
const (
	KindHeader Kind = 1 // JSON: see Header
	KindLog    Kind = 2 // one log record, a line of JSON without its newline
	KindBlob   Kind = 3 // a channel name and bytes
	kindMark   Kind = 4 // count, offset and head that were durable
	KindSeal   Kind = 5 // JSON: see Seal
)

func (k Kind) String() string {
	switch k {
	case KindHeader:
		return "header"
	case KindLog:
		return "log"
	case KindBlob:
		return "blob"
	case kindMark:
		return "mark"
	case KindSeal:
		return "seal"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Frame is one frame as it was read. Payload is valid until the next call of
// the reader that returned it, and nil when it is withheld.
type Frame struct {
	Kind     Kind
	Withheld bool
	Size     int   // length of the payload, also when it is withheld
	offset   int64 // where the frame begins in its file
	Number   uint64
	digest   Hash
	salt     [saltSize]byte
	Payload  []byte
}

// Blob splits the payload of a blob frame. The data is valid as long as the
// payload is. A withheld blob has neither.
func (f Frame) Blob() (channel string, data []byte) {
	if f.Kind != KindBlob || len(f.Payload) == 0 {
		return "", nil
	}
	n := 1 + int(f.Payload[0])
	return string(f.Payload[1:n]), f.Payload[n:]
}

// stored is the number of bytes that the frame takes in a file.
func (f Frame) stored() int {
	if f.Withheld {
		return prefixSize
	}
	return prefixSize + saltSize + f.Size
}

// layFrame adds a frame to dst that has no digest yet: the payload is channel,
// preceded by its length when there is one, and data. Salt and payload lie side
// by side, so that the digest needs no further copy.
func layFrame(dst []byte, k Kind, salt []byte, channel string, data []byte) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, prefixSize)...)
	dst = append(dst, salt[:saltSize]...)
	if channel != "" {
		dst = append(dst, byte(len(channel)))
		dst = append(dst, channel...)
	}
	dst = append(dst, data...)
	putPrefix(dst[start:], k, 0, len(dst)-start-prefixSize-saltSize, Hash{})
	return dst
}

// digestFrame gives the frame with which b begins its digest, and returns what
// the chain takes of it and how long it is.
func digestFrame(b []byte) (k Kind, size int, digest Hash, stored int) {
	size = int(binary.LittleEndian.Uint32(b))
	stored = prefixSize + saltSize + size
	digest = sha256.Sum256(b[prefixSize:stored])
	copy(b[headerSize:], digest[:])
	return Kind(b[4]), size, digest, stored
}

// appendFrame is layFrame and digestFrame.
func appendFrame(dst []byte, k Kind, salt []byte, channel string, data []byte) ([]byte, Hash) {
	start := len(dst)
	dst = layFrame(dst, k, salt, channel, data)
	_, _, digest, _ := digestFrame(dst[start:])
	return dst, digest
}

// appendRead adds f as it was read, with these flags: the inverse of parseFlags
// and what follows. A lean frame has no payload.
func appendRead(dst []byte, f Frame, flags byte) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, prefixSize)...)
	if flags&flagWithheld == 0 {
		dst = append(dst, f.salt[:]...)
		if flags&flagLean == 0 {
			dst = append(dst, f.Payload...)
		}
	}
	putPrefix(dst[start:], f.Kind, flags, f.Size, f.digest)
	return dst
}

func putPrefix(b []byte, k Kind, flags byte, size int, digest Hash) {
	binary.LittleEndian.PutUint32(b, uint32(size))
	b[4], b[5], b[6], b[7] = byte(k), flags, 0, 0
	binary.LittleEndian.PutUint32(b[8:], crc32.Checksum(b[:8], castagnoli))
	copy(b[headerSize:], digest[:])
}

// parseHeader reads the first 12 bytes of a frame. The reason is empty when
// they are those of a frame that version 1 may hold.
func parseHeader(b []byte) (f Frame, reason string) {
	f, _, reason = parseFlags(b, flagWithheld)
	return f, reason
}

// parseFlags is parseHeader for who knows these flags.
func parseFlags(b []byte, known byte) (f Frame, flags byte, reason string) {
	if crc32.Checksum(b[:8], castagnoli) != binary.LittleEndian.Uint32(b[8:]) {
		return f, 0, "frame header does not match its checksum"
	}
	size := binary.LittleEndian.Uint32(b)
	flags = b[5]
	f.Kind, f.Withheld, f.Size = Kind(b[4]), flags&flagWithheld != 0, int(size)
	switch {
	case f.Kind < KindHeader || f.Kind > KindSeal:
		return f, 0, "unknown frame " + f.Kind.String() + ": written by a newer program"
	case flags&^known != 0 || b[6] != 0 || b[7] != 0:
		return f, 0, "unknown flags: written by a newer program"
	case size > maxPayload:
		return f, 0, "payload is longer than a frame may hold"
	case f.Withheld && f.Kind != KindLog && f.Kind != KindBlob:
		return f, 0, f.Kind.String() + " frame is withheld"
	}
	return f, flags, ""
}

// chain is the running state of a record: how many frames, and the head.
type chain struct {
	count uint64
	head  Hash
}

func newChain() chain { return chain{head: sha256.Sum256([]byte(magic))} }

func (c *chain) add(k Kind, size int, digest Hash) {
	var b [digestSize + 4 + 1 + digestSize]byte
	copy(b[:], c.head[:])
	binary.LittleEndian.PutUint32(b[digestSize:], uint32(size))
	b[digestSize+4] = byte(k)
	copy(b[digestSize+5:], digest[:])
	c.head = sha256.Sum256(b[:])
	c.count++
}

// take gives the frames in b their digests and adds them.
func (c *chain) take(b []byte) {
	for len(b) > 0 {
		k, size, digest, stored := digestFrame(b)
		c.add(k, size, digest)
		b = b[stored:]
	}
}
