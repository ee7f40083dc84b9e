package offline

import (
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"conclave/agent"
	"conclave/table"
	"conclave/table/adventure"
	"conclave/table/journal"
)

// at is a table without an engine: it carries messages to and fro and writes
// down what the game master files.
type at struct {
	t     *testing.T
	files fstest.MapFS
	gm    *gm
	told  []string // everything that the party was told
	alone map[string][]string
	calls int
}

func sit(t *testing.T) *at {
	t.Helper()
	src, err := adventure.Open(adventure.Default)
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	err = fs.WalkDir(src, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(src, path)
		files["campaign/"+path] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return &at{t: t, files: files, gm: &gm{files: files}, alone: map[string][]string{}}
}

const roster = "# The table\n- bram-oatley · Bram Oatley · present · AI\n- corin-vale · Corin Vale · present · AI\n- ysolde-marrow · Ysolde Marrow · present · AI\n"

var (
	fileBlock = regexp.MustCompile(`(?s)\[FILE(\+?): ([^\]]+)\]\n(.*?)\n?\[/FILE\]`)
	toBlock   = regexp.MustCompile(`(?s)\[TO: ([^\]]+)\]\n(.*?)\n\[/TO\]`)
	signal    = regexp.MustCompile(`(?m)^\[AWAIT_AI_PLAYERS: ([^\]]+)\]$`)
	rolling   = regexp.MustCompile(`(?m)^\[ROLL: ([^|]+) \|`)
)

// tell gives the game master a message and takes what it says.
func (a *at) tell(text string) string {
	a.t.Helper()
	if a.calls++; a.calls > 100 {
		a.t.Fatal("the session does not end")
	}
	out, err := a.gm.Answer(context.Background(), agent.Message{Text: text})
	if err != nil || len(out) != 1 {
		a.t.Fatalf("%q, %v", out, err)
	}
	for _, m := range fileBlock.FindAllStringSubmatch(out[0], -1) {
		file := a.files["campaign/"+m[2]]
		if file == nil || m[1] == "" {
			file = &fstest.MapFile{}
			a.files["campaign/"+m[2]] = file
		}
		file.Data = append(file.Data, m[3]...)
	}
	public := fileBlock.ReplaceAllString(out[0], "")
	for _, m := range toBlock.FindAllStringSubmatch(public, -1) {
		a.alone[m[1]] = append(a.alone[m[1]], m[2])
	}
	a.told = append(a.told, toBlock.ReplaceAllString(public, ""))
	return out[0]
}

// ask lets a player answer the prompt that stands in its file.
func (a *at) ask(who string) (kind, text string) {
	a.t.Helper()
	prompt := string(a.files["campaign/tmp/"+who+"-prompt.md"].Data)
	parsed, err := table.ParsePrompt([]byte(prompt), table.Caps{}.WithDefaults())
	if err != nil {
		a.t.Fatalf("%s is sent a prompt that the table refuses: %v\n%s", who, err, prompt)
	}
	sheet := a.files["campaign/party/"+who+".md"]
	p := &player{files: fstest.MapFS{"sheet.md": sheet, "prompt.md": {Data: []byte(prompt)}}}
	out, err := p.Answer(context.Background(), agent.Message{Text: "Character: " + who + "\nRequest: " + string(parsed.Type) + "\n\n"})
	if err != nil {
		a.t.Fatal(err)
	}
	words, notes, _ := strings.Cut(out[0], "[NOTES]")
	if strings.TrimSpace(notes) == "" {
		a.t.Errorf("%s has no notes", who)
	}
	kind = "answer"
	if strings.HasPrefix(words, "[VETO") {
		kind = "veto"
	}
	return kind, words
}

// TestTheAdventureIsPlayedToItsEnd plays fallow-weir once with luck and once
// without.
func TestTheAdventureIsPlayedToItsEnd(t *testing.T) {
	for _, luck := range []string{"success (+2)", "failure (−3)"} {
		t.Run(luck, func(t *testing.T) {
			a := sit(t)
			vetoes, secrets, rolls := a.play(luck)
			if vetoes == 0 || secrets != 3 || rolls != 3 {
				t.Errorf("%d vetoes, %d secret answers, %d rolls; want some, 3 and 3", vetoes, secrets, rolls)
			}
			story := strings.Join(a.told, "\n")
			for _, b := range book {
				title, _, _ := strings.Cut(b.scene, " | ")
				if !strings.Contains(story, title) {
					t.Errorf("the scene %q was not played", title)
				}
			}
			if strings.Contains(story, "not burn it") {
				t.Error("a secret action was told to everyone")
			}
			for _, who := range []string{"bram-oatley", "corin-vale", "ysolde-marrow"} {
				if len(a.alone[who]) != 1 {
					t.Errorf("%s was told %d things alone, want 1", who, len(a.alone[who]))
				}
			}
		})
	}
}

func (a *at) play(luck string) (vetoes, secrets, rolls int) {
	out := a.tell("Event: session-start\nCampaign: weir\n\n" + roster)
	for !strings.Contains(out, "[END_SESSION]") {
		switch m := signal.FindStringSubmatch(out); {
		case m != nil:
			message := "Event: responses\n\n"
			for who := range strings.SplitSeq(m[1], ", ") {
				kind, text := a.ask(who)
				if kind == "veto" {
					vetoes++
				}
				if strings.Contains(text, "undo the knot") || strings.Contains(text, "not burn it") || strings.Contains(text, "he was not afraid") {
					secrets++
				}
				message += fmt.Sprintf("Answer of %s (QUICK_REACTION): %s\n%s\n", who, kind, table.QuoteForGM("00ff", who, "words", text))
			}
			out = a.tell(message)
		case rolling.MatchString(out):
			rolls++
			out = a.tell("Event: rolls\n\nRoll #1 · bram-oatley · x: 1d20 = [3] = 3 vs DC 13 — " + luck + "\n")
		default:
			a.gm = &gm{files: a.files} // a new process at every turn: it must not have forgotten
			out = a.tell("Event: continue\n\n" + roster)
		}
	}
	return vetoes, secrets, rolls
}

func TestKeeperWritesAnEntryThatTheTableAccepts(t *testing.T) {
	out, err := keeper{}.Answer(context.Background(), agent.Message{Text: "Character: bram-oatley\n\n# What happened\nThe lamp is dark. They cross the weir.\n\n# What only you saw\nNobody saw it.\n\n# Your notes\nI said little. I was afraid.\n"})
	if err != nil {
		t.Fatal(err)
	}
	entry, missing := journal.ParseEntry(out[0])
	if len(missing) > 0 || entry.Title == "" || !strings.Contains(entry.Happened, "cross the weir") || !strings.Contains(entry.Did, "I said little") {
		t.Errorf("entry %+v, missing %v", entry, missing)
	}
}

func TestAPersonsCharacterIsNotAsked(t *testing.T) {
	a := sit(t)
	out := a.tell("Event: session-start\n\n# The table\n- bram-oatley · Bram Oatley · present · person\n- corin-vale · Corin Vale · dead · AI\n- ysolde-marrow · Ysolde Marrow · present · AI\n")
	if m := signal.FindStringSubmatch(out); m == nil || m[1] != "ysolde-marrow" {
		t.Errorf("asked: %v", m)
	}
}

// TestWordsOfAPerson: what a person says now is in the story, once, with their
// name; what they said before is not told again.
func TestWordsOfAPerson(t *testing.T) {
	said := func(who, text string) string { return table.QuoteForGM("d", who, "words", text) }
	before := "# So far\n\nCycle 1\n\n" + said("bram-oatley", "I read the letter.") + "\n# Now\n\n"
	for now, want := range map[string]string{
		said("bram-oatley", "I go to the mill.\nAlone."): "Bram Oatley: I go to the mill. Alone.\n\n[SCENE: ",
		said("table", "They go to the mill."):            "They go to the mill.\n\n[SCENE: ",
		"Nobody has anything to add.\n":                  "",
	} {
		out := sit(t).tell("Input: said\nCycle: 2\n\n" + roster + before + now)
		if strings.Contains(out, "I read the letter") || !strings.Contains(out, want) || want == "" && strings.Contains(out, "Bram Oatley: ") {
			t.Errorf("after %q: %s", now, out)
		}
	}
}

func TestTitleOfAnEntry(t *testing.T) {
	for happened, want := range map[string]string{
		"The rain thins, and there is the weir. It is dark.":              "The rain thins",
		"Bram Oatley: I go.\n\nRoll #1 · bram: 3\n\nTwo men stand there.": "Two men stand there",
		"Bram Oatley: I go.": "By the river",
		"":                   "By the river",
	} {
		if got := titleOf(happened); got != want {
			t.Errorf("%q is called %q, want %q", happened, got, want)
		}
	}
}
