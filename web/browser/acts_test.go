package browser

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/chromedp"
)

// driven are the acts of each test that plays on the page: labels of what a person can
// do, and the verbs that came to their end. Each test holds that it did them.
var driven = map[string][]string{
	"TestQuestFromStartToDragon": {"Begin a quest", "StartQuest", "Consult somebody", "Consult", "Note progress", "LogProgress",
		"Face the Dragon", "Confront"},
	"TestEveryDeedOfAQuest": {"Ask the Guardian", "Checkpoint", "Return to the work", "ReturnToQuest", "Note progress", "LogProgress",
		"WithdrawProgress", "Hold a council", "Council", "Put work before a gate", "Gate", "Face the Dragon", "Confront", "Debrief",
		"Consult somebody", "Consult", "Go on", "ContinueQuest", "Put the quest away", "ArchiveQuest", "Repair quest.md", "RepairQuest"},
	"TestEveryDeedOfATable": {"From an adventure", "NewTable", "An empty campaign", "In talk", "TalkNewTable",
		"Play", "PlayTable", "Say something", "SayAtTable", "Roll dice", "Roll", "RevealRoll", "Save", "SaveTable", "Restore", "RestoreTable",
		"Go on with the cycle", "ResumeTable", "End the session", "EndSession", "Step away", "Come back", "Seats",
		"Chat with a character", "ChatWithCharacter", "Fork", "ForkTable", "Ask characters", "SignalTable",
		"Rename a character", "RenameCharacter", "Let another total stand", "OverrideRoll", "Say whether dice always stand",
		"ForbidOverrides", "Give the dice words of your own", "SeedDice", "Show the seed", "RotateDice", "Seal the dice", "SealDice"},
}

// verbForm says whether an act is a verb's name.
func verbForm(act string) bool {
	return regexp.MustCompile(`^[A-Z][a-z]+([A-Z][a-z]+)+$`).MatchString(act)
}

// pageActs are what the page has words for: its deeds, and its verbs.
type pageActs struct {
	Verbs, Deeds, Goes, Ways []string
}

func actsOf(t *testing.T, tab *Tab) pageActs {
	t.Helper()
	acts, err := Eval[pageActs](tab, fmt.Sprintf(`(async () => {
		const { t } = %s, deeds = [...Object.values(t.quest.deed), ...Object.values(t.table.deed)];
		const { ways } = await import(new URL('deeds.js', document.querySelector('script[type=module]').src));
		return { verbs: Object.keys(t.jobs.verbs), ways: Object.keys(ways), goes: deeds.map(d => d.go),
			deeds: [...deeds.map(d => d.label), t.table.fromAdventure, t.table.blank, t.table.inTalk] };
	})()`, core))
	if err != nil || len(acts.Verbs) < 30 || len(acts.Deeds) < 30 {
		t.Fatalf("the page has words for %d verbs and %d deeds: %v", len(acts.Verbs), len(acts.Deeds), err)
	}
	return acts
}

// Whatever the page lets a person do, a test does in a browser; and what it has words
// for is what the program lets it call.
func TestEveryActIsDriven(t *testing.T) {
	_, tab := inside(t)
	acts := actsOf(t, tab)
	done := slices.Concat(slices.Collect(maps.Values(driven))...)
	for _, act := range slices.Concat(acts.Verbs, acts.Deeds) {
		if !slices.Contains(done, act) {
			t.Errorf("no test does this in a browser: %s", act)
		}
	}
	for i, label := range acts.Deeds {
		if slices.Contains(acts.Deeds[:i], label) || slices.Contains(acts.Goes, label) {
			t.Errorf("two buttons are called %q: who speaks to the page has to guess", label)
		}
	}
	if called := constants(t, "app/call.go", `(?m)^\t"(.*)",$`, `\w+`); !sameSet(called, acts.Verbs) {
		t.Errorf("the program can be called for\n%v, the page has words for\n%v", called, acts.Verbs)
	}
	if offers := constants(t, "quest/offers.go", `(?m)^\tAct\w+ +Action = ("\w+")`, `\w+`); !sameSet(offers, acts.Ways) {
		t.Errorf("a quest offers\n%v, the page has a way for\n%v", offers, acts.Ways)
	}
}

