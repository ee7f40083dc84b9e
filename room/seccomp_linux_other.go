//go:build linux && !amd64 && !arm64

package room

// No filter exists for this processor, so neither do locked rooms.
const (
	auditArch = 0
	x32Bit    = 0
)

var deniedHere []uint32
