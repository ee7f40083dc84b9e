package record

import "bytes"

// IsRecord says whether a file that begins with start is a record, of this
// version or another one.
func IsRecord(start []byte) bool {
	return len(start) >= len(magic) && bytes.Equal(start[:len(magic)-1], []byte(magic[:len(magic)-1]))
}
