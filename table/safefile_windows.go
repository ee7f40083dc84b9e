//go:build windows

package table

import (
	"io/fs"
	"os"
	"syscall"
)

const openFlags = 0

func links(f *os.File, _ fs.FileInfo) (uint64, error) {
	var info syscall.ByHandleFileInformation
	err := syscall.GetFileInformationByHandle(syscall.Handle(f.Fd()), &info)
	return uint64(info.NumberOfLinks), err
}
