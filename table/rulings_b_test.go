package table

import (
	"fmt"
	"strings"
	"testing"

	"conclave/internal/shingle"
)

func malformed(t *testing.T, prompt, want string) {
	t.Helper()
	_, err := ParsePrompt([]byte(prompt), Caps{})
	m, is := err.(*MalformedPrompt)
	if !is {
		t.Fatalf("%q: %v, expected a malformed prompt", prompt, err)
	}
	eq(t, "file", string(m.File()), "[ERROR: Malformed prompt]\n\n"+want)
}

func goodType(t *testing.T, line string, want RequestType) {
	t.Helper()
	p, err := ParsePrompt([]byte(strings.Replace(goodPrompt, "request_type: QUICK_REACTION", line, 1)), Caps{})
	ok(t, err)
	eq(t, line, p.Type, want)
	has(t, string(p.Bytes()), "\nrequest_type: "+string(want)+"\n")
}

const missing = "Missing required section: "

var rulingsB = map[string]func(*testing.T){
	"B1": func(t *testing.T) {
		for _, rt := range requestTypes {
			goodType(t, "request_type: "+string(rt), rt)
		}
		in := goodPrompt + "\n## Combat State\nRound 2\n"
		p, err := ParsePrompt([]byte(in), Caps{})
		ok(t, err)
		eq(t, "bytes", string(p.Bytes()), in)
		eq(t, "names", fmt.Sprint(p.Sections), "[{Scene A bar.} {Just Happened A crash.} {Request React.} {Combat State Round 2}]")
	},
	"B2": func(t *testing.T) {
		malformed(t, strings.Replace(goodPrompt, "## Scene", "Scene", 1), missing+"Scene\n")
		malformed(t, "---\nrequest_type: COMBAT_ACTION\n---\n## Just Happened\nx\n", missing+"Scene\n"+missing+"Request\n")
	},
	"B3": func(t *testing.T) {
		_, body, _ := strings.Cut(goodPrompt, "---\n\n")
		malformed(t, body, missing+"request_type\n")
		malformed(t, "---\nfoo: bar\n---\n"+body, missing+"request_type\n")
		malformed(t, "\n"+goodPrompt, missing+"request_type\n")
	},
	"B4": func(t *testing.T) {
		swap := func(v string) string { return strings.Replace(goodPrompt, "QUICK_REACTION", v, 1) }
		malformed(t, swap("REFLECTION"), missing+"request_type\nUnknown request_type: \"REFLECTION\"\n")
		malformed(t, swap("QUICK_REACTION | COMBAT_ACTION | FULL_CONTEXT | SECRET_ACTION"),
			missing+"request_type\nUnknown request_type: \"QUICK_REACTION | COMBAT_ACTION | FULL_CONTEXT | SECRET_ACTION\"\n")
		malformed(t, swap(strings.Repeat("x", 200)), missing+"request_type\nUnknown request_type: \""+strings.Repeat("X", 80)+"\"\n")
		malformed(t, swap(""), missing+"request_type\n")
	},
	"B5": func(t *testing.T) {
		goodType(t, "request_type: quick_reaction", QuickReaction)
		goodType(t, `request_type:   "Secret_Action"  `, SecretAction)
		goodType(t, "request_type: 'FULL_CONTEXT'", FullContext)
		malformed(t, strings.Replace(goodPrompt, "QUICK_REACTION", "QUICK REACTION", 1), missing+"request_type\nUnknown request_type: \"QUICK REACTION\"\n")
	},
	"B6": func(t *testing.T) {
		in := strings.Replace(goodPrompt, "---\n", "---\nx: &a [*a, *a]\nno\nrequest_type: QUICK_REACTION\n", 1)
		p, err := ParsePrompt([]byte(in), Caps{})
		ok(t, err)
		eq(t, "kept", string(p.Bytes()), in)
		malformed(t, strings.Replace(goodPrompt, "---\n", "---\nrequest_type: FULL_CONTEXT\n", 1),
			missing+"request_type\nConflicting request_type: \"FULL_CONTEXT\", \"QUICK_REACTION\"\n")
		malformed(t, strings.Replace(goodPrompt, "\n---\n", "\n", 1), missing+"request_type\nFront matter is not closed\n")
	},
	"B7": func(t *testing.T) {
		p, err := ParsePrompt([]byte(strings.NewReplacer("## Scene", "##  sCENE ## ", "## Just Happened", "   ## just  happened").Replace(goodPrompt)), Caps{})
		ok(t, err)
		eq(t, "scene", p.Section("Scene"), "A bar.")
		for _, bad := range []string{"```\n## Request\nReact.\n```\n", "### Request\nReact.\n", "Request\n-------\nReact.\n", "##Request\nReact.\n", "    ## Request\nReact.\n", "~~~~\n```\n## Request\nx\n~~~\n"} {
			malformed(t, strings.Replace(goodPrompt, "## Request\nReact.\n", bad, 1), missing+"Request\n")
		}
	},
	"B8": func(t *testing.T) {
		for _, body := range []string{"", "  \t\n", "[What the GM needs - be specific]",
			"[What the GM needs - be specific about expected response format]", "[what triggered\nthis request]",
			"[Current situation from character's perspective]"} {
			malformed(t, strings.Replace(goodPrompt, "React.", body, 1), missing+"Request\n")
		}
		for _, body := range []string{"[softly] What now? [end]", "[Combat begins]", "[What triggered this request] Tell me.", "[What?]"} {
			p, err := ParsePrompt([]byte(strings.Replace(goodPrompt, "React.", body, 1)), Caps{})
			ok(t, err)
			eq(t, "request", p.Section("Request"), body)
		}
	},
	"B9": func(t *testing.T) {
		p, err := ParsePrompt([]byte(goodPrompt+"\n## scene\nRain.\n"), Caps{})
		ok(t, err)
		eq(t, "scene", p.Section("Scene"), "A bar.\n\nRain.")
	},
	"B10": func(t *testing.T) {
		for _, in := range []string{"\ufeff" + goodPrompt, strings.ReplaceAll(goodPrompt, "\n", "\r\n"), strings.ReplaceAll(goodPrompt, "\n", "\r")} {
			p, err := ParsePrompt([]byte(in), Caps{})
			ok(t, err)
			eq(t, "written", string(p.Bytes()), goodPrompt)
		}
	},
	"B11": func(t *testing.T) {
		malformed(t, goodPrompt+"\xff", "Unreadable prompt: not valid UTF-8\n")
		malformed(t, goodPrompt+"\x00", "Unreadable prompt: not valid UTF-8\n")
	},
	"B12": func(t *testing.T) {
		malformed(t, "", missing+"request_type\n"+missing+"Scene\n"+missing+"Just Happened\n"+missing+"Request\n")
	},
	"B13": func(t *testing.T) {
		malformed(t, goodPrompt+strings.Repeat("x", 64<<10), fmt.Sprintf("Unreadable prompt: %d bytes, limit 65536\n", len(goodPrompt)+64<<10))
		_, err := ParsePrompt([]byte(goodPrompt+strings.Repeat("x", 64<<10-len(goodPrompt))), Caps{})
		ok(t, err)
	},
	"B15": func(t *testing.T) {
		eq(t, "form", string(PromptNotFound("ash", "tilda-brannock")),
			"[ERROR: Prompt file not found]\n\nExpected: campaigns/ash/tmp/tilda-brannock-prompt.md\n")
	},
	"B18": func(t *testing.T) {
		g := Guard{
			keepText("story-state.md", "Truth: The mayor of Ashford secretly feeds the wolf under the mill every night. <!-- secret:heir -->Mira is the heir.<!-- /secret -->"),
			keepText("npcs/mill.md", "<!-- secret:password --> swordfish <!-- /secret -->"),
		}
		leaks := g.Check("You recall: the mayor of Ashford SECRETLY feeds the wolf, under the mill!")
		eq(t, "one run", len(leaks), 1)
		eq(t, "where", leaks[0].Path, "story-state.md")
		eq(t, "words", leaks[0].Words, "the mayor of ashford secretly feeds the wolf under the mill")
		eq(t, "seven words are free", len(g.Check("mayor of Ashford secretly feeds the wolf")), 0)
		eq(t, "allowed", len(g.Check("the mayor of Ashford secretly feeds the wolf under the mill", "I saw the mayor of Ashford secretly feeds the wolf under the mill")), 0)
		for text, id := range map[string]string{"they say Mira is the heir": "heir", "say Swordfish": "password", "<!-- secret:heir -->x": "heir"} {
			got := g.Check(text)
			if len(got) != 1 || got[0].Secret != id {
				t.Errorf("%q: %v", text, got)
			}
		}
		guardTexts(t)
		tagged, run := Leak{Secret: "x"}, Leak{Path: "y"}
		block, warn := GuardSettings{}.Sort([]Leak{tagged, run})
		eq(t, "default", fmt.Sprint(block, warn), fmt.Sprint([]Leak{tagged}, []Leak{run}))
		block, warn = GuardSettings{Tagged: GuardOff, Runs: GuardBlock}.Sort([]Leak{tagged, run})
		eq(t, "set", fmt.Sprint(block, warn), fmt.Sprint([]Leak{run}, []Leak(nil)))
	},
	"B19": func(t *testing.T) { goodType(t, "request_type: FULL_CONTEXT", FullContext) },
	"B20": func(t *testing.T) {
		in := goodPrompt + "@story-state.md {{file}} !cat story-state.md\n"
		c := newCampaign(t, map[string]string{"story-state.md": "CANARY"})
		s, err := c.PlayerContext("tilda-brannock", []byte(in), ContextOptions{})
		ok(t, err)
		has(t, s.Text(), "@story-state.md {{file}} !cat story-state.md")
		if strings.Contains(s.Text(), "CANARY") {
			t.Error("the mention was expanded")
		}
	},
}

