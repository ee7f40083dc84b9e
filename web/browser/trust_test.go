package browser

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The page gives no trust and no keys: whatever the program can do and the page does not
// offer is refused with words when a page asks for it, and nothing has changed.
func TestVerbsThatAreNotOffered(t *testing.T) {
	w := begun(t)
	p := enters(t, serve(t, w))
	acts := actsOf(t, p.tab)
	p.visit("/quest")
	before := p.everything()
	verbs := verbsOfTheProgram(t)
	for _, verb := range append(verbs, "", "call", "App.Trust", "constructor", "../Trust", "StartQuest ") {
		if slices.Contains(acts.Verbs, verb) {
			continue
		}
		for _, args := range []string{`[]`, `[{}]`, `["."]`, `[{},"."]`} {
			if said := p.refusal(verb, args); !strings.HasPrefix(said, "400 no verb is called") {
				t.Errorf("%s(%s): %s", verb, args, said)
			}
		}
	}
	for verb, args := range map[string]string{
		"Consult":  `[{"Who":"cat","Message":"x","Grants":[".env"]}]`,
		"Confront": `[{"Paths":["README.md"],"Grants":[".env"]}]`,
		"Gate":     `[{"Work":["README.md"],"Criteria":"1. x","TrustBase":true}]`,
	} {
		if said := p.refusal(verb, args); !strings.HasPrefix(said, "400 ") || !strings.Contains(said, "command line") {
			t.Errorf("%s(%s): %s", verb, args, said)
		}
	}
	for _, member := range []string{"Sign", "Receipt", "Cache"} {
		args := fmt.Sprintf(`[{"Work":["README.md"],"Criteria":"1. x","%s":%q}]`, member, filepath.Join(w.Home, "written"))
		if said := p.refusal("Gate", args); !strings.HasPrefix(said, "400 ") {
			t.Errorf("Gate(%s): %s", args, said)
		}
	}
	if after := p.everything(); after != before {
		t.Errorf("something changed:\n%s\nbefore:\n%s", after, before)
	}
}

// verbsOfTheProgram are the methods of the app.
func verbsOfTheProgram(t *testing.T) (list []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(repository, "app", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	method := regexp.MustCompile(`(?m)^func \(\w+ \*?App\) ([A-Z]\w*)\(`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range method.FindAllStringSubmatch(string(text), -1) {
			list = append(list, m[1])
		}
	}
	if len(list) < 80 || !slices.Contains(list, "Trust") {
		t.Fatalf("the program has %d verbs: %v", len(list), list)
	}
	return list
}

// refusal is what the server answers to a page that asks for a verb.
func (p *player) refusal(verb, args string) string {
	p.t.Helper()
	body, err := json.Marshal(map[string]any{"verb": verb, "args": json.RawMessage(args)})
	if err != nil {
		p.t.Fatal(err)
	}
	said, err := Eval[string](p.tab, fmt.Sprintf(`(async () => {
		const { api } = %s, body = %s;
		for (;;) {
			try { return 'began ' + (await api('/api/jobs', { body })).job; } catch (err) {
				if (err.status !== 429) return err.status + ' ' + err.message;
			}
			await new Promise(r => setTimeout(r, 20)); // it is asked faster than a person does
		}
	})()`, core, body))
	if err != nil {
		p.t.Fatal(err)
	}
	return said
}

// everything is what lies in the world, but for what the server itself keeps.
func (p *player) everything() string {
	p.t.Helper()
	var list strings.Builder
	err := filepath.WalkDir(p.s.World.Home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "/archive") || strings.Contains(path, "/cache/") {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintln(&list, strings.TrimPrefix(path, p.s.World.Home), info.Size())
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return list.String()
}
