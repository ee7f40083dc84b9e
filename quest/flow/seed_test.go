package flow

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"conclave/policy"
	"conclave/profile"
	"conclave/quest"
)

// seedScript plays a campaign in which everybody writes a conversation.
const seedScript = `
as gandalf
turn on begin a quest
  say Who waits on the other side?
always on Bakers
  say Then bridge it.
turn on structured form
  answer {"title":"Cross the river","narrative":"A village waits for bread.","criteria":[{"text":"A bridge stands","sort":"deliverable"}],"dragon":"The flood."}
turn on weary
  say Rest, then look again.
turn on ready
  say One criterion is thin.
as cat
turn on A council is held
  say 1. plan.md:1 is thin.
turn on flood
  say The flood comes in spring (plan.md:1).
always on Bakers
  say In March.
as guardian
turn
  say Not yet.
  tool submit_verdict {"verdict":"Conditional Approval","summary":"one rope is thin","gaps":[],"conditions":["a second rope"]}
as dragon
turn
  say I have looked.
  tool submit_verdict {"verdict":"Dragon Slain","summary":"it stands","criteria":[{"number":1,"status":"met","evidence":"plan.md:1"}]}
as simon
turn on The council has spoken
  say They agree.
turn on parts of the report
  answer {"consensus":"Build it.","dissent":"","next_steps":["Begin"]}
as bear
turn
  say 1. plan.md:1 leads across.
as owl
turn
  say 1. plan.md:1 is first.
as puppy
turn
  say 1. plan.md:1 is fun.
as rabbit
turn
  say 1. plan.md:1 needs rope.
as wolf
turn
  say 1. plan.md:1 binds us.
`

// interaction is one of a campaign's, with what happened to files in it.
type interaction struct {
	Result
	labels []string
}

// at is when something happened, -1 for never.
func (i interaction) at(part string) int {
	return slices.IndexFunc(i.labels, func(l string) bool { return strings.Contains(l, part) })
}

