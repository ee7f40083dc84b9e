package table

import (
	"strings"

	"conclave/policy"
)

// Kind is what a campaign file is, told from its path alone.
type Kind string

const (
	KindUnknown        Kind = "unknown" // the GM's
	KindSheet          Kind = "sheet"
	KindJournal        Kind = "journal"
	kindBrief          Kind = "brief"
	KindPrompt         Kind = "prompt"
	KindResponse       Kind = "response"
	KindNotes          Kind = "notes"
	kindNarrative      Kind = "narrative"
	KindGMContext      Kind = "gm-context"
	kindDelta          Kind = "delta"
	KindPartyKnowledge Kind = "party-knowledge"
	KindWorldPrimer    Kind = "world-primer"
	kindStoryState     Kind = "story-state"
	kindGMFile         Kind = "gm-file" // beats, NPCs, factions, places, items, overview, decision log
	kindScene          Kind = "scene"
	KindDiceLog        Kind = "dice-log"
	KindHidden         Kind = "hidden" // unfinished writes and everything below a dot name: no file for anyone
)

// Class is a classified path.
type Class struct {
	Kind      Kind
	Character string // whose file it is, for the kinds that have an owner
}

var topFiles = map[string]Kind{
	"party-knowledge.md": KindPartyKnowledge,
	"world-primer.md":    KindWorldPrimer,
	"story-state.md":     kindStoryState,
	"overview.md":        kindGMFile,
	"decision-log.md":    kindGMFile,
	DiceLogFile:          KindDiceLog,
}

var topDirs = map[string]Kind{
	"beats": kindGMFile, "npcs": kindGMFile, "factions": kindGMFile, "locations": kindGMFile, "items": kindGMFile,
	"scenes": kindScene,
}

var tmpFiles = map[string]Kind{NarrativeFile: kindNarrative, GMContextFile: KindGMContext}

// Classify tells what a path inside a campaign is; segments are compared whole,
// never by prefix. What it does not know is KindUnknown and the GM's alone.
func Classify(path string) Class {
	seg := strings.Split(path, "/")
	for _, s := range seg {
		if s == "" || s == "." || s == ".." || strings.ContainsAny(s, "\\:\x00") {
			return Class{Kind: KindHidden}
		}
		if s[0] == '.' {
			return Class{Kind: KindHidden}
		}
	}
	last := seg[len(seg)-1]
	switch {
	case len(seg) == 1:
		return Class{Kind: orUnknown(topFiles[last])}
	case len(seg) == 2 && seg[0] == "party":
		return classifyParty(last)
	case len(seg) == 2 && seg[0] == "tmp":
		return classifyTmp(last)
	}
	return Class{Kind: orUnknown(topDirs[seg[0]])}
}

func orUnknown(k Kind) Kind {
	if k == "" {
		return KindUnknown
	}
	return k
}

func classifyParty(name string) Class {
	for suffix, kind := range map[string]Kind{journalSuffix: KindJournal, briefSuffix: kindBrief} {
		if strings.HasSuffix(name, suffix) {
			return owned(name, suffix, kind)
		}
	}
	return owned(name, ".md", KindSheet)
}

func classifyTmp(name string) Class {
	if k, ok := tmpFiles[name]; ok {
		return Class{Kind: k}
	}
	if strings.HasSuffix(name, "-delta.md") {
		return Class{Kind: kindDelta}
	}
	kinds := map[string]Kind{promptSuffix: KindPrompt, responseSuffix: KindResponse, notesSuffix: KindNotes}
	for suffix, kind := range kinds {
		if strings.HasSuffix(name, suffix) {
			return owned(name, suffix, kind)
		}
	}
	return Class{Kind: KindUnknown}
}

func owned(name, suffix string, kind Kind) Class {
	if slug, ok := cutSlug(name, suffix); ok {
		return Class{kind, slug}
	}
	return Class{Kind: KindUnknown}
}

// Reader is a seat that wants to read.
type Reader struct {
	Role      policy.Role
	Character string // of players and journal keepers
	// GMReadsJournals lets the GM read journals and the notes for them; by
	// default they are their owner's alone.
	GMReadsJournals bool
}

// May reports whether the reader may read a path: what policy says of it. The
// zero Reader may read nothing, and an unknown file is nobody's but the GM's.
func (r Reader) May(path string) bool {
	role, kind := r.Role, policy.ClassifyTable(path, r.Character)
	if policy.Decide(role, kind).Allow {
		return true
	}
	if role != policy.GM || !r.GMReadsJournals {
		return false
	}
	switch kind {
	case policy.OwnJournal, policy.OtherJournal, policy.OwnNotes, policy.OtherNotes:
		return true
	}
	return false
}