// constants are the words that stand in lines of a source file.
func constants(t *testing.T, file, line, word string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, file))
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(line).FindAllStringSubmatch(string(text), -1) {
		list = append(list, regexp.MustCompile(word).FindAllString(found[1], -1)...)
	}
	if len(list) < 10 {
		t.Fatalf("%s has only %v", file, list)
	}
	return list
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// Everything that a person does with a quest, but for what TestQuestFromStartToDragon
// shows: judged by the Guardian and a gate, talked about, cited, interrupted and gone
// on with, put away and repaired.
func TestEveryDeedOfAQuest(t *testing.T) {
	p := enters(t, serve(t, begun(t)))
	p.visit("/quest")

	p.press("button", "Ask the Guardian")
	p.write("Stage", "draft")
	p.write("The work", "README.md")
	p.press("button", "Hold the checkpoint")
	p.ends("Checkpoint")
	p.wait(`document.querySelector('article[data-verb=Checkpoint] .verdict .badge')?.innerText`)
	p.press("button", "Return to the work")
	p.press("button", "Return")
	p.ends("ReturnToQuest")

	p.press("button", "Note progress")
	p.write("What was done?", "A line that is wrong.")
	p.reload() // what was typed is still there
	p.wait(`[...document.querySelectorAll('form.action textarea, form.action input')].some(f => f.value === 'A line that is wrong.')`)
	p.press("button", "Note it")
	p.ends("LogProgress")
	p.reload() // and once sent, no more
	p.wait(`document.querySelector('ol.progress li') && !document.querySelector('form.action')`)
	p.press("button", p.lastNamed("Take back entry"))
	p.ends("WithdrawProgress")
	p.wait(`document.querySelectorAll('ol.progress li').length > 1 && /withdrawn/i.test(document.querySelector('ol.progress').innerText)`)

	p.press("button", "Hold a council")
	p.press("button", "Call the council")
	p.ends("Council")
	p.followsACitation()

	p.press("button", "Put work before a gate")
	p.write("Criteria", "There is a file README.md.")
	p.write("The work", "README.md")
	p.press("button", "Judge")
	p.ends("Gate")
	p.wait(`document.querySelector('article[data-verb=Gate] .findings li')`)

	p.interrupted()
	p.evaluation()

	p.press("button", "Face the Dragon")
	p.write("The work", "README.md\nmain.go")
	p.press("button", "Let it judge")
	p.ends("Confront")
	p.press("button", "Debrief")
	p.press("button", "Look back")
	p.ends("Debrief", "It went well.")

	p.press("button", "Put the quest away")
	p.press("button", "Put it away")
	p.ends("ArchiveQuest")
	p.wait(`document.querySelector('h1').innerText === 'No quest yet'`)
	p.repairs()
	p.clean()
	p.drove()
}