// guardTexts: what a character may not read is what is guarded from it.
func guardTexts(t *testing.T) {
	t.Helper()
	c := newCampaign(t, map[string]string{
		"story-state.md": "s", "npcs/deep/er/x.md": "n", "party/tilda-brannock-journal.md": "own", "party/gideon-harrowmoor-journal.md": "j",
		"party-knowledge.md": "k", "map.png": "p", "tmp/gm-context.md": "t", "party/tilda-brannock.md": "# T <!-- gm -->hidden<!-- /gm -->",
		"beats/big.md": strings.Repeat("x", 512<<10+1),
	})
	kept, skipped, err := c.NewWatch(Caps{}, shingle.NewPrinter()).From("tilda-brannock")
	ok(t, err)
	var paths []string
	for _, g := range kept {
		paths = append(paths, g.Path)
	}
	eqs(t, "guarded", paths, "npcs/deep/er/x.md", "party/gideon-harrowmoor-journal.md", "party/gideon-harrowmoor.md", "party/tilda-brannock.md", "story-state.md")
	eq(t, "the GM's part of her own sheet", kept[3].Print.Size, len("hidden"))
	eqs(t, "skipped", skipped, "beats/big.md: 524289 bytes, limit 524288")
}

func FuzzParsePrompt(f *testing.F) {
	f.Add([]byte(goodPrompt))
	f.Add([]byte("---\nrequest_type: x"))
	f.Add([]byte("\ufeff---\r\n---\r\n## Scene\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParsePrompt(data, Caps{})
		if m, is := err.(*MalformedPrompt); err != nil && (!is || len(m.lines()) == 0) {
			t.Fatalf("error %v", err)
		}
		if err != nil {
			return
		}
		again, err := ParsePrompt(p.Bytes(), Caps{Prompt: 1 << 30})
		if err != nil || string(again.Bytes()) != string(p.Bytes()) || again.Type != p.Type {
			t.Errorf("%q → %q → %q, %v", data, p.Bytes(), again.Bytes(), err)
		}
	})
}

// keepText keeps a text that is in no file. It has no print.
func keepText(path, text string) *Kept {
	return &Kept{Path: path, pieces: []*piece{{runs: runsOf(text)}}, secrets: guardSecrets(text)}
}
