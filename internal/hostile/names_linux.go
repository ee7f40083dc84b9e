package hostile

import (
	"os"
	"path/filepath"
	"strings"
)

// Paint is what would act on a terminal: it writes the clipboard, clears the
// screen, moves, rings, turns the direction of writing.
const Paint = "\x1b]52;c;ZXZpbA==\a\x1b[2J\x1b[H\b\u009b2J\u202eabc\u2066"

// Forged begins a line that only a hostile name can have begun.
const Forged = "FORGED-LINE"

// names and badName are names of files: one that forges a line, and one that
// is no text at all.
const (
	paintName = "x" + Paint + "\n" + Forged + " all is well"
	badName   = "x\xff\xfe\x9b2J\x1b[2J"
)

// jsonPaint is Paint as JSON and YAML say it.
const jsonPaint = `\u001b]52;c;ZXZpbA==\u0007\u001b[2J\u001b[H\b\u009b2J\u202eabc\u2066\r\u2028`

// names are escapes wherever a name, a title or a text is shown (W9).
func names() []Workspace {
	named := func(what, dir, from, ending string) Workspace {
		return Workspace{Name: "names: " + what, Touches: []string{dir + "/"}, Careless: "ls -N " + dir,
			plant: steps(copied(from, dir+"/"+paintName+ending), copied(from, dir+"/"+badName+ending))}
	}
	text := func(what string, touches []string, plant ...func(Place) error) Workspace {
		return Workspace{Name: "text: " + what, Touches: touches, Careless: "grep -aq 'u001b\\|\\[2J' " + touches[0] + " && echo ALIVE",
			plant: steps(plant...)}
	}
	return []Workspace{
		named("packs", "profile-packs", "profile-packs/harbour", ""), named("files of a pack", "profile-packs/harbour", pack, ".md"),
		named("work", "work", "work/report.md", ".md"), named("conversations", ".campaign/conversations", "plan.md", ".md"),
		named("campaigns", "campaigns", "campaigns/weir", ""), named("characters", "campaigns/weir/party", sheet, ".md"),
		named("records", ".conclave/records", record, ".record"), named("bundles", ".conclave/bundles", bundleFile, ".zip"),
		named("instructions and profiles", ".campaign/instructions", instruction, ".md"), named("sessions", "sessions", session, ".jsonl"),
		text("a quest", []string{quest, ".campaign/council-report.md"}, write(quest, painted(questText)),
			write(".campaign/council-report.md", "# Council\n\n"+Paint+"\n"), write("work/report.md", "# "+Paint+"\n"), write("plan.md", Paint)),
		text("profiles and packs", []string{profile, pack, instruction}, paintedFile(profile), paintedFile(pack),
			write(instruction, "# "+Paint+"\n")),
		text("a configuration", []string{config}, write(config,
			"agents: {\"x"+jsonPaint+"\": {agent: \"y"+jsonPaint+"\"}}\nbudget: {tokens: 1000}\n# "+Paint+"\n")),
		text("a configuration that reads well", []string{config},
			write(config, "agents: {\"x"+jsonPaint+"\": {agent: offline, model: \"m"+jsonPaint+"\"}}\n")),
		text("a table", []string{story, sheet}, paintedFile(story), paintedFile(sheet), paintedFile("campaigns/weir/overview.md"),
			paintedFile("campaigns/weir/world-primer.md"), paintedFile("campaigns/weir/party/bram-oatley-journal.md")),
		text("a table's log and dice", []string{".conclave/tables/weir/log/00000002-commit.json", diceLog},
			jsonPainted(".conclave/tables/weir/log/00000002-commit.json"), jsonPainted(diceLog),
			jsonPainted(".conclave/tables/weir/saves/dusk/save.json")),
		text("a session", []string{session}, write(session, paintedSession())),
		text("a record", []string{record}, stocked("painted.record", record), stocked(bundleFile, bundleFile)),
		{Name: "text: git's history", Touches: []string{".git/"}, Careless: "git log", plant: func(p Place) error {
			return p.shell("git commit -q --allow-empty -m '" + Paint + "\n\n" + Forged + "' --author='x" + Paint + " <a@b>'")
		}},
	}
}

// painted puts Paint after every heading, front matter and sentence.
func painted(text string) string {
	return strings.NewReplacer("# Crossing", "# Crossing"+Paint, "stands", "stands"+Paint, "bread.", "bread"+Paint, "Fog.", "Fog"+Paint,
		"Mode", "Mode"+Paint, "defined", Paint).Replace(text)
}

// paintedFile puts Paint into every line of a file but its front matter's marks.
func paintedFile(name string) func(Place) error {
	return func(p Place) error {
		data, err := os.ReadFile(p.path(name))
		if err != nil {
			return err
		}
		lines := strings.Split(string(data), "\n")
		for i, line := range lines {
			if len(line) > 4 {
				lines[i] = line + Paint
			}
		}
		return p.write(name, strings.Join(lines, "\n"), 0o644)
	}
}

// jsonPainted puts Paint into the strings of a file of JSON.
func jsonPainted(name string) func(Place) error {
	return func(p Place) error {
		data, err := os.ReadFile(p.path(name))
		if err != nil {
			return err
		}
		return p.write(name, strings.NewReplacer("weir", "weir"+jsonPaint, "gm", "gm"+jsonPaint, "dusk", "dusk"+jsonPaint, "The ",
			"The "+jsonPaint).Replace(string(data)), 0o644)
	}
}

// paintedSession paints in every place of a session that is shown anywhere.
func paintedSession() string {
	lines := sessionLine("user", "a1", `"promptSource":"sdk","message":{"role":"user","content":"xPAINT"}`) +
		sessionLine("assistant", "a2", `"parentUuid":"a1","requestId":"rPAINT","message":{"id":"msg_1",`+
			`"role":"assistant","model":"mPAINT","content":[`+
			`{"type":"text","text":"tPAINT"},{"type":"tool_use","id":"iPAINT","name":"nPAINT","input":{"kPAINT":"vPAINT"}}],`+
			`"usage":{"input_tokens":1,"output_tokens":2}}`) +
		sessionLine("user", "a3", `"parentUuid":"a2","message":{"role":"user","content":[`+
			`{"type":"tool_result","tool_use_id":"iPAINT","content":"cPAINT","is_error":true}]}`) +
		sessionLine("system", "a4", `"subtype":"sPAINT","content":"yPAINT"`) + sessionLine("unheard", "a5", `"k":"PAINT"`)
	return strings.ReplaceAll(lines, "PAINT", jsonPaint) + "{\"type\":\"raw" + Paint + "\"}\n" + Paint + "\n"
}

// copied copies a file or directory of the workspace.
func copied(from, to string) func(Place) error {
	return func(p Place) error {
		target, err := p.clear(to)
		if err != nil {
			return err
		}
		info, err := os.Stat(p.path(from))
		if err != nil {
			return err
		}
		if info.IsDir() {
			return os.CopyFS(target, os.DirFS(p.path(from)))
		}
		return copyFile(p.path(from), target)
	}
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

// stocked takes a file that Furnish prepared.
func stocked(name, to string) func(Place) error {
	return func(p Place) error {
		target, err := p.clear(to)
		if err != nil {
			return err
		}
		return copyFile(filepath.Join(p.Outside, "stock", name), target)
	}
}
