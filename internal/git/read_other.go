//go:build !unix

package git

import "io/fs"

const nonblock = 0

// linked cannot be told here.
func linked(fs.FileInfo) bool { return false }

// owner cannot be told here: a repository above the workspace is taken for the
// workspace's own.
func owner(fs.FileInfo) uint32 { return 0 }
