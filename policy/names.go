package policy

import (
	"slices"
	"strings"
	"sync"
)

// guardedNames says what a file or directory of that name is wherever it
// stands, and everything below it.
var guardedNames = map[Kind][]string{
	EnginePrivate: {".conclave"},
	GitDirectory:  {".git", ".hg", ".svn", ".jj"},
	QuestOther:    {".campaign"},
	AgentSettings: {
		"conclave.yaml", "conclave.yml", ".claude", ".claude.json", ".mcp.json", ".codex", ".agents", ".gemini", ".cursor", ".windsurf",
		".qwen", ".opencode", "opencode.json", "opencode.jsonc", ".aider", ".copilot",
	},
	PartyContext: {
		"claude.md", "claude.local.md", "agents.md", "agents.override.md", "gemini.md", "qwen.md", ".cursorrules", ".windsurfrules",
		"copilot-instructions.md",
	},
	Credentials: credentialNames,
}

// tables is the directory of a project's tables. Only the project's own is
// one: src/campaigns is as likely to be somebody's marketing software.
const tables = "campaigns"

var guardedIndex = sync.OnceValue(func() map[string]Kind {
	m := map[string]Kind{}
	for kind, names := range guardedNames {
		for _, name := range names {
			m[name] = kind
		}
	}
	return m
})

// shortIndex has the stems of the short names that Windows makes of guarded
// ones: GIT~1, CLAUDE~1.
var shortIndex = sync.OnceValue(func() map[string]Kind {
	m := map[string]Kind{}
	for kind, names := range guardedNames {
		for _, name := range names {
			if stem := strings.TrimLeft(name, "."); stem != name || len(name) > 8 {
				m[stem[:min(len(stem), 6)]] = kind
			}
		}
	}
	m[tables[:6]] = QuestOther // of .campaign, or of the tables
	return m
})

// guarded says what a segment of this plain name makes of everything below
// it; Workspace if it makes nothing of it.
func guarded(name string, first bool) Kind {
	if kind, ok := guardedIndex()[name]; ok {
		return kind
	}
	if of := withoutCopy(name); of != name && (guardedIndex()[of] == Credentials || isEnvironment(of)) && !isExample(name) {
		return Credentials
	}
	switch {
	case first && name == tables:
		return TableOther
	case name[:min(len(name), 6)] == ".aider":
		return AgentSettings
	case isEnvironment(name):
		return Credentials
	}
	if stem, rest, ok := strings.Cut(name, "~"); ok && rest != "" && '0' <= rest[0] && rest[0] <= '9' {
		if kind, ok := shortIndex()[stem]; ok {
			return kind
		}
	}
	return Workspace
}

// Absent lists, in their usual spelling, names at the root of a project that a
// view leaves out before anything has them: they come and go while a seat is
// open, the engine's own among them, and must not be a reason to end it.
func Absent() []string {
	out := []string{tables, ".env", ".env.local", ".envrc"}
	for _, names := range guardedNames {
		for _, name := range names {
			out = append(out, name)
			if stem, rest, _ := strings.Cut(name, "."); strings.HasSuffix(rest, "md") {
				out = append(out, strings.ToUpper(stem)+"."+rest) // CLAUDE.md
			}
		}
	}
	slices.Sort(out)
	return out
}
