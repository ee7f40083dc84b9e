package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A quest from its first word to the Dragon, played on the page with the embedded
// party: begun, consulted about, noted, judged by the Guardian, the Dragon faced, and
// looked back upon; loaded anew in the middle of a talk, and one talk stopped.
func TestQuestFromStartToDragon(t *testing.T) {
	w := world(t)
	for name, text := range project {
		if err := write(filepath.Join(w.Workspace, name), text); err != nil {
			t.Fatal(err)
		}
	}
	p := enters(t, serve(t, w))
	p.press("link", "Quest")
	p.wait(`document.querySelector('h1')?.innerText === 'No quest yet'`)
	p.begin()

	p.press("button", "Consult somebody")
	p.write("What do you say?", "Where could it break?")
	p.press("button", "Talk")
	p.asked("Consult")
	p.reload()
	p.reads("Something that was begun on this page is at work on it.")
	if text := p.body(); strings.Contains(text, "Interrupted") || strings.Contains(text, "Another process") {
		t.Errorf("what is under way here is told as something else: %s", text)
	}
	p.ends("Consult")

	p.press("button", "Note progress")
	p.write("What was done?", "The counter counts.")
	p.press("button", "Note it")
	p.ends("LogProgress")
	p.reads("The counter counts.")

	p.press("button", "Face the Dragon")
	p.write("The work", "README.md\nmain.go")
	p.press("button", "Let it judge")
	if text := p.ends("Confront"); !strings.Contains(text, "riterion") {
		t.Errorf("the Dragon says nothing of criteria: %s", text)
	}
	p.clean()
	p.drove()
	quest, err := os.ReadFile(filepath.Join(w.Workspace, ".campaign", "quest.md"))
	if err != nil || !strings.Contains(string(quest), "README.md") {
		t.Errorf("quest.md after the quest: %v\n%s", err, quest)
	}
	program, err := theProgram()
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"transcript", "verify"}, {"audit"}} {
		if out, err := w.Command(program, args...).CombinedOutput(); err != nil {
			t.Errorf("conclave %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// begin begins a quest.
func (p *player) begin() {
	p.t.Helper()
	p.press("button", "Begin a quest")
	p.write("What is it about?", "Publish the counter.")
	p.choose("Mode", "ship")
	p.press("button", "Tell Gandalf")
	p.ends("StartQuest", "There is a file README.md; a manual of forty pages is printed", "Everybody who counts.",
		"Nobody reads it.", "", "Yes")
	p.wait(`document.querySelector('ol.criteria li') && document.querySelector('h1').innerText !== 'No quest yet'`)
}

// A talk that is stopped is settled as Ctrl-C does, and the page goes on.
func TestStopAJob(t *testing.T) {
	w := world(t)
	if err := write(filepath.Join(w.Workspace, "README.md"), project["README.md"]); err != nil {
		t.Fatal(err)
	}
	p := enters(t, serve(t, w))
	p.visit("/quest")
	p.press("button", "Begin a quest")
	p.write("What is it about?", "Something that is given up.")
	p.press("button", "Tell Gandalf")
	p.asked("StartQuest")
	p.stops("StartQuest")
	p.clean()
}
