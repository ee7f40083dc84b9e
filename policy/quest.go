package policy

// Where a rule comes from, as docs/ISOLATION.md explains the words.
const (
	denyByDefault  = "deny by default"
	seedIsolation  = "SPEC-CM-003-A"
	seedTranscript = "SPEC-CM-012-A"
	seedFiles      = "table file formats"
	bySection      = "ruling: by section"
	profiles       = "ruling: profiles"
	personChannel  = "ruling: the person is a channel"
	blindCouncil   = "ruling: blind council"
	checksRuling   = "ruling: checks"
	gateRuling     = "ruling: the gate"
	partySeats     = "ruling: party seats"
	tableSecrets   = "ruling: table secrets"
	tableJournals  = "ruling: table journals"
	tableDice      = "ruling: table dice"
	keyOutside     = "ruling: the key stays outside"
	engineRuling   = "ruling: engine files"
)

const partySeesAll = "the party shares everything of the quest"

func party(form Form) rule { return rule{partyRoles(), form, partySeesAll, profiles} }

func only(role Role, form Form, reason, source string) rule {
	return rule{[]Role{role}, form, reason, source}
}

func deny(role Role, reason, source string) rule { return rule{[]Role{role}, "", reason, source} }

func evaluators(reason, source string) rule {
	return rule{[]Role{Guardian, Dragon}, "", reason, source}
}

// questRows are the parts of quest.md and the words around them.
func questRows() []row {
	return []row{
		{QuestFile, familyQuest, "quest.md as a file", []rule{
			party(whole),
			deny(Gandalf, "the file holds the Guardian's and the Dragon's results; he gets its sections", bySection),
			evaluators("the file holds the narrative and every verdict; an evaluator never sees it", bySection),
		}},
		{QuestTitle, familyQuest, "the quest's name", []rule{
			party(whole),
			only(Gandalf, whole, "part of the quest definition", profiles),
			only(Guardian, whole, "the quest's overall structure, of which the title is all it gets", profiles),
			deny(Dragon, "it receives criteria, final work and mode, nothing else", profiles),
		}},
		{QuestNarrative, familyQuest, "section Quest Narrative", []rule{
			party(section),
			only(Gandalf, section, "part of the quest definition", profiles),
			deny(Guardian, "intent would stand in for evidence", bySection),
			deny(Dragon, "the narrative tells of effort and purpose, not of the work", bySection),
		}},
		{SuccessCriteria, familyQuest, "section Success Criteria", []rule{
			party(section),
			only(Gandalf, section, "part of the quest definition", profiles),
			deny(Guardian, "the criteria are the Dragon's test; the Guardian judges the stage", profiles),
			only(Dragon, section, "it tests the agreed criteria and only those", seedIsolation),
		}},
		{AnticipatedDragon, familyQuest, "section Anticipated Dragon", []rule{
			party(section),
			only(Gandalf, section, "part of the quest definition", profiles),
			deny(Guardian, "how the Dragon may assess is not its business", profiles),
			deny(Dragon, "it says why criteria were chosen and what the party fears", profiles),
		}},
		{PartyAssignments, familyQuest, "section Party Assignments", []rule{
			party(section),
			only(Gandalf, section, "part of the quest definition", profiles),
			evaluators("who works on what is about the workers, not the work", seedIsolation),
		}},
		{ProgressLog, familyQuest, "section Progress Log with every verdict line", []rule{
			party(section),
			deny(Gandalf, "its verdict lines are Guardian and Dragon results; he gets the reduced log", profiles),
			deny(Guardian, "it holds earlier Guardian results", profiles),
			deny(Dragon, "it tells of process and effort, and holds earlier results", profiles),
		}},
		{ProgressReduced, familyQuest, "Progress Log, verdict lines cut to the fact that one was held", []rule{
			party(reduced),
			only(Gandalf, reduced, "general progress; a verdict line says only that a checkpoint or confrontation was held", profiles),
			evaluators("progress is about process and effort", profiles),
		}},
		{QuestOther, familyQuest, "other sections and keys of quest.md", []rule{
			party(section),
			deny(Gandalf, "a section nobody classified may hold anything", denyByDefault),
			evaluators("a section nobody classified may hold anything", denyByDefault),
		}},
		{Mode, familyQuest, "the campaign mode", []rule{
			party(whole),
			only(Gandalf, whole, "he frames by the mode", profiles),
			only(Guardian, whole, "the mode sets what ready means", profiles),
			only(Dragon, whole, "the mode sets which criteria are required", profiles),
		}},
		{Phase, familyQuest, "the phase", []rule{
			party(whole),
			only(Gandalf, whole, "general progress", profiles),
			deny(Guardian, "its list is stage, expectation, mode, title and stage work", profiles),
			deny(Dragon, "anything about process is withheld", profiles),
		}},
		{StageName, familyQuest, "the name of the stage at a checkpoint", []rule{
			party(whole),
			only(Gandalf, whole, "the party's situation", profiles),
			only(Guardian, whole, "what it is asked to gate", profiles),
			deny(Dragon, "anything about process is withheld", profiles),
		}},
		{Expectation, familyQuest, "what ready means for the stage, in the person's words (--expect)", []rule{
			party(whole),
			deny(Gandalf, "what is put to the Guardian is not among what he receives", profiles),
			only(Guardian, whole, "what ready to advance means for this stage; at most 2,000 characters, searched first", personChannel),
			deny(Dragon, "the criteria are its only measure", profiles),
		}},
		{personWords, familyQuest, "what the person says to the seat", []rule{
			party(whole),
			only(Gandalf, whole, "the party's situation and challenges when consulted", seedIsolation),
			deny(Guardian, "until its verdict stands it receives no free text but the expectation", personChannel),
			deny(Dragon, "until its verdict stands it receives no free text", personChannel),
		}},
		{discussionWords, familyQuest, "what the person says about a verdict that stands", []rule{
			party(whole),
			deny(Gandalf, "verdicts are not discussed through him", profiles),
			rule{[]Role{Guardian, Dragon}, whole, "a new conversation that cannot change the verdict", personChannel},
		}},
	}
}

