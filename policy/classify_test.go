package policy

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestClassifyWorkspace(t *testing.T) {
	for path, want := range map[string]Kind{
		"main.go": Workspace, "docs/a b.md": Workspace, ".gitignore": Workspace, ".github/workflows/ci.yml": Workspace, "git/x": Workspace,
		".git": GitDirectory, ".git/config": GitDirectory, ".GIT/config": GitDirectory, "sub/.git": GitDirectory, ".git./x": GitDirectory,
		".g\u200bit/x": GitDirectory, "GIT~1/x": GitDirectory, ".git::$INDEX_ALLOCATION/x": GitDirectory, ".gıt/x": GitDirectory, "．git/x": GitDirectory,
		".conclave/records/1": EnginePrivate, "a/.Conclave": EnginePrivate, ".conclave2/x": Workspace, "x.conclave": Workspace,
		".campaign/quest.md": QuestFile, ".campaign/council-report.md": CouncilReport, ".campaign/profiles/cat.md": OtherProfile,
		".campaign/conversations/x.md": ConversationOther, ".campaign/new": QuestOther, "old/.campaign/quest.md": QuestOther, ".Campaign/quest.md": QuestOther,
		"campaigns/x/story-state.md": TableOther, "docs/campaigns/x": Workspace, "campaigns2/x": Workspace,
		"CLAUDE.md": PartyContext, "sub/agents.md": PartyContext, "CLAUDE.local.md": PartyContext, "claude.mdx": Workspace,
		".claude/settings.json": AgentSettings, ".mcp.json": AgentSettings, "conclave.yaml": AgentSettings, "sub/conclave.yaml": AgentSettings,
		".env": Credentials, ".env.local": Credentials, ".env.example": Workspace, "x/.netrc": Credentials,
		"": Unknown, "/etc/passwd": Unknown, "a//b": Unknown, "../x": Unknown, "a/../.git": Unknown, "a\\.git": Unknown, "a\x00": Unknown, "a/": Unknown,
	} {
		if got := ClassifyWorkspace(path, nil); got != want {
			t.Errorf("%q is %s, want %s", path, got, want)
		}
	}
}

func TestClassifyTable(t *testing.T) {
	for path, want := range map[string]Kind{
		"party/tilda.md": ownSheet, "party/tilda-journal.md": OwnJournal, "party/tilda-brannock.md": otherSheet, "party/Tilda.md": otherSheet,
		"party/til.md": otherSheet, "party/tilda-brief.md": appearanceBrief, "party/milo-journal.md": OtherJournal, "party/tilda": TableOther,
		"tmp/tilda-prompt.md": ownPrompt, "tmp/tilda-brannock-prompt.md": otherPrompt, "tmp/tilda-response.md": ownResponse, "tmp/milo-response.md": otherResponse,
		"tmp/tilda-notes-for-journal.md": OwnNotes, "tmp/milo-notes-for-journal.md": OtherNotes, "tmp/gm-context.md": gmContext,
		"tmp/narrative-for-journal.md": journalNarrative, "tmp/state-delta.md": deltas, "tmp/other": TableOther, "tmp/sub/tilda-prompt.md": TableOther,
		"story-state.md": storyState, "Story-State.md": TableOther, "overview.md": overview, "decision-log.md": decisionLog, "party-knowledge.md": partyKnowledge,
		"world-primer.md": worldPrimer, "beats/1.md": beats, "npcs/x/y.md": npcs, "new.md": TableOther, ".conclave/x": EnginePrivate, "party/../story-state.md": Unknown,
		"dice-log.jsonl": diceSealed, "scenes/001-dock.md": scenes, "-prompt.md": TableOther, "tmp/-prompt.md": otherPrompt,
	} {
		if got := ClassifyTable(path, "tilda"); got != want {
			t.Errorf("%q is %s to tilda, want %s", path, got, want)
		}
	}
	if got := ClassifyTable("tmp/-prompt.md", ""); got != otherPrompt {
		t.Errorf("an empty character owns %s", got)
	}
}

