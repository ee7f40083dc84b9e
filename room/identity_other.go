//go:build !unix

package room

import "io/fs"

const openFlags = 0

func identity(fs.FileInfo) (inode, uint64, bool) { return inode{}, 0, false }

func ownerOf(fs.FileInfo) (int, bool) { return 0, false }
