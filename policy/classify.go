package policy

import (
	"slices"
	"strings"
	"unicode"
)

// ConversationOf is the kind of a conversation with that agent, by the value
// of its front matter.
func ConversationOf(agent string) Kind {
	switch role := Role(agent); {
	case slices.Contains(Animals(), role):
		return ConversationAnimals
	case role == Council:
		return ConversationCouncil
	case role == Simon:
		return ConversationSimon
	case role == Gandalf:
		return ConversationGandalf
	case role == Guardian:
		return ConversationGuardian
	case role == Dragon:
		return ConversationDragon
	}
	return ConversationOther
}

// ClassifyWorkspace says what a file of the project is, by its path relative
// to the project's root, with forward slashes. What must not be shown is
// recognised in any spelling a file system may take for the same name; a path
// that is not a plain relative path is Unknown.
func ClassifyWorkspace(rel string) Kind {
	segments, ok := split(rel)
	if !ok {
		return Unknown
	}
	found := Workspace
	for i, s := range segments {
		if kind := guarded(s, i == 0); kind == QuestOther {
			return classifyQuest(segments[i:], i == 0)
		} else if kind != Workspace && (found == Workspace || found == TableOther) {
			found = kind
		}
	}
	return found
}

// guarded says what a path segment of this name makes of everything below it.
func guarded(segment string, first bool) Kind {
	name := plain(segment)
	switch name {
	case ".conclave":
		return EnginePrivate
	case ".git", "git~1":
		return GitDirectory
	case ".claude", ".claude.json", ".codex", ".gemini", ".opencode", ".cursor", ".aider", ".mcp.json", "opencode.json":
		return AgentSettings
	case "claude.md", "claude.local.md", "agents.md", "agents.override.md", "gemini.md", ".cursorrules", ".windsurfrules", "copilot-instructions.md":
		return PartyContext
	case ".netrc", ".git-credentials", ".ssh", ".gnupg", ".aws":
		return Credentials
	case ".campaign":
		return QuestOther
	}
	switch {
	case first && (name == "conclave.yaml" || name == "conclave.yml"):
		return AgentSettings
	case first && name == "campaigns":
		return TableOther
	case name == ".env", strings.HasPrefix(name, ".env.") && !harmlessEnv(name):
		return Credentials
	case strings.HasPrefix(name, ".aider"):
		return AgentSettings
	}
	return Workspace
}

func harmlessEnv(name string) bool {
	return slices.Contains([]string{".env.example", ".env.sample", ".env.template"}, name)
}

// classifyQuest looks below a .campaign directory; only the project's own has
// files of known kinds.
func classifyQuest(segments []string, own bool) Kind {
	if !own || segments[0] != ".campaign" || len(segments) < 2 {
		return QuestOther
	}
	switch rest := segments[1:]; {
	case len(rest) == 1 && rest[0] == "quest.md":
		return QuestFile
	case len(rest) == 1 && rest[0] == "council-report.md":
		return CouncilReport
	case len(rest) == 2 && rest[0] == "profiles":
		return OtherProfile
	case len(rest) == 2 && rest[0] == "conversations":
		return ConversationOther // whose it is stands inside
	}
	return QuestOther
}

// ClassifyTable says what a file of a campaign directory is to a character, by
// its path relative to that directory. What a character may have is matched
// letter by letter; everything else is the GM's. An empty character owns
// nothing.
func ClassifyTable(rel, character string) Kind {
	segments, ok := split(rel)
	if !ok {
		return Unknown
	}
	for _, s := range segments {
		switch kind := guarded(s, false); kind {
		case EnginePrivate, GitDirectory, AgentSettings, Credentials:
			return kind
		}
	}
	if len(segments) == 1 {
		return topFile(segments[0])
	}
	if len(segments) == 2 {
		switch segments[0] {
		case "party":
			return partyFile(segments[1], character)
		case "tmp":
			return tmpFile(segments[1], character)
		}
	}
	directories := map[string]Kind{"beats": Beats, "npcs": NPCs, "factions": Factions, "locations": Locations, "items": Items, "scenes": Scenes}
	if kind, ok := directories[segments[0]]; ok {
		return kind
	}
	return TableOther
}

func topFile(name string) Kind {
	files := map[string]Kind{
		"story-state.md": StoryState, "decision-log.md": DecisionLog, "overview.md": Overview, "preferences.md": Preferences,
		"party-knowledge.md": PartyKnowledge, "world-primer.md": WorldPrimer, "dice-log.jsonl": DiceSealed,
	}
	if kind, ok := files[name]; ok {
		return kind
	}
	return TableOther
}

func partyFile(name, character string) Kind {
	stem, ok := strings.CutSuffix(name, ".md")
	if !ok {
		return TableOther
	}
	if _, brief := strings.CutSuffix(stem, "-brief"); brief {
		return Brief
	}
	if who, journal := strings.CutSuffix(stem, "-journal"); journal {
		return mine(who, character, OwnJournal, OtherJournal)
	}
	return mine(stem, character, OwnSheet, OtherSheet)
}

func tmpFile(name, character string) Kind {
	switch name {
	case "gm-context.md":
		return GMContext
	case "narrative-for-journal.md":
		return NarrativeParty
	}
	for _, form := range []struct {
		suffix     string
		own, other Kind
	}{
		{"-prompt.md", OwnPrompt, OtherPrompt},
		{"-response.md", OwnResponse, OtherResponse},
		{"-notes-for-journal.md", OwnNotes, OtherNotes},
		{"-delta.md", Deltas, Deltas},
	} {
		if who, ok := strings.CutSuffix(name, form.suffix); ok {
			return mine(who, character, form.own, form.other)
		}
	}
	return TableOther
}

func mine(who, character string, own, other Kind) Kind {
	if who != "" && who == character {
		return own
	}
	return other
}

// split cuts a plain relative path into its segments. Comparing segments,
// never prefixes, is what keeps agent_1 out of agent_10.
func split(rel string) ([]string, bool) {
	if rel == "" || strings.ContainsAny(rel, "\x00\\") {
		return nil, false
	}
	segments := strings.Split(rel, "/")
	for _, s := range segments {
		if s == "" || s == "." || s == ".." {
			return nil, false
		}
	}
	return segments, true
}

// plain is the name a careless file system may take a segment for: other case,
// invisible characters, trailing dots and spaces, a stream after a colon.
func plain(segment string) string {
	segment, _, _ = strings.Cut(segment, ":")
	folded := strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Mn, unicode.Cc) {
			return -1
		}
		if 0xFF01 <= r && r <= 0xFF5E {
			r += '!' - 0xFF01
		}
		return unicode.ToLower(unicode.ToUpper(r))
	}, segment)
	return strings.TrimRight(folded, ". ")
}
