//go:build !unix

package bundle

// syncDir does nothing where a directory cannot be synced.
func syncDir(string) error { return nil }
