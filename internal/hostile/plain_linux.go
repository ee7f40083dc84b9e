package hostile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Names in the plain workspace that hostile ones and command lines know.
const (
	Session     = "11111111-1111-4111-8111-111111111111"
	RecordID    = "claude-" + Session
	record      = ".conclave/records/" + RecordID + ".record"
	session     = "sessions/" + Session + ".jsonl"
	bundleFile  = "run.zip"
	packFile    = "harbour.zip"
	quest       = ".campaign/quest.md"
	config      = "conclave.yaml"
	instruction = ".campaign/instructions/cat.md"
	profile     = ".campaign/profiles/cat.md"
	pack        = "profile-packs/harbour/cat.md"
	story       = "campaigns/weir/story-state.md"
	sheet       = "campaigns/weir/party/bram-oatley.md"
	diceLog     = "campaigns/weir/dice-log.jsonl"
	database    = ".conclave/engine/quest.db"
)

const questText = `---
campaign-mode: Ship
phase: 3
created: 2026-02-14
---

# Crossing

## Quest Narrative

A village waits for bread.

## Success Criteria

1. A bridge stands

## Anticipated Dragon

Fog.

## Party Assignments

## Progress Log

- **Phase 1 complete** — Quest defined (2026-02-14)
`

// plainFiles are what the person wrote.
var plainFiles = map[string]string{
	config:           "budget: {tokens: 1000000}\n",
	instruction:      "Look at the roof first.\n",
	quest:            questText,
	session:          sessionText("the lantern burns"),
	".gitignore":     "build/\n",
	".gitattributes": "*.zip binary\n",
	"plan.md":        "A bridge stands here.\n",
	"idea.md":        "Could it be a ferry?\n",
	"work/report.md": "# Report\n\nThe bridge stands.\n",
}

// plainSteps are what the person did: everything that leaves files behind.
var plainSteps = [][]string{
	{"trust", "--yes"},
	{"pack", "export", "harbour", packFile},
	{"pack", "install", "harbour"},
	{"trust", "--yes"}, // what is installed is there now, too
	{"consult", "cat", "-m", "Where is the risk?"},
	{"table", "new", "weir", "--adventure"},
	{"table", "play", "weir", "--auto", "--max-turns", "1"},
	{"table", "roll", "--table", "weir", "--visibility", "sealed", "1d20"},
	{"table", "save", "weir", "dusk"},
	{"record", "import", "sessions"},
	{"bundle", "create", RecordID, "--out", bundleFile},
	{"bundle", "create", RecordID},
	{"archive", "refresh", "--archive", "archive.db"},
}

// sessionText is a session of Claude Code in which somebody says something.
func sessionText(said string) string {
	return sessionLine("user", "a1", `"promptSource":"sdk","message":{"role":"user","content":"what burns?"}`) +
		sessionLine("assistant", "a2", `"parentUuid":"a1","requestId":"req_1","message":{"id":"msg_1","type":"message",`+
			`"role":"assistant","model":"m","content":[{"type":"text","text":"`+
			said+`"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}`)
}

func sessionLine(kind, id, rest string) string {
	const shape = `{"type":%q,"uuid":%q,"sessionId":%q,"timestamp":"2026-02-18T11:00:00.000Z","cwd":"/p","version":"2.1.325",%s}` + "\n"
	return fmt.Sprintf(shape, kind, id, Session, rest)
}

// Plain makes the plain workspace. run runs the program there.
func Plain(root string, run func(args ...string) error) error {
	p := Place{Root: root}
	for name, text := range plainFiles {
		if err := p.write(name, text, 0o644); err != nil {
			return err
		}
	}
	if err := run("pack", "export", "fantasy", "profile-packs/harbour"); err != nil {
		return err
	}
	if err := p.retheme("profile-packs/harbour", `theme: "Fantasy"`, `theme: "Harbour"`); err != nil {
		return err
	}
	for _, args := range plainSteps {
		if err := run(args...); err != nil {
			return fmt.Errorf("make the plain workspace: conclave %s: %w", strings.Join(args, " "), err)
		}
	}
	return p.shell("git init -q -b main .; git add -A; git commit -qm one")
}

// retheme changes a text in every file of a directory.
func (p Place) retheme(dir, from, to string) error {
	entries, err := os.ReadDir(p.path(dir))
	for _, e := range entries {
		if err == nil {
			err = replaced(dir+"/"+e.Name(), from, to)(p)
		}
	}
	return err
}

// Furnish puts what must not be seen outside of the workspace: every kind of
// file that a command reads, each with the canary. run runs the program in a
// directory.
func Furnish(p Place, run func(dir string, args ...string) error) error {
	o := Place{Root: p.Outside, Canary: p.Canary, Marks: p.Marks, Outside: p.Outside}
	for name, text := range map[string]string{
		"secret.txt":  "$CANARY\n",
		"secret.yaml": "agents: {$CANARY: {agent: $CANARY}}\n",
		"quest.md":    strings.ReplaceAll(questText, "A bridge stands", "$CANARY"),
		"profile.md":  "---\nname: $CANARY\n---\n\n# $CANARY\n",
		session:       sessionText("$CANARY"),
	} {
		if err := o.write(name, text, 0o644); err != nil {
			return err
		}
	}
	if err := o.imported("", "secret.record", run); err != nil {
		return err
	}
	if err := o.write("stock/"+session, paintedSession(), 0o644); err != nil {
		return err
	}
	if err := o.imported("stock", "stock/painted.record", run); err != nil {
		return err
	}
	return copyFile(p.path(record), o.path("stock/plain.record"))
}

// imported makes a record and a bundle of the session in a directory.
func (p Place) imported(dir, to string, run func(dir string, args ...string) error) error {
	for _, args := range [][]string{{"record", "import", "sessions"}, {"bundle", "create", RecordID, "--out", bundleFile}} {
		if err := run(p.path(dir), args...); err != nil {
			return fmt.Errorf("furnish the outside: conclave %s: %w", strings.Join(args, " "), err)
		}
	}
	return os.Rename(filepath.Join(p.path(dir), filepath.FromSlash(record)), p.path(to))
}
