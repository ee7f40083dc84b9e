package tail

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// identity is the volume's serial number and the file's index on it.
func identity(f *os.File, _ fs.FileInfo) string {
	var d syscall.ByHandleFileInformation
	if syscall.GetFileInformationByHandle(syscall.Handle(f.Fd()), &d) != nil {
		return ""
	}
	return fmt.Sprintf("%x:%x", d.VolumeSerialNumber, uint64(d.FileIndexHigh)<<32|uint64(d.FileIndexLow))
}
