package flow

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"conclave/policy"
	"conclave/quest"
)

const handbackScript = `
as cat
turn on And now
  expect You are the first advisor for criterion 1
  read quest/other.md
  tool log_progress {"text":"Pier nine answers"}
  tool recommend {"text":"Measure the load first"}
  say Not that anyone asked.
turn on A council is held
  say src/tide.go:1 is short.
as guardian
turn
  say Not yet.
  tool submit_verdict {"verdict":"Conditional Approval","summary":"a \"quoted\" thing | and more","gaps":[],"conditions":["name it"]}
as dragon
turn
  say I have read it.
  tool submit_verdict {"verdict":"Dragon Slain","summary":"it stands","criteria":[{"number":1,"status":"met","evidence":"src/tide.go:1"},{"number":2,"status":"met","evidence":"src/tide.go:1"},{"number":3,"status":"met","evidence":"src/tide.go:1"}]}
as simon
turn on The council has spoken
  say They agree.
  answer {"consensus":"Tides.","dissent":"","next_steps":["Measure"]}
always
  say Well sailed.
as bear
always
  say src/tide.go:1 is the way.
as owl
always
  say src/tide.go:1 is first.
as puppy
always
  say src/tide.go:1 is fun.
as rabbit
always
  say src/tide.go:1 is enough.
as wolf
always
  say src/tide.go:1 is ours.
`

// TestHandedBackToTheOriginal: a campaign that the original made goes on here,
// to its end, and a reader who knows nothing but the documents' own forms
// understands every file that it then holds. What was there is there.
func TestHandedBackToTheOriginal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "testdata", "plugin"))); err != nil {
		t.Fatal(err)
	}
	before := filesOf(t, dir)
	s := stage{dir: dir, script: handbackScript}
	paths := []string{"src"}
	if _, err := s.play(t.Context(), []act{
		{"consult", Consult{Who: policy.Cat, Message: "And now?"}},
		{"move", Move{Progress: "The roof\nis tight"}},
		{"move", Move{Withdraw: 3}},
		{"consult", Consult{Who: policy.Simon, Message: "Where are we?"}},
		{"council", Council{Message: "council"}},
		{"debrief", Debrief{Message: "It prevailed once."}},
		{"evaluate", Evaluate{Role: policy.Guardian, Stage: "draft", Paths: paths, Words: "checkpoint --stage draft src"}},
		{"evaluate", Evaluate{Role: policy.Dragon, Paths: paths, Words: "confront src"}},
		{"debrief", Debrief{Message: "Well."}},
	}); err != nil {
		t.Fatal(err)
	}
	after := filesOf(t, dir)
	for name, text := range before {
		if name != quest.QuestFile && name != quest.ReportFile && after[name] != text {
			t.Errorf("%s was changed", name)
		}
	}
	readQuestBySpec(t, before[quest.QuestFile], after[quest.QuestFile])
	readReportBySpec(t, after[quest.ReportFile])
	n := 0
	for name, text := range after {
		if file, ok := strings.CutPrefix(name, quest.ConversationsDir+"/"); ok && before[name] == "" {
			n++
			readConversationBySpec(t, file, text)
		}
	}
	if n != 7 {
		t.Errorf("%d conversations were added", n)
	}
}

func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".campaign", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
		out[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// logForms are the forms of a log's line that the documents show, and the one by
// which a phase is skipped.
var logForms = []*regexp.Regexp{
	regexp.MustCompile(`^- \*\*Phase [1-6] (complete|skipped)\*\* — \S.* \(\d{4}-\d\d-\d\d\)$`),
	regexp.MustCompile(`^- \*\*Progress\*\* — \S.* \(\d{4}-\d\d-\d\d\)$`),
	regexp.MustCompile(`^- \*\*Guardian checkpoint\*\* — (Approved|Blocked|Conditional Approval): "[^"]+" \(\d{4}-\d\d-\d\d\)$`),
	regexp.MustCompile(`^- \*\*Dragon confrontation\*\* — Dragon (Slain|Prevails): "[^"]+" \(\d{4}-\d\d-\d\d\)$`),
}

// readQuestBySpec: the phase is another, lines were added to the log, and not a
// byte is different besides.
func readQuestBySpec(t *testing.T, before, after string) {
	t.Helper()
	kept := strings.Replace(before, "\nphase: 3\n", "\nphase: 6\n", 1)
	added, ok := strings.CutPrefix(after, kept)
	if !ok {
		t.Fatalf("quest.md is\n%s", after)
	}
	lines := strings.Split(strings.TrimSuffix(added, "\n"), "\n")
	for _, line := range lines {
		if !slices.ContainsFunc(logForms, func(f *regexp.Regexp) bool { return f.MatchString(line) }) {
			t.Errorf("%q is none of the log's forms", line)
		}
	}
	if len(lines) != 6 || !strings.Contains(lines[2], "withdrawn: API design finished") {
		t.Errorf("the log was given\n%s", added)
	}
}

var (
	specName = regexp.MustCompile(`^\d{4}-\d\d-\d\d-\d\d-\d\d-(bear|cat|owl|puppy|rabbit|wolf|gandalf|guardian|dragon|council)(\([a-z0-9-]+\))?(_\d\d)?\.md$`)
	specBody = regexp.MustCompile(`(?s)^---\nagent: ([a-z]+)\n(?:profile-name: [^\n]+\n)?phase: [1-6]\ncampaign-mode: (?:Grow|Ship|Grow & Ship)\n` +
		`date: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\n---\n\n## Conversation Transcript\n\n### Context\n\nQuest: [^\n]+\nConsultation purpose: [^\n]+\n\n` +
		`### Exchange\n\n(?:\*\*User:\*\*|\*\*\S+ [^\n]+:\*\*) .*\n\n(?:### Outcome\n\n.*\n)?$`)
)

func readConversationBySpec(t *testing.T, name, text string) {
	t.Helper()
	named, body := specName.FindStringSubmatch(name), specBody.FindStringSubmatch(text)
	if named == nil || body == nil || named[1] != body[1] {
		t.Errorf("%s is not of the documents' form:\n%s", name, text)
	}
	if strings.Contains(name, "-cat(eeyore)") && !strings.HasSuffix(text, "### Outcome\n\n**Recommendations:**\n\n1. Measure the load first\n") {
		t.Errorf("the cat's outcome is not there:\n%s", text)
	}
}

func readReportBySpec(t *testing.T, text string) {
	t.Helper()
	at := 0
	for _, heading := range []string{"---\ncreated: 2026-02-14\ncouncil-type: quest-informed\n---\n", "\n# Council Report\n", "\n## Animal Perspectives\n",
		"\n### Bear — Vision & Direction\n", "\n### Eeyore (Cat) — Risk & Scope\n", "\n### Owl — Process & Structure\n",
		"\n### Puppy — Opportunities & Momentum\n", "\n### Rabbit — Resources & Stakeholders\n", "\n### Wolf — Cohesion & Balance\n",
		"\n## Consensus\n", "\n## Recommended Next Steps\n", "\n1. Measure\n"} {
		i := strings.Index(text[at:], heading)
		if i < 0 {
			t.Fatalf("%q does not follow in\n%s", heading, text)
		}
		at += i + len(heading) - 1
	}
}
