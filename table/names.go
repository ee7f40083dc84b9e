package table

import "strings"

// Names of the protocol's files. All take a slug from the roster.
const (
	NarrativeFile = "narrative-for-journal.md"
	GMContextFile = "gm-context.md"
	DiceLogFile   = "dice-log.jsonl"

	promptSuffix   = "-prompt.md"
	responseSuffix = "-response.md"
	notesSuffix    = "-notes-for-journal.md"
	journalSuffix  = "-journal.md"
	briefSuffix    = "-brief.md"
)

// PromptFile is the name of a prompt in tmp/.
func PromptFile(slug string) string { return slug + promptSuffix }

// ResponseFile is the name of a response in tmp/.
func ResponseFile(slug string) string { return slug + responseSuffix }

// NotesFile is the name of a character's notes in tmp/.
func NotesFile(slug string) string { return slug + notesSuffix }

// JournalFile is the name of a journal in party/.
func JournalFile(slug string) string { return slug + journalSuffix }

// briefFile is the name of an appearance brief in party/.
func briefFile(slug string) string { return slug + briefSuffix }

// SheetFile is the name of a sheet in party/.
func SheetFile(slug string) string { return slug + ".md" }

// cutSlug takes a suffix off a file name and returns the slug before it, if it
// is a valid one.
func cutSlug(name, suffix string) (string, bool) {
	slug, ok := strings.CutSuffix(name, suffix)
	return slug, ok && CheckSlug(slug) == nil
}
