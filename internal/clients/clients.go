// Package clients finds the programs that the tests drive, the agents, a peer
// that counts their tokens, a reader of what we export and a client that inspects
// MCP servers, at the versions that script/clients.sh installs. It starts nothing
// and installs nothing; a program that is not there is an error that says how to
// get it, never a reason to skip a test.
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
	ccusage   = "20.0.24"
	gemini    = "0.61.0"
	qwen      = "0.24.4"
	copilot   = "1.0.102"
	opencode  = "1.18.33"
	node      = "26.10.0"
	hyparquet = "1.31.5"
	inspector = "2.12.0"
	axe       = "4.14.0"
	chromium  = "153.0.0"
)

// dir is where the programs lie.
func dir() (string, error) {
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

// Gemini returns the path of Gemini CLI.
func Gemini() (string, error) { return find("gemini", gemini) }

// Qwen returns the path of Qwen Code.
func Qwen() (string, error) { return find("qwen", qwen) }

// Copilot returns the path of GitHub Copilot CLI.
func Copilot() (string, error) { return find("copilot", copilot) }

// OpenCode returns the path of opencode.
func OpenCode() (string, error) { return find("opencode", opencode) }

// Node returns the path of the Node on which every program for it runs; what the
// system has may be too old for some.
func Node() (string, error) { return find("node", node) }

// Counter returns the path of ccusage, which reads the files that Claude Code
// keeps and counts their tokens: the native program, without its launcher.
func Counter() (string, error) {
	launcher, err := find("ccusage", ccusage)
	if err != nil {
		return "", err
	}
	pattern := filepath.Join(filepath.Dir(launcher), "..", "@ccusage", "*", "bin", "ccusage")
	native, err := filepath.Glob(pattern)
	if err == nil && len(native) != 1 {
		err = fmt.Errorf("ccusage has %d native programs (%s): remove the directory and run `make clients`", len(native), pattern)
	}
	if err != nil {
		return "", err
	}
	return native[0], nil
}

// ParquetReader returns the directory of hyparquet, a library for Node that reads
// Parquet files.
func ParquetReader() (string, error) { return findAt("hyparquet", hyparquet, "hyparquet") }

// Inspector returns the path of the MCP inspector, a script for Node.
func Inspector() (string, error) {
	at := filepath.Join("@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	return findAt("inspector", inspector, at)
}

// Axe returns the path of axe-core, a script for browsers that looks for what people
// with a screen reader, a keyboard or weak eyes cannot use.
func Axe() (string, error) { return findAt("axe", axe, filepath.Join("axe-core", "axe.min.js")) }

// Chromium returns the path of the browser that is installed where the system has
// none: script/clients.sh chromium.
func Chromium() (string, error) {
	return findAt("chromium", chromium, filepath.Join("@sparticuz", "chromium", "bin", "chromium"))
}

func find(name, version string) (string, error) {
	return findAt(name, version, filepath.Join(".bin", name))
}

func findAt(name, version, at string) (string, error) {
	dir, err := dir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name+"-"+version, "node_modules", at)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s %s is not installed (%s): run `make clients`", name, version, path)
	}
	return path, nil
}
