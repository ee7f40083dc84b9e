package policy

import (
	"slices"
	"strings"
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
// to the project's root, with forward slashes, and where that leaves it open
// by its content; what cannot be read counts as what it may be. What must not
// be shown is recognised in any spelling a file system may take for the same
// name; a path that is not a plain relative path is Unknown.
func ClassifyWorkspace(rel string, open opener) Kind { return classify(rel, false, open) }

func classify(rel string, dir bool, open opener) Kind {
	segments, ok := split(rel)
	if !ok {
		return Unknown
	}
	found, above := Workspace, ""
	for i, s := range segments {
		name, last := plain(s), i == len(segments)-1
		kind := guarded(name, i == 0)
		switch {
		case kind == QuestOther:
			return classifyQuest(segments[i:], i == 0)
		case kind == Workspace && isCredential(above, name, last && !dir, open):
			kind = Credentials
		}
		if kind != Workspace && (found == Workspace || found == TableOther) {
			found = kind
		}
		above = name
	}
	return found
}

// MayBeCredential reports whether a file's path alone makes it a key or a login,
// or something that only its content could clear, whatever else it is: an
// agent's login stands among its settings.
func MayBeCredential(rel string) bool {
	segments, ok := split(rel)
	above := ""
	for i, s := range segments {
		name := plain(s)
		if guarded(name, false) == Credentials || isCredential(above, name, i == len(segments)-1, nil) {
			return true
		}
		above = name
	}
	return !ok
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
		switch kind := guarded(plain(s), false); kind {
		case EnginePrivate, GitDirectory, AgentSettings, Credentials:
			return kind
		}
		if s[0] == '.' || strings.Contains(s, ":") {
			return Unknown // a write that was not finished, or no file of a campaign
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
	directories := map[string]Kind{"beats": beats, "npcs": npcs, "factions": factions, "locations": locations,
		"items": items, "scenes": scenes}
	if kind, ok := directories[segments[0]]; ok {
		return kind
	}
	return TableOther
}

func topFile(name string) Kind {
	files := map[string]Kind{
		"story-state.md": storyState, "decision-log.md": decisionLog, "overview.md": overview, "preferences.md": preferences,
		"party-knowledge.md": partyKnowledge, "world-primer.md": worldPrimer, "dice-log.jsonl": diceSealed,
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
		return appearanceBrief
	}
	if who, journal := strings.CutSuffix(stem, "-journal"); journal {
		return mine(who, character, OwnJournal, OtherJournal)
	}
	return mine(stem, character, ownSheet, otherSheet)
}

func tmpFile(name, character string) Kind {
	switch name {
	case "gm-context.md":
		return gmContext
	case "narrative-for-journal.md":
		return journalNarrative
	}
	for _, form := range []struct {
		suffix     string
		own, other Kind
	}{
		{"-prompt.md", ownPrompt, otherPrompt},
		{"-response.md", ownResponse, otherResponse},
		{"-notes-for-journal.md", OwnNotes, OtherNotes},
		{"-delta.md", deltas, deltas},
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