// seedCampaign plays the campaign in a directory: definition, advice, counsel,
// readiness, checkpoint, confrontation, council.
func seedCampaign(t *testing.T, dir string) map[string]interaction {
	t.Helper()
	write(t, dir, "plan.md", "A bridge.\n")
	var all []interaction
	now := interaction{}
	var mu sync.Mutex // the six of a council are at work at once
	s := campaignStage(dir, func(label string) {
		mu.Lock()
		defer mu.Unlock()
		now.labels = append(now.labels, label)
		if strings.HasPrefix(label, "returned ") {
			all = append(all, now)
			now = interaction{}
		}
	})
	s.script = seedScript
	names := []string{"define", "cat", "counsel", "readiness", "guardian", "dragon", "council"}
	results, err := s.play(t.Context(), []act{
		{"define", Define{Message: "I want to bring bread.", Mode: quest.GrowAndShip}},
		{"consult", Consult{Who: policy.Cat, Message: "What of the flood?"}},
		{"consult", Consult{Who: policy.Gandalf, Message: "We are weary."}},
		{"consult", Consult{Who: policy.Gandalf, Readiness: true, Message: "Are we ready?"}},
		{"evaluate", Evaluate{Role: policy.Guardian, Stage: "plan", Paths: []string{"plan.md"}, Words: "checkpoint --stage plan plan.md"}},
		{"evaluate", Evaluate{Role: policy.Dragon, Paths: []string{"plan.md"}, Words: "confront plan.md"}},
		{"council", Council{Message: "Will it hold?"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(names) {
		t.Fatalf("%d interactions returned, want %d", len(all), len(names))
	}
	out := map[string]interaction{}
	for i, name := range names {
		all[i].Result = results[i]
		out[name] = all[i]
	}
	return out
}

// TestSeedTimings holds when each agent's transcript is written against the
// transcript protocol, "When Each Agent Writes": the next steps come with the
// result, which returns last.
func TestSeedTimings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	played := seedCampaign(t, dir)
	file := func(i interaction) int { return i.at("after create " + quest.ConversationsDir + "/" + i.Conversation) }
	written := func(t *testing.T, name string) interaction {
		t.Helper()
		i := played[name]
		if at := file(i); i.Conversation == "" || at < 0 || at > i.at("returned ") || len(i.Offers) == 0 {
			t.Errorf("%s: file %q, offers %v, %q", name, i.Conversation, i.Offers, i.labels)
		}
		return i
	}
	// ended: it is written after the last word and not before.
	ended := func(t *testing.T, i interaction, last string) {
		t.Helper()
		if said := i.at(last); said < 0 || said > file(i) {
			t.Errorf("it was written before the end (%s): %q", last, i.labels)
		}
	}
	for id, check := range map[string]func(*testing.T){
		"000-97":  func(t *testing.T) { ended(t, written(t, "cat"), "recorded turn t2") },
		"000-98":  func(t *testing.T) { written(t, "cat") },
		"000-113": func(t *testing.T) { written(t, "cat") },
		"000-99":  func(t *testing.T) { ended(t, written(t, "define"), "recorded ask 3 agree") },
		"000-100": func(t *testing.T) {
			i := written(t, "define")
			if moved := i.at("intend defined"); moved < file(i) {
				t.Errorf("the phase moved at %d, the file was written at %d", moved, file(i))
			}
		},
		"000-101": func(t *testing.T) { ended(t, written(t, "counsel"), "recorded turn t2") },
		"000-102": func(t *testing.T) { written(t, "counsel") },
		"000-103": func(t *testing.T) { ended(t, written(t, "readiness"), "recorded turn t2") },
		"000-104": func(t *testing.T) {
			if i := written(t, "readiness"); i.Offers[0].Action != quest.ActConfront {
				t.Errorf("offered is %v", i.Offers)
			}
		},
		"000-105": func(t *testing.T) { ended(t, written(t, "guardian"), "recorded turn t1") },
		"000-106": func(t *testing.T) { ended(t, written(t, "guardian"), "after write "+quest.QuestFile) },
		"000-107": func(t *testing.T) { ended(t, written(t, "dragon"), "recorded turn t1") },
		"000-108": func(t *testing.T) { ended(t, written(t, "dragon"), "after write "+quest.QuestFile) },
		"000-109": func(t *testing.T) { ended(t, written(t, "council"), "recorded turn t1") },
		"000-110": func(t *testing.T) { ended(t, written(t, "council"), "after write "+quest.ReportFile) },
	} {
		t.Run(id, check)
	}
}

// part is a section of a conversation file.
func part(text, heading string) string {
	_, rest, _ := strings.Cut(text, "\n### "+heading+"\n")
	body, _, _ := strings.Cut(rest, "\n### ")
	return strings.TrimSpace(body)
}

// TestSeedConversations holds the files of a campaign against the form of the
// transcript protocol, statement by statement.
func TestSeedConversations(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := os.Stat(filepath.Join(dir, quest.ConversationsDir)); err == nil {
		t.Fatal("the directory is there before anybody spoke")
	}
	played := seedCampaign(t, dir)
	texts := map[string]string{}
	for name, i := range played {
		texts[name] = conversation(t, dir, i.Conversation)
	}
	phases := map[string]string{"define": "1", "cat": "3", "counsel": "3", "readiness": "3", "guardian": "4", "dragon": "5", "council": "6"}
	purposes := map[string]string{"define": quest.PurposeDefinition, "cat": "Phase 3 advisory", "counsel": quest.PurposeCounsel,
		"readiness": quest.PurposeReadiness, "guardian": "Guardian checkpoint", "dragon": "Dragon confrontation", "council": quest.PurposeCouncil}
	each := func(check func(t *testing.T, name, text string)) func(*testing.T) {
		return func(t *testing.T) {
			for name, text := range texts {
				check(t, name, text)
			}
		}
	}
	has := func(want string) func(*testing.T) {
		return each(func(t *testing.T, name, text string) {
			if !strings.Contains(text, want) {
				t.Errorf("%s has no %q:\n%s", name, want, text)
			}
		})
	}
	header := regexp.MustCompile(`(?s)\A---\nagent: ([a-z]+)\nphase: ([1-6])\ncampaign-mode: Grow & Ship\ndate: (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\n---\n`)
	for id, check := range map[string]func(*testing.T){
		"000-02": func(t *testing.T) {
			if len(texts) != 7 {
				t.Errorf("%d conversations", len(texts))
			}
		},
		"000-04": func(t *testing.T) {
			if info, err := os.Stat(filepath.Join(dir, quest.ConversationsDir)); err != nil || !info.IsDir() {
				t.Error(err)
			}
		},
		"000-35": has("\n---\n\n## Conversation Transcript\n"),
		"000-36": has("\n### Context\n\nQuest: "),
		"000-37": has("\nQuest: Cross the river\n"),
		"000-38": each(func(t *testing.T, name, text string) {
			if !strings.Contains(text, "\nConsultation purpose: "+purposes[name]+"\n") {
				t.Errorf("%s says\n%s", name, part(text, "Context"))
			}
		}),
		"000-39": has("\n### Exchange\n\n**"),
		"000-43": func(t *testing.T) {
			for name, want := range map[string]string{"guardian": "**Verdict:** Conditional Approval", "dragon": "**Verdict:** Dragon Slain", "council": "**Recommended next steps:**"} {
				if !strings.Contains(part(texts[name], "Outcome"), want) {
					t.Errorf("%s came to\n%s", name, part(texts[name], "Outcome"))
				}
			}
		},
		"000-44": each(func(t *testing.T, name, text string) {
			if m := header.FindStringSubmatch(text); m == nil || !strings.HasSuffix(strings.TrimSuffix(played[name].Conversation, ".md"), "-"+m[1]) && !strings.Contains(played[name].Conversation, "-"+m[1]+"_0") {
				t.Errorf("%s is %s: %q", name, played[name].Conversation, m)
			}
		}),
		"000-46": each(func(t *testing.T, name, text string) {
			if strings.Contains(text, "profile-name") {
				t.Errorf("%s wears nothing and has a profile-name", name)
			}
		}),
		"000-48": each(func(t *testing.T, name, text string) {
			if m := header.FindStringSubmatch(text); m == nil || m[2] != phases[name] {
				t.Errorf("%s was held in phase %s: %q", name, phases[name], m)
			}
		}),
		"000-49": has("\ncampaign-mode: Grow & Ship\n"),
		"000-50": has("\ndate: 2026-02-14T12:00:00\n"),
		"000-52": each(func(t *testing.T, name, text string) {
			if lines := strings.Split(part(text, "Context"), "\n"); len(lines) != 2 {
				t.Errorf("%s: the context is %q", name, lines)
			}
		}),
		"000-56": each(func(t *testing.T, name, text string) {
			if !strings.Contains(part(text, "Exchange"), "**User:** ") {
				t.Errorf("%s: the exchange is %q", name, part(text, "Exchange"))
			}
		}),
		"000-57": func(t *testing.T) {
			if got := part(texts["guardian"], "Outcome"); !strings.Contains(got, "Conditional Approval") || !strings.Contains(got, "a second rope") {
				t.Errorf("the Guardian's outcome is %q", got)
			}
		},
		"000-58": func(t *testing.T) {
			if got := part(texts["dragon"], "Outcome"); !strings.Contains(got, "Dragon Slain") || !strings.Contains(got, "1. **met** – plan.md:1") {
				t.Errorf("the Dragon's outcome is %q", got)
			}
		},
		"000-68": func(t *testing.T) {
			for _, tag := range []string{"🐻 Bear", "🐱 Cat", "🦉 Owl", "🐶 Puppy", "🐰 Rabbit", "🐺 Wolf", "🎓 Simon"} {
				if n := strings.Count(part(texts["council"], "Exchange"), "**"+tag+":** "); n != 1 {
					t.Errorf("%s speaks %d times", tag, n)
				}
			}
		},
		"000-73": each(func(t *testing.T, name, text string) {
			order := []int{strings.Index(text, "agent: "), strings.Index(text, "\n### Context\n"), strings.Index(text, "\n### Exchange\n")}
			if i := strings.Index(text, "\n### Outcome\n"); i >= 0 {
				order = append(order, i)
			}
			if !slices.IsSorted(order) || order[0] < 0 {
				t.Errorf("%s has its parts at %v", name, order)
			}
		}),
		"000-111": each(func(t *testing.T, name, _ string) {
			if quest.ConversationsDir != ".campaign/conversations" {
				t.Errorf("%s lies in %s", name, quest.ConversationsDir)
			}
		}),
	} {
		t.Run(id, check)
	}
	proved(t, dir, 7)
}

// TestSeedDressed holds the files of a dressed party against the protocol: the
// skin's name in file and header, the profile's emoji in the tags.
func TestSeedDressed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pack, err := profile.Library{}.Find("builtin:hundred-acre-wood")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (profile.Project{Dir: dir}).Install(pack, nil, false); err != nil {
		t.Fatal(err)
	}
	played := seedCampaign(t, dir)
	for _, c := range []struct{ id, name, file, skin, tag string }{
		{"000-10", "cat", "2026-02-14-12-00-cat(eeyore).md", "Eeyore", "**🫏 Eeyore:** "},
		{"000-12", "define", "2026-02-14-12-00-gandalf(christopher-robin).md", "Christopher Robin", "**👦 Christopher Robin:** "},
		{"000-65", "guardian", "2026-02-14-12-00-guardian(kanga).md", "Kanga", "**🦘 Kanga:** "},
		{"000-61", "dragon", "2026-02-14-12-00-dragon(heffalump).md", "Heffalump", "**🐘 Heffalump:** "},
	} {
		t.Run(c.id, func(t *testing.T) {
			if got := played[c.name].Conversation; got != c.file {
				t.Fatalf("filed as %s", got)
			}
			text := conversation(t, dir, c.file)
			if !strings.Contains(text, "\nprofile-name: "+c.skin+"\n") || !strings.Contains(text, "\n"+c.tag) {
				t.Errorf("the file is\n%s", text)
			}
		})
	}
}

// TestSeedScoped holds what an evaluator is told against "Input Scoping" of the
// isolation protocol: the criteria and where the work lies, and nothing of the
// party, its effort or what it thinks of its work.
func TestSeedScoped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, quest.QuestFile, aQuest)
	write(t, dir, "plan.md", "A bridge.\n")
	h, err := (stage{dir: dir}).house()
	if err != nil {
		t.Fatal(err)
	}
	told := map[policy.Role]string{}
	for _, in := range []Evaluate{
		{Role: policy.Dragon, Paths: []string{"plan.md"}, Words: "confront plan.md"},
		{Role: policy.Guardian, Stage: "plan", Paths: []string{"plan.md"}, Words: "checkpoint --stage plan plan.md"},
	} {
		e, err := h.Examine(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		v := h.evaluation(nil, in, e)
		p, err := h.plan(t.Context(), e.Opening, v.extras())
		if err != nil {
			t.Fatal(err)
		}
		told[in.Role] = p.System + "\n" + v.c.Framing()
	}
	for id, check := range map[string]func(*testing.T){
		"002-24": func(t *testing.T) {
			for role, text := range told {
				if !strings.Contains(text, "You work apart from the party, and you stay apart") {
					t.Errorf("%s is not told to keep apart:\n%s", role, text)
				}
			}
		},
		"002-37": func(t *testing.T) {
			for role, want := range map[policy.Role][]string{policy.Dragon: {"quest/criteria.md", "work/", "quest/mode.txt"}, policy.Guardian: {`"plan"`, "work/", "quest/mode.txt"}} {
				for _, w := range want {
					if !strings.Contains(told[role], w) {
						t.Errorf("%s is not told of %s:\n%s", role, w, told[role])
					}
				}
			}
		},
		"002-38": func(t *testing.T) {
			if text := told[policy.Dragon]; !strings.Contains(text, "1. A bridge stands") || !strings.Contains(text, "Test the work against each of these criteria and nothing else") {
				t.Errorf("the Dragon is told\n%s", text)
			}
		},
		"002-39": func(t *testing.T) {
			for role, text := range told {
				for _, never := range []string{"village", "flood", "Cross the river", "Quest defined", "challenges", "have been working", "think they"} {
					if strings.Contains(text, never) && !(never == "Cross the river" && role == policy.Guardian) {
						t.Errorf("%s is told of %q:\n%s", role, never, text)
					}
				}
			}
		},
	} {
		t.Run(id, check)
	}
}
