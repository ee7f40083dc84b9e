package dice

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
)

// Seed is the secret S of an epoch.
type Seed [32]byte

// commitment is C = SHA-256(S) in hex, shown before the first roll.
func (s Seed) commitment() string {
	sum := sha256.Sum256(s[:])
	return hex.EncodeToString(sum[:])
}

// source gives the face of a die with the given number of sides, from 1.
type source interface {
	Face(sides int) (int, error)
}

// stream is the source of all dice of roll number n: blocks
// HMAC-SHA256(S, "table-dice-v1|" hex(SHA-256(client)) "|" n "|" b) for
// b = 0, 1, …, read as big-endian uint32s.
type stream struct {
	seed   Seed
	prefix string
	block  uint64
	buf    []byte
}

// newStream returns the stream of roll n under the seed and the table's text.
func newStream(seed Seed, client string, n uint64) *stream {
	sum := sha256.Sum256([]byte(client))
	return &stream{
		seed:   seed,
		prefix: "table-dice-v1|" + hex.EncodeToString(sum[:]) + "|" + strconv.FormatUint(n, 10) + "|",
	}
}

func (s *stream) next() uint32 {
	if len(s.buf) < 4 {
		m := hmac.New(sha256.New, s.seed[:])
		m.Write([]byte(s.prefix + strconv.FormatUint(s.block, 10)))
		s.buf = m.Sum(nil)
		s.block++
	}
	x := binary.BigEndian.Uint32(s.buf)
	s.buf = s.buf[4:]
	return x
}

// Face draws a face without bias: numbers at or above the largest multiple of
// sides are thrown away.
func (s *stream) Face(sides int) (int, error) {
	k := uint64(sides)
	limit := (1 << 32) / k * k
	for {
		if x := uint64(s.next()); x < limit {
			return int(x%k) + 1, nil
		}
	}
}
