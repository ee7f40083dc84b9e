//go:build !unix

package bundle

// nonblock has no meaning where files are not pipes.
const nonblock = 0

// syncDir does nothing where a directory cannot be synced.
func syncDir(string) error { return nil }
