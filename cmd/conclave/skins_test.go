package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"conclave/internal/sample"
	"conclave/internal/screen"
	"conclave/profile"
)

var bracketed = regexp.MustCompile(`\([^()]*\)`)

// strangers finds the lines in which an archetype is named outside brackets.
// Names that somebody wears, and what stands in a file of the project, are none.
func strangers(text string, pack *profile.Pack) []string {
	var found []string
	for line := range strings.Lines(text) {
		bare := bracketed.ReplaceAllString(line, "")
		for _, p := range pack.Profiles {
			bare = strings.ReplaceAll(bare, p.SkinName, "")
		}
		for _, p := range pack.Profiles {
			if regexp.MustCompile(`\b` + p.Face().Archetype.Title + `\b`).MatchString(bare) {
				found = append(found, p.Face().Archetype.Title+": "+strings.TrimSpace(line))
			}
		}
	}
	return found
}

// TestPartyUnderEveryPack: in whatever pack the party is dressed, from the
// definition of a quest to its debrief, menus, questions, notes and whoever speaks
// call everybody by the names they wear. What archetypes are called stands in
// brackets.
func TestPartyUnderEveryPack(t *testing.T) {
	packs, err := profile.Library{}.List()
	if err != nil || len(packs) < 4 {
		t.Fatal(len(packs), err)
	}
	for _, i := range sample.Pick(t, len(packs), 1, 1) {
		t.Run(packs[i].Name, func(t *testing.T) { t.Parallel(); underPack(t, packs[i]) })
	}
}

func underPack(t *testing.T, pack *profile.Pack) {
	w := newReal(t, "")
	for name, text := range map[string]string{"README.md": "# Ferry\n\nA timetable. See docs/gone.md.\n", "go.mod": "module ferry\n\ngo 1.22\n",
		"main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.run(0, "trust", "--yes")
	all := ""
	typed := func(code int, args []string, lines ...string) string {
		w.out.Reset()
		w.env.Stdin, w.env.StdinIsTerminal = strings.NewReader(strings.Join(lines, "\n")+"\n"), true
		w.env.Stdout = screen.New(&w.out, screen.Options{Terminal: true})
		w.run(code, args...)
		all += w.out.String()
		return w.out.String()
	}
	wears := func(id string) profile.Face { return pack.Profile(id).Face() }
	typed(0, []string{"pack", "install", pack.Name}, "")
	all = "" // the table of archetypes itself
	out := typed(0, []string{"quest", "start"}, "Ship", "A winter timetable", "",
		"README.md has a timetable (check: `grep -q timetable README.md`)", "", "The island", "", "Fog", "", "", "Yes", "")
	inOrder(t, out, wears("gandalf").Name()+":", "What next?", wears("bear").MenuName())
	out = typed(0, []string{"consult", wears("cat").Name()}, "Where is the risk?", "",
		"another", wears("owl").MenuName(), "By when?", "",
		"evaluation", "counsel", "I am stuck.", "",
		"evaluation", "1", "README.md", "Celebrate", "")
	inOrder(t, out, wears("cat").Name()+":", "2. Hear another advisor", wears("owl").MenuName(), wears("owl").Name()+":",
		"Face "+wears("dragon").MenuName(), wears("guardian").Name()+"'s checkpoint first (Guardian)",
		"Counsel from "+wears("gandalf").MenuName(), wears("gandalf").Name()+":", wears("dragon").Name()+":",
		wears("dragon").Name()+" is slain (Dragon Slain)")
	typed(0, []string{"consult", "gandalf", "--readiness", "-m", "Are we ready?"}, "", "")
	typed(1, []string{"checkpoint", "--stage", "draft", "README.md"}, "")
	typed(0, []string{"council"}, "")
	out = typed(0, []string{"quest", "status"})
	inOrder(t, out, wears("dragon").Name()+"'s confrontation (Dragon)", wears("cat").MenuName())
	typed(0, []string{"debrief", "-m", "Let us look back."}, "", "")
	typed(0, []string{"room", "show", wears("wolf").Name()})
	setup := newReal(t, "")
	setup.run(0, "pack", "install", pack.Name)
	setup.out.Reset()
	all += inSetup(t, setup, "", "As they are", wears("cat").MenuName(), "1", "dragon", "1", "Done", "")
	for _, line := range strangers(all, pack) {
		t.Error(line)
	}
	if t.Failed() {
		t.Log(all)
	}
}

// TestTheEndOfTheInputChoosesNothing: a choice without a default is not asked for
// ever of a person who has gone; what was begun stays open.
func TestTheEndOfTheInputChoosesNothing(t *testing.T) {
	w := newReal(t, "")
	w.run(0, "trust", "--yes")
	w.env.Stdin, w.env.StdinIsTerminal = strings.NewReader("Ship\nA winter timetable\n\nREADME.md exists\n\n\n\n"), true
	w.run(3, "quest", "start")
	inOrder(t, w.out.String(), "Do you agree?", "the input has ended", "nothing is lost")
}
