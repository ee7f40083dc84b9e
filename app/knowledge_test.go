package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/policy"
)

// demoed is the workspace that the demonstration leaves behind: a consultation,
// a verdict, and a table with a secret of each character.
func demoed(t *testing.T) *App {
	t.Helper()
	home := t.TempDir()
	env := map[string]string{"HOME": home}
	a := &App{Dir: home, Getenv: func(name string) string { return env[name] }, Version: "test"}
	at := filepath.Join(home, "demo")
	if err := a.Demo(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	return &App{Dir: at, Root: at, Getenv: a.Getenv, Version: "test"}
}

// asText is a result as a face hands it on.
func asText(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// What a turn saw, what not and why stands on its record; what proves an audit
// does not leave it. A citation leads into what the party may see. A table shows
// each seat its own.
func TestKnowledgeOfADemonstration(t *testing.T) {
	a := demoed(t)
	t.Run("turn", func(t *testing.T) { turnOfADragon(t, a) })
	t.Run("cited", func(t *testing.T) { citedLines(t, a) })
	t.Run("table", func(t *testing.T) { tableBySeat(t, a) })
	t.Run("secrets", func(t *testing.T) { secretsBySeat(t, a) })
	t.Run("runs", func(t *testing.T) { runsOfSeats(t, a) })
}

// runsOfSeats: in a list a run of a table bears its table and seat, and no word of it;
// one of a quest what was done, and not the words that every such run begins with.
func runsOfSeats(t *testing.T, a *App) {
	if _, err := a.RefreshArchive(t.Context(), ArchiveAt{}, nil); err != nil {
		t.Fatal(err)
	}
	l, err := a.OpenLibrary(t.Context(), ArchiveAt{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	list, err := l.Runs(t.Context(), RunFilter{N: 500})
	if err != nil {
		t.Fatal(err)
	}
	seats := 0
	var deeds []string
	for _, r := range list.Items {
		if r.Campaign == "" {
			deeds = append(deeds, r.Title)
			continue
		}
		if seats++; r.Last != "" || !strings.HasPrefix(r.Title, r.Campaign) || len(r.Title) > len(r.Campaign)+20 {
			t.Errorf("%s of %s is listed as %q, %q", r.Role, r.Campaign, r.Title, r.Last)
		}
	}
	if seats < 5 {
		t.Errorf("%d runs of seats in %d", seats, len(list.Items))
	}
	if want := []string{"confront, phase 5", "consult · cat, phase 5"}; !slices.Equal(slices.Sorted(slices.Values(deeds)), want) {
		t.Errorf("runs of the quest are listed as %q", deeds)
	}
}

func turnOfADragon(t *testing.T, a *App) {
	list, err := a.Records()
	if err != nil {
		t.Fatal(err)
	}
	var run string
	for _, r := range list {
		if strings.Contains(r.PromptName, string(policy.Dragon)) || strings.Contains(r.PromptName, "confront") {
			run = r.Run
		}
	}
	k, err := a.Turn(run, "verdict")
	if err != nil {
		t.Fatal(run, err)
	}
	text := asText(t, k)
	for _, want := range []string{`"quest-narrative"`, "tells of effort and purpose", `"success-criteria"`, `"receipt"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing: %s", want, text)
		}
	}
	for _, kept := range []string{`"key"`, `"canaries"`} {
		if strings.Contains(text, kept) {
			t.Errorf("%s has left the record", kept)
		}
	}
	if len(k.Turns) != 2 || k.Reply == nil || len(k.Denied) != 7 || len(k.Findings) > 0 || !k.Sound {
		t.Errorf("turns %v, reply %v, %d denied, findings %v", k.Turns, k.Reply, len(k.Denied), k.Findings)
	}
	if _, err := a.Turn(run, "t9"); err == nil || KindOf(err) != Usage || !strings.Contains(err.Error(), "verdict") {
		t.Errorf("no turn t9: %v", err)
	}
}

func citedLines(t *testing.T, a *App) {
	got, err := a.Cited("CHECKLIST.md", 3, 0)
	if err != nil || got.From != 1 || !strings.Contains(got.Lines[2], "rollback") {
		t.Errorf("%+v, %v", got, err)
	}
	for name, content := range map[string]string{
		".env": "TOKEN=abcdefgh12345678\n", "long.txt": strings.Repeat("x", 9000) + "\n", "bin": "\xff\xfe\n",
	} {
		if err := os.WriteFile(filepath.Join(a.Root, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(a.Root, "link")); err != nil {
		t.Fatal(err)
	}
	if got, err := a.Cited("long.txt", 1, 0); err != nil || len(got.Lines[0]) > maxLine+3 {
		t.Errorf("a long line: %v", err)
	}
	for _, name := range []string{
		".env", ".campaign/quest.md", ".conclave/x", "../other", "/etc/passwd", "link", "gone.md", "bin", "",
	} {
		if got, err := a.Cited(name, 1, 0); err == nil {
			t.Errorf("%q is shown: %+v", name, got)
		}
	}
	if _, err := a.Cited("CHECKLIST.md", 99, 0); err == nil || KindOf(err) != Usage {
		t.Errorf("line 99: %v", err)
	}
}

const bramsSecret = "It was not the water"

func tableBySeat(t *testing.T, a *App) {
	for seat, knows := range map[string]bool{"": false, "corin-vale": false, "bram-oatley": true, "gm": true} {
		v, err := a.ViewTable(t.Context(), "weir", seat)
		if err != nil {
			t.Fatal(seat, err)
		}
		if got := strings.Contains(asText(t, v), bramsSecret); got != knows {
			t.Errorf("%q knows it: %v", seat, got)
		}
		if len(v.Dice) == 0 || v.Proof == nil || v.Proof.Problem != "" || v.Proof.Epochs[0].State != "verified" {
			t.Errorf("%q: %d lines of dice, %+v", seat, len(v.Dice), v.Proof)
		}
	}
	if _, err := a.ViewTable(t.Context(), "weir", "nobody"); err == nil || KindOf(err) != Usage {
		t.Errorf("as nobody: %v", err)
	}
}

func secretsBySeat(t *testing.T, a *App) {
	all, err := a.SecretsOfTable(t.Context(), "weir", "gm")
	if err != nil || len(all.Ways) < 3 {
		t.Fatal(asText(t, all), err)
	}
	for _, seat := range []string{"bram-oatley", "corin-vale", "ysolde-marrow", "table", ""} {
		s, err := a.SecretsOfTable(t.Context(), "weir", seat)
		if err != nil {
			t.Fatal(err)
		}
		if (seat == "table" || seat == "") != (len(s.Ways) == 0) {
			t.Errorf("%q knows %d", seat, len(s.Ways))
		}
		if strings.Contains(asText(t, s.Ways), bramsSecret) != (seat == "bram-oatley") {
			t.Errorf("%q: %s", seat, asText(t, s))
		}
	}
}
