// Package clients finds the agent programs that the tests drive, at the
// versions that script/clients.sh installs. It starts nothing and
// installs nothing; a program that is not there is an error that says
// how to get it, never a reason to skip a test.
package clients

import (
	"fmt"
	"os"
	"path/filepath"
)

// The pinned versions, the same as in script/clients.sh.
const (
	ClaudeNew = "2.1.325"
	ClaudeOld = "2.1.197"
	CodexOnly = "0.166.0"
)

// Dir is where the programs lie.
func Dir() (string, error) {
	if dir := os.Getenv("CONCLAVE_CLIENTS"); dir != "" {
		return dir, nil
	}
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the agent programs: %w; set CONCLAVE_CLIENTS", err)
		}
		cache = filepath.Join(home, ".cache")
	}
	return filepath.Join(cache, "conclave", "clients"), nil
}

// Claude returns the path of Claude Code at the version.
func Claude(version string) (string, error) { return find("claude", version) }

// Codex returns the path of Codex.
func Codex() (string, error) { return find("codex", CodexOnly) }

func find(name, version string) (string, error) {
	dir, err := Dir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name+"-"+version, "node_modules", ".bin", name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s %s is not installed (%s): run `make clients`", name, version, path)
	}
	return path, nil
}
