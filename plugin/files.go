package plugin

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Name is what the plugin, its marketplace and its server are called.
const Name = "conclave"

// ID is how clients call the plugin of the marketplace.
const ID = Name + "@" + Name

//go:embed all:files
var words embed.FS

const about = "A judge that was kept from seeing, six advisors, and every session on the record"

// How long a client waits for a hook, in seconds: one that notes a session, and
// one that has the work judged.
const (
	quick  = 3 // Codex gives no more to the end of a session
	judged = 1800
)

type object = map[string]any

// Files are those of the marketplace, by their paths with slashes, for a program
// of this version at this absolute path.
func Files(version, program string) (map[string][]byte, error) {
	if !filepath.IsAbs(program) || strings.ContainsAny(program, "\x00\n\r") {
		return nil, fmt.Errorf("a client cannot start %q: it takes an absolute path without a line break", program)
	}
	manifest := object{"name": Name, "version": plain(version), "description": about,
		"author": object{"name": "Conclave"}, "license": "Apache-2.0"}
	codex := maps.Clone(manifest)
	codex["skills"], codex["mcpServers"] = "./skills/", "./.mcp.json"
	codex["interface"] = object{"displayName": "Conclave"}
	generated := map[string]object{
		".claude-plugin/marketplace.json": {"name": Name, "owner": object{"name": "Conclave"},
			"description": about, "plugins": []object{{"name": Name, "source": "./" + Name, "description": about}}},
		".agents/plugins/marketplace.json": {"name": Name, "interface": object{"displayName": "Conclave"},
			"plugins": []object{{"name": Name, "source": object{"source": "local", "path": "./" + Name},
				"policy":   object{"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
				"category": "Developer Tools"}}},
		Name + "/.claude-plugin/plugin.json": manifest,
		Name + "/.codex-plugin/plugin.json":  codex,
		Name + "/.mcp.json":                  {"mcpServers": object{Name: server(program)}},
		Name + "/hooks/hooks.json":           {"description": "Conclave records sessions", "hooks": hooks(program)},
	}
	files := map[string][]byte{}
	for name, value := range generated {
		text, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			return nil, err
		}
		files[name] = append(text, '\n')
	}
	return files, addWords(files)
}

func addWords(files map[string][]byte) error {
	err := fs.WalkDir(words, "files", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := words.ReadFile(name)
		files[path.Join(Name, strings.TrimPrefix(name, "files/"))] = text
		return err
	})
	if err == nil && len(files) < 20 {
		err = errors.New("the plugin's words are not in the program")
	}
	return err
}

// server is how both clients start the tools. Each of them has a member of its
// own for how long a call may take; a judge takes some minutes.
func server(program string) object {
	return object{"command": program, "args": []string{"mcp"}, "timeout": judged * 1000, "tool_timeout_sec": judged}
}

// Events are those of which the hooks hear, with what is called then. Both clients
// have all of them, by these names.
var Events = map[string][]string{
	"SessionStart": {"session"},
	"SubagentStop": {"session"},
	"Stop":         {"session", "done"},
	"SessionEnd":   {"session"},
}

func hooks(program string) object {
	all := object{}
	for _, event := range slices.Sorted(maps.Keys(Events)) {
		var list []object
		for _, what := range Events[event] {
			wait := quick
			if what == "done" {
				wait = judged
			}
			list = append(list, object{"type": "command", "command": quote(program) + " hook " + what, "timeout": wait})
		}
		all[event] = []object{{"hooks": list}}
	}
	return all
}

// quote writes a path for the shell that a client starts a hook with.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

var numbered = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(?:[-+][0-9A-Za-z.+-]+)?$`)

// plain is a version as clients take one: numbers, with what else is said of it.
func plain(version string) string {
	v := strings.TrimPrefix(version, "v")
	if numbered.MatchString(v) {
		return v
	}
	rest := strings.Trim(regexp.MustCompile(`[^0-9A-Za-z.]+`).ReplaceAllString(v, "-"), "-.")
	if rest == "" {
		return "0.0.0"
	}
	return "0.0.0-" + rest
}
