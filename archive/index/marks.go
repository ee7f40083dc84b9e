package index

import (
	"hash/crc32"
	"slices"
	"strconv"
	"time"

	"conclave/transcript"
)

// OfType, OfRole and OfProject are words of the index that say of what type an
// entry is and whose. Words of texts have no underscore.

// OfType is the word of all entries of a type. It has the type's number, which
// is stored: new types go to the end.
func OfType(t transcript.Type) string {
	at := slices.Index(types, t)
	if at < 0 {
		at = slices.Index(types, transcript.Unknown)
	}
	return "_t" + strconv.Itoa(at+1)
}

var types = transcript.Types()

// OfRole is the word of all entries of a role.
func OfRole(name string) string { return mark("_r", name) }

// OfProject is the word of all entries of a project.
func OfProject(dir string) string { return mark("_p", dir) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func mark(prefix, value string) string {
	return prefix + strconv.FormatUint(uint64(crc32.Checksum([]byte(value), castagnoli)), 36)
}

// The number of a document is its time in milliseconds and, below that, 22
// bits of its line: later documents have higher numbers, whenever they were
// indexed, and the same line has the same number. Two lines may share one;
// the index then answers for both, and the texts decide.
const docBits = 22

var docEpoch = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

// Number is that of a document: the part-th entry of a line with that sum, at a
// time in microseconds.
func Number(at int64, sum uint32, part int) int64 {
	sum += uint32(part) * 0x9e3779b1
	return First(at) | int64(sum>>(32-docBits)) | 1
}

// First is the lowest number that a document of that time has.
func First(at int64) int64 { return max((at-docEpoch)/1000, 0) << docBits }

// Days is how much later the newer of two documents is.
func Days(newer, older int64) float64 {
	return float64(newer>>docBits-older>>docBits) / (24 * 3600 * 1000)
}