// workRows are the things made and where they are made.
func workRows() []row {
	return []row{
		{StageWork, familyQuest, "the named work of the current stage", []rule{
			party(whole),
			only(Gandalf, whole, "he may look at the project", partySeats),
			only(Guardian, whole, "the work is what it judges; named by the person, copied, hashed, listed", seedIsolation),
			deny(Dragon, "intermediate work is withheld", profiles),
		}},
		{FinalWork, familyQuest, "the named final work", []rule{
			party(whole),
			only(Gandalf, whole, "he may look at the project", partySeats),
			deny(Guardian, "it gates the current stage's work alone", seedIsolation),
			only(Dragon, whole, "the work is what it tests; named by the person, copied, hashed, listed", seedIsolation),
		}},
		{WorkChange, familyQuest, "what was changed to come to the work, between two commits", []rule{
			party(whole),
			only(Gandalf, whole, "he may look at the project", partySeats),
			{[]Role{Guardian, Dragon}, whole, "lines of the work's files, made from two trees; no word of why", gateRuling},
		}},
		{CheckResults, familyQuest, "what the criteria's own checks said about the final work", []rule{
			party(whole),
			deny(Gandalf, "they are part of the Dragon's assessment", profiles),
			deny(Guardian, "they belong to the Dragon's criteria", profiles),
			only(Dragon, whole, "made from the criteria and the final work alone", checksRuling),
		}},
		{Workspace, familyQuest, "a read-only view of the project", []rule{
			{partyRoles(), reduced, "party seats look at the project; engine files, settings, keys, .git and .campaign are cut", partySeats},
			only(Gandalf, reduced, "he may look at the project; engine files, settings, keys, .git and .campaign are cut", partySeats),
			evaluators("only named work enters its room", profiles),
		}},
		{History, familyQuest, "the project's history as text", []rule{
			{partyRoles(), whole, "party seats see how the project came to be; as text, never .git", partySeats},
			only(Gandalf, whole, "he may look at the project; as text, never .git", partySeats),
			evaluators("history holds old versions, effort and reasons", profiles),
		}},
		{PartyContext, familyQuest, "CLAUDE.md, AGENTS.md and the like", []rule{
			party(whole),
			only(Gandalf, whole, "part of the project he looks at", partySeats),
			evaluators("such files describe the campaign; they enter only when named as work, file by file", profiles),
		}},
	}
}