// begun is a world in which a quest was begun on the command line.
func begun(t *testing.T) World {
	t.Helper()
	w := world(t)
	program, err := theProgram()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range project {
		if err := write(filepath.Join(w.Workspace, name), text); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range furnishing {
		if args[0] == "init" || args[0] == "quest" {
			if out, err := w.Command(program, args...).CombinedOutput(); err != nil {
				t.Fatalf("conclave %s: %v\n%s", strings.Join(args, " "), err, out)
			}
		}
	}
	return w
}

// lastNamed is the name of the last button whose name begins so.
func (p *player) lastNamed(prefix string) string {
	p.t.Helper()
	last := fmt.Sprintf(`[...document.querySelectorAll('main button[aria-label^=%q]')].at(-1)?.getAttribute('aria-label')`, prefix)
	p.wait(last)
	name, err := Eval[string](p.tab, last)
	if err != nil {
		p.t.Fatal(err)
	}
	return name
}

// followsACitation presses a place that an advisor has named, and holds that its line
// is shown, as it stands in the file.
func (p *player) followsACitation() {
	p.t.Helper()
	p.wait(`(() => { for (const d of document.querySelectorAll('article[data-verb=Council] details')) d.open = true;
		return document.querySelector('article[data-verb=Council] a.cite') })()`)
	cited, err := Eval[string](p.tab, `document.querySelector('article[data-verb=Council] a.cite').innerText`)
	if err != nil {
		p.t.Fatal(err)
	}
	file, line, _ := strings.Cut(cited, ":")
	text, err := os.ReadFile(filepath.Join(p.s.World.Workspace, file))
	if err != nil {
		p.t.Fatalf("%s is cited: %v", cited, err)
	}
	var number int
	if _, err := fmt.Sscan(line, &number); err != nil {
		p.t.Fatalf("%s is cited: %v", cited, err)
	}
	p.press("link", cited)
	p.wait(`location.pathname === '/quest/file' && document.querySelector('tr.meant mark')`)
	want := strings.TrimSpace(strings.Split(string(text), "\n")[number-1])
	if got, err := Eval[string](p.tab, `document.querySelector('tr.meant mark').innerText.trim()`); err != nil || got != want {
		p.t.Errorf("%s shows %q, %v; there stands %q", cited, got, err, want)
	}
	p.press("link", "← Quest")
	p.wait(`location.pathname === '/quest' && document.querySelector('ol.criteria')`)
}

// interrupted begins a talk, stops it, and goes on with it.
func (p *player) interrupted() {
	p.t.Helper()
	p.press("button", "Consult somebody")
	p.write("What do you say?", "What is missing?")
	p.press("button", "Talk")
	p.asked("Consult")
	p.stops("Consult")
	p.reads("Interrupted, and not over")
	p.press("button", "Go on")
	p.press("button", "Go on now")
	p.ends("ContinueQuest")
	p.wait(`!document.querySelector('main').innerText.includes('Interrupted, and not over')`)
}

// evaluation follows "Ask for an evaluation or counsel" to what is behind it.
func (p *player) evaluation() {
	p.t.Helper()
	p.press("button", "Ask for an evaluation or counsel")
	p.wait(`[...document.querySelectorAll('main .choices button')].some(b => b.innerText.startsWith('Counsel from'))`)
	p.press("button", "Guardian's checkpoint first")
	p.wait(`document.querySelector('form.action h3')?.innerText === 'Ask the Guardian'`)
	p.press("button", "Close")
}

// repairs brings a quest that is damaged, as a clone can, and repairs it.
func (p *player) repairs() {
	p.t.Helper()
	archived, err := filepath.Glob(filepath.Join(p.s.World.Workspace, ".campaign", "archive", "*.md"))
	if err != nil || len(archived) != 1 {
		p.t.Fatalf("the archive has %v, %v", archived, err)
	}
	text, err := os.ReadFile(archived[0])
	if err != nil {
		p.t.Fatal(err)
	}
	damaged := regexp.MustCompile(`(?m)^campaign-mode:.*\n`).ReplaceAll(text, nil)
	if len(damaged) == len(text) {
		p.t.Fatalf("quest.md has no mode:\n%s", text)
	}
	if err := write(filepath.Join(p.s.World.Workspace, ".campaign", "quest.md"), string(damaged)); err != nil {
		p.t.Fatal(err)
	}
	p.reload()
	p.reads("It can be repaired")
	p.press("button", "Repair quest.md")
	p.press("button", "Repair it")
	p.ends("RepairQuest")
	p.wait(`!document.querySelector('main').innerText.includes('It can be repaired')`)
}

// Everything that a person does at tables, from making them to the damage of their dice.
func TestEveryDeedOfATable(t *testing.T) {
	p := enters(t, serve(t, world(t)))
	p.makesTables()

	p.press("link", "Sit down at weir")
	p.wait(`document.querySelector('h1').innerText === 'weir' && document.querySelector('.seats [aria-pressed=true]')`)
	p.dice()
	p.keeps()
	p.plays()
	p.leavesAndTalks()
	p.masters()
	p.damagedDice()
	p.cuts()
	p.clean()
	p.drove()
}

// makesTables makes one of an adventure, an empty one, and one in talk.
func (p *player) makesTables() {
	p.t.Helper()
	p.visit("/table")
	p.press("button", "An empty campaign")
	p.write("Name", "bare")
	p.write("Characters", "Ada\nBo")
	p.press("button", "Make it")
	p.ends("NewTable")
	p.press("button", "In talk")
	p.write("Name", "lore")
	p.press("button", "Begin a table")
	p.ends("TalkNewTable", "A lighthouse.", "The lamp is out.", "Somebody broke it.", "There is a sea.", "Ada", "A keeper.", "The lamp.",
		"Proud.", "Light.", "She broke it.", "Fear.", "", "yes")
	p.wait(`[...document.querySelectorAll('main a')].some(a => a.innerText === 'Sit down at lore')`)
	p.press("button", "From an adventure")
	p.write("Name", "weir")
	p.press("button", "Make it")
	p.ends("NewTable")
	p.wait(`document.querySelectorAll('main .card').length === 3`)
}

// sits looks from another seat.
func (p *player) sits(name string) {
	p.t.Helper()
	p.press("button", name)
	p.wait(fmt.Sprintf(`document.querySelector('main').getAttribute('aria-busy') === 'false' &&
		document.querySelector('.seats [aria-pressed=true]')?.innerText === %q`, name))
}

// dice are given words, fall, are opened, set aside, and proved.
func (p *player) dice() {
	p.t.Helper()
	p.sits("Game master")
	p.press("button", "Give the dice words of your own")
	p.write("The table’s own words", "three grey geese")
	p.press("button", "Give them")
	p.ends("SeedDice")
	p.press("button", "Roll dice")
	p.write("Dice", "twenty")
	p.press("button", "Roll")
	if text := p.comesTo("Roll", nil); !strings.Contains(text, "dice expression, column 1") {
		p.t.Errorf("what was wrong is not told: %s", text)
	}
	p.wait(`document.querySelector('article[data-verb=Roll] [role=alert]')`)
	p.press("button", "Roll dice") // what was typed can be mended
	p.wait(`[...document.querySelectorAll('form.action input')].some(f => f.value === 'twenty')`)
	p.press("button", "Close")
	p.press("button", "Roll dice")
	p.write("Dice", "1d20+3")
	p.write("What for", "a look behind the door")
	p.choose("Who sees it", "sealed")
	p.press("button", "Roll")
	p.ends("Roll")
	p.press("link", "Dice")
	p.reads("three grey geese")
	p.press("button", "Open roll 1 to everyone")
	p.ends("RevealRoll")
	p.reads("opened to everyone")
	p.press("button", "Let another total stand")
	p.write("Total that stands", "20")
	p.write("Why", "the door was open")
	p.press("button", "Let it stand")
	p.ends("OverrideRoll")
	p.reads("The game master lets 20 stand: the door was open.")
	p.press("button", "Say whether dice always stand")
	p.press("checkbox", "No other total may stand")
	p.press("button", "Note it")
	p.ends("ForbidOverrides")
	p.press("button", "Show the seed")
	p.press("button", "Show it")
	p.ends("RotateDice")
	p.reads("verified: seed shown, every roll computed again")
	p.press("button", "Check again")
	p.reads("every line holds")
}

// keeps saves the table, and makes another one of it.
func (p *player) keeps() {
	p.t.Helper()
	p.press("button", "Save")
	p.write("Save point", "before")
	p.press("button", "Keep it")
	p.ends("SaveTable")
	p.press("button", "Fork")
	p.write("Name", "weir-two")
	p.press("button", "Make it")
	p.ends("ForkTable")
	p.wait(`[...document.querySelectorAll('main a')].some(a => a.innerText === 'Sit down at weir-two')`)
}

// cuts plays as the game master, stops in the middle of a cycle, and goes on with it.
func (p *player) cuts() {
	p.t.Helper()
	p.visit("/table/bare?as=gm")
	p.press("button", "Play")
	p.press("button", "Sit down and play")
	p.asked("PlayTable")
	p.stops("PlayTable")
	p.press("button", "Go on with the cycle")
	p.press("button", "Go on now")
	p.ends("ResumeTable", "The sea is calm.")
	p.press("link", "Story")
	p.reads("The sea is calm.")
}

// plays plays in a seat to the end of a session, and goes back to before it.
func (p *player) plays() {
	p.t.Helper()
	p.sits("Bram Oatley")
	p.press("button", "Play")
	p.counts("Cycles", "1")
	p.press("button", "Sit down and play")
	p.ends("PlayTable", "I look at the lamp.")
	p.press("button", "Say something")
	p.write("What do you say, as Bram Oatley?", "I light the lamp.")
	p.press("button", "Say it")
	p.ends("SayAtTable", "I wait.")
	p.press("link", "Story")
	p.wait(`document.querySelector('.story')?.innerText.length > 80`)
	p.press("button", "End the session")
	p.press("button", "End it")
	if text := p.ends("EndSession"); !strings.Contains(text, "The session is over.") {
		p.t.Errorf("the end: %s", text)
	}
	p.press("button", "Restore")
	p.press("button", "Go back to it")
	p.ends("RestoreTable")
}

// leavesAndTalks leaves a seat, takes it again, and talks with a character outside of play.
func (p *player) leavesAndTalks() {
	p.t.Helper()
	p.press("button", "Step away")
	p.press("button", "Leave the seat")
	p.ends("Seats")
	p.press("button", "Come back")
	p.press("button", "Take the seat")
	p.ends("Seats")
	p.wait(`[...document.querySelectorAll('main button')].some(b => b.innerText === 'Step away')`)
	p.press("button", "Chat with a character")
	p.write("What do you say?", "Who are you?")
	p.press("button", "Chat")
	p.ends("ChatWithCharacter")
}

// masters does what the game master alone does.
func (p *player) masters() {
	p.t.Helper()
	p.sits("Game master")
	p.press("button", "Ask characters")
	p.write("Characters", "Bram Oatley")
	p.press("button", "Ask them")
	p.ends("SignalTable", "I am here.")
	p.press("button", "Rename a character")
	p.choose("Who", "corin-vale")
	p.write("New file name", "corin")
	p.press("button", "Rename")
	p.ends("RenameCharacter")
}

// damagedDice changes a line of the log of the dice, sees it, and seals the place.
func (p *player) damagedDice() {
	p.t.Helper()
	log := filepath.Join(p.s.World.Workspace, "campaigns", "weir", "dice-log.jsonl")
	text, err := os.ReadFile(log)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(log, []byte(strings.Replace(string(text), "behind the door", "before the door", 1)), 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.reload()
	p.press("button", "Seal the dice")
	p.press("button", "Seal them")
	p.ends("SealDice")
	p.reads("Sealed: the next roll is number")
}

// What is done on the other pages: everything is audited, a room is looked into, a query
// is asked, kept and forgotten, a bundle is dropped in and read.
func TestActsElsewhere(t *testing.T) {
	s, tab := inside(t)
	p := newPlayer(t, s, tab)
	p.visit("/knowledge")
	p.wait(`[...document.querySelectorAll('section[aria-labelledby=turns] li')].some(li => li.innerText.includes('embedded party'))`)
	p.press("button", "Audit everything")
	p.wait(`/\d+ records were judged/.test(document.querySelector('main').innerText)`)
	p.choose("Role", "dragon")
	p.write("The work", "README.md")
	p.press("button", "Look into it")
	p.reads("The room of dragon:")
	p.reads("What it would not see")
	p.wait(`[...document.querySelectorAll('main .sides th')].some(th => th.innerText.includes('README.md'))`)

	p.visit("/sql?q=" + url.QueryEscape("SELECT 'seven' AS word, 7 AS n"))
	p.wait(`document.querySelector('main table.rows td')?.innerText === 'seven'`)
	p.write("Name of the query", "sevens")
	p.press("button", "Keep")
	p.press("button", "sevens")
	p.press("button", "Run")
	p.wait(`document.querySelector('main table.rows td')?.innerText === 'seven'`)
	p.press("button", "Plot")
	p.wait(`document.querySelector('main svg')`)
	p.press("button", "Forget sevens")
	p.wait(`![...document.querySelectorAll('main button')].some(b => b.innerText === 'sevens')`)

	bundle := p.bundled()
	p.visit("/bundles")
	p.gives("#bundle", bundle)
	p.wait(`document.querySelector('main .plainlist a')`)
	name, err := Eval[string](tab, `document.querySelector('main .plainlist a').innerText`)
	if err != nil {
		t.Fatal(err)
	}
	p.press("link", name)
	p.wait(`document.querySelector('[role=feed] [aria-posinset]')`)
	p.clean()
}

// bundled is a bundle that the program made of a run of this world.
func (p *player) bundled() string {
	p.t.Helper()
	file := filepath.Join(p.t.TempDir(), "run.zip")
	if out, err := p.s.World.Command(p.s.program, "bundle", "create", "last", "--out", file).CombinedOutput(); err != nil {
		p.t.Fatalf("%v\n%s", err, out)
	}
	return file
}

// gives hands a file to a field.
func (p *player) gives(field, file string) {
	p.t.Helper()
	document, err := chromedp.Call(p.tab.ctx, dom.GetDocument, dom.GetDocumentParams{})
	if err != nil {
		p.t.Fatal(err)
	}
	node, err := chromedp.Call(p.tab.ctx, dom.QuerySelector, dom.QuerySelectorParams{NodeID: document.Root.NodeID, Selector: field})
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := chromedp.Call(p.tab.ctx, dom.SetFileInputFiles, dom.SetFileInputFilesParams{NodeID: node.NodeID, Files: []string{file}}); err != nil {
		p.t.Fatal(err)
	}
}
