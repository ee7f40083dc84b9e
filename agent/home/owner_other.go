//go:build !unix

package home

import "os"

// giveTo does nothing: without users of its own a room shares ours.
func giveTo(*os.Root, string, string) error { return nil }

// systemEnv is what a program of this system cannot start without.
func systemEnv() []string {
	var out []string
	for _, name := range []string{"SystemRoot", "SystemDrive", "PATHEXT"} {
		if v := os.Getenv(name); v != "" {
			out = append(out, name+"="+v)
		}
	}
	return out
}
