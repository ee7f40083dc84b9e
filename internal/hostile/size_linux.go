package hostile

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// deep is how many levels nested text has, and directories how many deep they
// are; wide is how many entries a directory has.
const (
	deep  = 20000
	stair = 3000
	wide  = 50000
)

// sizes are too large, too deep, too wide.
func sizes() []Workspace {
	isHuge := func(name string) string { return "test $(stat -c %s " + name + ") -gt 8000000000 && echo ALIVE" }
	list := []Workspace{
		{Name: "a huge configuration", Touches: []string{config}, plant: each([]string{config}, sparse), Careless: isHuge(config)},
		{Name: "huge project's files", Touches: projectPlaces, plant: each(projectPlaces, sparse), Careless: isHuge(quest)},
		{Name: "huge table's files", Touches: tablePlaces, plant: each(tablePlaces, sparse), Careless: isHuge(story)},
		{Name: "huge files of runs", Touches: runPlaces, plant: each(runPlaces, sparse), Careless: isHuge(record)}, // W21
		{Name: "deep YAML", Touches: []string{config, quest, profile}, plant: deepYAML,
			Careless: "test $(grep -o '\\[' " + config + " | wc -l) -ge 20000 && echo ALIVE"},
		{Name: "deep JSON", Touches: []string{session, diceLog}, plant: deepJSON,
			Careless: "test $(grep -o '\\[' " + session + " | wc -l) -ge 20000 && echo ALIVE"},
		{Name: "deep Markdown", Touches: []string{quest, story, instruction}, plant: deepMarkdown,
			Careless: "test $(grep -o '> ' " + quest + " | wc -l) -ge 20000 && echo ALIVE"},
		{Name: "deep directories", Touches: []string{"profile-packs/", "campaigns/weir/", "work/"},
			plant:    each([]string{"profile-packs/d", "campaigns/weir/party/d", "work/d", ".conclave/records/d"}, staircase),
			Careless: "cd work/d && i=0; while cd -P d 2>/dev/null; do i=$((i+1)); done; test $i -ge 2990 && echo ALIVE"},
		{Name: "a bomb of aliases", Touches: []string{config, quest, profile}, plant: bomb,
			Careless: "grep -c '\\*a8' " + config + " >/dev/null && echo ALIVE"},
		{Name: "a million lines", Touches: []string{config, quest, story, session},
			plant:    each([]string{config, quest, story, session, instruction, diceLog}, manyLines),
			Careless: "test $(wc -l <" + quest + ") -gt 1000000 && echo ALIVE"},
		{Name: "a line without an end", Touches: []string{session, diceLog, quest},
			plant:    each([]string{session, diceLog, quest, sheet}, longLine),
			Careless: "test $(wc -c <" + session + ") -gt 30000000 && test $(wc -l <" + session + ") -lt 2 && echo ALIVE"},
	}
	return append(list, wides()...)
}

func wides() []Workspace {
	var list []Workspace
	for _, dir := range []string{".conclave/records", "work"} {
		list = append(list, Workspace{Name: "a wide directory: " + dir, Touches: []string{dir + "/"},
			plant:    func(p Place) error { return widen(p, dir) },
			Careless: "test $(ls -f " + dir + " | wc -l) -ge 50000 && echo ALIVE"})
	}
	return list
}

func nested(open, close string) string {
	return strings.Repeat(open, deep) + strings.Repeat(close, deep)
}

func deepYAML(p Place) error {
	front := func(text string) string { return "---\n" + text + "\n---\n\n# Deep\n" }
	return steps(write(config, "agents: "+nested("[", "]")+"\n"), write(quest, front("phase: "+nested("[", "]"))),
		write(profile, front("name: "+nested("{a: ", "}"))), write(pack, front("name: "+nested("[", "]"))))(p)
}

func deepJSON(p Place) error {
	content := `"message":{"role":"user","content":` + nested("[", "]") + `}`
	return steps(write(session, sessionLine("user", "a1", content)), write(diceLog, `{"event":`+nested("[", "]")+"}\n"),
		write(".conclave/profiles/state.json", nested(`{"files":`, "}")),
		write(".conclave/tables/weir/log/00000002-commit.json", nested("[", "]")))(p)
}

func deepMarkdown(p Place) error {
	text := strings.Repeat("> ", deep) + "x\n" + strings.Repeat("- ", deep) + "x\n" + nested("**_", "_**") + "\n" +
		nested("[", "](x)") + "\n" + nested("<!-- secret:a -->", "<!-- /secret:a -->")
	return steps(write(quest, questText+text), write(story, text), write(sheet, "# Bram Oatley\n\n"+text), write(instruction, text),
		write(pack, text))(p)
}

func bomb(p Place) error {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 10; i++ {
		fmt.Fprintf(&b, "a%d: &a%[1]d [%s*a%[3]d]\n", i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), i-1)
	}
	text := b.String() + "agents: *a9\n"
	return steps(write(config, text), write(quest, "---\n"+text+"---\n\n# Bomb\n"), write(profile, "---\n"+text+"---\n"),
		write(pack, "---\n"+text+"---\n"))(p)
}

func manyLines(p Place, name string) error { return p.write(name, strings.Repeat("\n", 1<<20), 0o644) }

func longLine(p Place, name string) error {
	return p.write(name, `{"type":"user","message":"`+strings.Repeat("a", 32<<20), 0o644)
}

// staircase makes directories in each other, deeper than a path can say.
func staircase(p Place, name string) error {
	path, err := p.clear(name)
	if err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		return err
	}
	at, err := syscall.Open(path, syscall.O_DIRECTORY, 0)
	for i := 0; i < stair && err == nil; i++ {
		var next int
		if err = syscall.Mkdirat(at, "d", 0o755); err == nil {
			next, err = syscall.Openat(at, "d", syscall.O_DIRECTORY, 0)
		}
		syscall.Close(at)
		at = next
	}
	syscall.Close(at)
	return err
}

// widen fills a directory.
func widen(p Place, dir string) error {
	ending := ".md"
	if dir == ".conclave/records" {
		ending = ".record"
	}
	for i := range wide {
		if err := os.WriteFile(p.path(fmt.Sprintf("%s/entry-%05d%s", dir, i, ending)), nil, 0o644); err != nil {
			return err
		}
	}
	return nil
}