// Nothing a player is granted carries another character's name.
func TestSegmentsNeverPrefixes(t *testing.T) {
	slug := rapid.StringMatching(`[a-z0-9]{1,6}(-[a-z0-9]{1,4})?`)
	rapid.Check(t, func(t *rapid.T) {
		me, other := slug.Draw(t, "me"), slug.Draw(t, "other")
		if rapid.Bool().Draw(t, "extends") {
			other = me + rapid.SampledFrom([]string{"0", "-x", " ", ".", "\n", "\u200b"}).Draw(t, "tail")
		}
		if me == other {
			t.Skip("one and the same")
		}
		for _, form := range []string{"party/%.md", "party/%-journal.md", "tmp/%-prompt.md", "tmp/%-response.md", "tmp/%-notes-for-journal.md"} {
			path := strings.Replace(form, "%", other, 1)
			if d := Decide(Player, ClassifyTable(path, me)); d.Allow {
				t.Fatalf("%q is granted to %q: %+v", path, me, d)
			}
		}
	})
}

// However a guarded name is dressed up, nobody is granted what is below it.
func TestGuardedNamesInDisguise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{".git", ".conclave", ".campaign", "CLAUDE.md", ".env"}).Draw(t, "name")
		var b strings.Builder
		for _, r := range name {
			if rapid.Bool().Draw(t, "upper") {
				r = []rune(strings.ToUpper(string(r)))[0]
			}
			b.WriteRune(r)
			b.WriteString(rapid.SampledFrom([]string{"", "", "\u200d", "\ufeff"}).Draw(t, "hidden"))
		}
		b.WriteString(rapid.SampledFrom([]string{"", ".", " ", ". ."}).Draw(t, "tail"))
		path := rapid.SampledFrom([]string{"", "a/", "a/b/"}).Draw(t, "in") + b.String() + "/x"
		kind := ClassifyWorkspace(path, nil)
		if kind == Workspace || Decide(Dragon, kind).Allow || Decide(Guardian, kind).Allow {
			t.Fatalf("%q is %s", path, kind)
		}
	})
}

// Whatever is done to the spelling that some file system ignores, a guarded
// name stays guarded.
func TestGuardedInAnySpelling(t *testing.T) {
	var names []string
	for _, list := range guardedNames {
		names = append(names, list...)
	}
	slices.Sort(names)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "name")
		var b strings.Builder
		for _, r := range name {
			if rapid.Bool().Draw(t, "fold") {
				r = unicode.SimpleFold(r)
			}
			b.WriteRune(r)
			if rapid.IntRange(0, 4).Draw(t, "ignored") == 0 {
				b.WriteRune(rapid.SampledFrom([]rune{0x200B, 0x200C, 0x200D, 0x200E, 0x202A, 0x202E, 0x2060, 0x206F, 0xFEFF, 0xAD}).Draw(t, "rune"))
			}
		}
		b.WriteString(rapid.SampledFrom([]string{"", ".", " ", ". .", ":x"}).Draw(t, "tail"))
		if kind := ClassifyWorkspace("a/"+b.String(), nil); kind == Workspace {
			t.Fatalf("%q gets in as %q", name, b.String())
		}
	})
	for _, n := range []string{"GIT~1", "git~2", "CLAUDE~1", "AGENT\u017f.md", "CONCLA~1", "SSH~1"} {
		if kind := ClassifyWorkspace(n, nil); kind == Workspace {
			t.Errorf("%q is shown", n)
		}
	}
	for _, n := range []string{"campaigns.md", "campaign", "claude.md.txt", "my.claude", "agents", "agent_1", "agent_10", "notes~draft", "agents~draft", "xconclave.yaml"} {
		if kind := ClassifyWorkspace(n, nil); kind != Workspace {
			t.Errorf("%q is %s", n, kind)
		}
	}
}

// What a view leaves out in advance is withheld from everybody who has one.
func TestAbsent(t *testing.T) {
	for _, role := range Roles() {
		if !Decide(role, Workspace).Allow {
			continue
		}
		for _, name := range Absent() {
			if _, d := Withheld(role, name, false, nil); d.Allow {
				t.Errorf("%s may see %s", role, name)
			}
		}
	}
}
