//go:build !linux

package record

import "os"

func dataSync(f *os.File) error { return f.Sync() }
