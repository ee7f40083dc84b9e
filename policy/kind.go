package policy

// Kind is a sort of knowledge. A piece of knowledge has exactly one kind for
// the role that asks: the same journal is OwnJournal for its own character's
// player and OtherJournal for everybody else.
type Kind string

// Kinds of a quest.
const (
	QuestFile         Kind = "quest-file"
	QuestTitle        Kind = "quest-title"
	QuestNarrative    Kind = "quest-narrative"
	SuccessCriteria   Kind = "success-criteria"
	AnticipatedDragon Kind = "anticipated-dragon"
	PartyAssignments  Kind = "party-assignments"
	ProgressLog       Kind = "progress-log"
	ProgressReduced   Kind = "progress-log-reduced"
	QuestOther        Kind = "quest-other"
	Mode              Kind = "mode"
	Phase             Kind = "phase"
	StageName         Kind = "stage-name"
	Expectation       Kind = "expectation"
	personWords       Kind = "person-words"
	discussionWords   Kind = "discussion-words"

	StageWork    Kind = "stage-work"
	FinalWork    Kind = "final-work"
	WorkChange   Kind = "work-change"
	CheckResults Kind = "check-results"
	Workspace    Kind = "workspace"
	History      Kind = "history"
	PartyContext Kind = "party-context"

	ConversationAnimals  Kind = "conversation-animals"
	ConversationCouncil  Kind = "conversation-council"
	ConversationSimon    Kind = "conversation-simon"
	ConversationGandalf  Kind = "conversation-gandalf"
	ConversationGuardian Kind = "conversation-guardian"
	ConversationDragon   Kind = "conversation-dragon"
	ConversationOther    Kind = "conversation-other"

	verdictGuardian Kind = "verdict-guardian"
	verdictDragon   Kind = "verdict-dragon"
	VerdictOwn      Kind = "verdict-own"
	CouncilReport   Kind = "council-report"
	CouncilSeats    Kind = "council-seats"
	OwnProfile      Kind = "own-profile"
	OtherProfile    Kind = "other-profile"
)

// Kinds of a table.
const (
	storyState           Kind = "story-state"
	gmContext            Kind = "gm-context"
	beats                Kind = "beats"
	npcs                 Kind = "npcs"
	factions             Kind = "factions"
	locations            Kind = "locations"
	items                Kind = "items"
	decisionLog          Kind = "decision-log"
	overview             Kind = "overview"
	preferences          Kind = "preferences"
	deltas               Kind = "deltas"
	scenes               Kind = "scenes"
	TableOther           Kind = "table-other"
	ownSheet             Kind = "own-sheet"
	otherSheet           Kind = "other-sheet"
	appearanceBrief      Kind = "appearance-brief"
	OwnJournal           Kind = "own-journal"
	OtherJournal         Kind = "other-journal"
	ownPrompt            Kind = "own-prompt"
	otherPrompt          Kind = "other-prompt"
	ownResponse          Kind = "own-response"
	otherResponse        Kind = "other-response"
	OwnNotes             Kind = "own-notes"
	OtherNotes           Kind = "other-notes"
	partyKnowledge       Kind = "party-knowledge"
	worldPrimer          Kind = "world-primer"
	narrativeParty       Kind = "narrative-party"
	journalNarrative     Kind = "journal-narrative"
	NarrativePrivateOwn  Kind = "narrative-private-own"
	narrativePrivateElse Kind = "narrative-private-other"
	narrativeGM          Kind = "narrative-gm"
	diceOpen             Kind = "dice-open"
	diceSealed           Kind = "dice-sealed"
	diceSeed             Kind = "dice-seed"
)

// Kinds that stand apart from both, and that nobody in a room is given.
const (
	EnginePrivate Kind = "engine-private"
	GitDirectory  Kind = "git-directory"
	AgentSettings Kind = "agent-settings"
	Credentials   Kind = "credentials"
	Unknown       Kind = "unknown"
)

// Kinds lists every kind, in the order of the table.
func Kinds() []Kind {
	var out []Kind
	for _, row := range rows() {
		out = append(out, row.kind)
	}
	return out
}

// Known reports whether the table has a line for the kind.
func (k Kind) Known() bool {
	_, ok := index()[k]
	return ok
}
