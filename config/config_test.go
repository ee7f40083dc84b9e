package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"conclave/gateway"
	"conclave/internal/price"
)

func TestMergeAndFor(t *testing.T) {
	project, err := Parse([]byte("agents:\n  default: {agent: claude, model: m}\n  dragon: {agent: codex}\n  cat: {model: small}\nbudget: {usd: 2}\n"))
	if err != nil {
		t.Fatal(err)
	}
	user, err := Parse([]byte("agents:\n  dragon: {agent: offline}\ntools: [/opt/go/bin]\nlower: {player: fenced}\n"))
	if err != nil {
		t.Fatal(err)
	}
	c := Merge(project, user)
	for role, want := range map[string]string{"owl": "claude", "dragon": "offline", "cat": "claude"} {
		if got := c.For(role).Agent; got != want {
			t.Errorf("%s is played by %q, want %q", role, got, want)
		}
	}
	if c.For("cat").Model != "small" || c.Budget.USD != 2 || len(c.Tools) != 1 || c.Lower["player"] != "fenced" {
		t.Errorf("merged = %+v", c)
	}
	if p, err := c.ProviderOf(c.For("owl")); err != nil || p.KeyEnv != "ANTHROPIC_API_KEY" {
		t.Errorf("provider = %+v, %v", p, err)
	}
}

func TestWithoutAnyFileThePartyIsEmbedded(t *testing.T) {
	c, err := Read(filepath.Join(t.TempDir(), FileName))
	if err != nil {
		t.Fatal(err)
	}
	if c = Merge(c, Config{}); c.For("dragon").Agent != "offline" {
		t.Errorf("%+v", c.For("dragon"))
	}
}

func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"agents:\n  cat: {agent: gpt}":      `no agent is called "gpt"`,
		"agents:\n  cat: {agnet: claude}":   "agnet",
		"\nagents:\n  guardian.16: {}":      `line 3: agents: nobody would ever sit in "guardian.16": a gate has at most 15 judges, so that the last seat is guardian.15`,
		"agents:\n  playr.tilda: {}":        `line 2: agents: there is no seat "playr.tilda"; did you mean player.tilda?`,
		"agents:\n  gandlaf: {}":            `there is no seat "gandlaf"; did you mean gandalf?`,
		"agents:\n  player.: {}":            `there is no seat "player."`,
		"agents:\n  cat.tilda: {}":          `there is no seat "cat.tilda" (default,`,
		"agents:\n  cat: {agent: scripted}": "needs a script",
		"providers:\n  x: {kind: y}":        `line 2: providers: x: kind "y" is none of anthropic, openai, chat, gemini`,
		"\nproviders:\n  x: {kind: chat, base_url: https://openrouter.ai/api/v1}": "line 3: providers: x: it names no key, and " +
			"https://openrouter.ai/api/v1 is not on this machine: say key_env: NAME",
		"providers:\n  x: {kind: chat, base_url: http://192.168.1.7:8000}":       "key_env: none if that server wants none",
		"providers:\n  x: {kind: chat, base_url: http://localhost.evil.example}": "not on this machine",
		"agents:\n  cat: {agent: acp}":                                           "line 2: agents: cat: say which program",
		"agents:\n  cat: {agent: claude, program: x}\n":                          "line 2: agents: cat: a program is named for `agent: acp` alone",
		"lower: {player: sealed}":                                                "neither fenced nor advisory",
		"budget: {usd: lots}":                                                    "line 1",
		"agents: &a {}\nproviders: *a":                                           "anchor",
		"agents:\n  cat: {}\nagents: {}\n":                                       "agents",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q) = %v, want %q", text, err, want)
		}
	}
	file := filepath.Join(t.TempDir(), FileName)
	if err := os.WriteFile(file, []byte("nonsense: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(file); err == nil || !strings.Contains(err.Error(), FileName) {
		t.Errorf("the error does not name the file: %v", err)
	}
	if err := os.WriteFile(file, []byte("budget: {usd: 1}\nprograms: {claude: tools/claude}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(file); err == nil || !strings.Contains(err.Error(), file+`:2: programs: claude: "tools/claude" is not an absolute path`) {
		t.Errorf("a relative program: %v", err)
	}
	for database, want := range map[string]string{
		"postgres://me:word@x/y":          "it holds a password",
		"postgres://me@x/y?password=word": "it holds a password",
		"mysql://x/y":                     "it is no URL of the form",
		"x":                               "it is no URL of the form",
		"postgres://me@x:5432/y":          "",
	} {
		if err := os.WriteFile(file, []byte("budget: {usd: 1}\ndatabase: "+database+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Read(file)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), file+":2: database: "+want)) {
			t.Errorf("%s: %v", database, err)
		}
	}
}

// TestAProjectNamesNothingOfTheMachine (W1): each key that only the person may
// say is refused with file, line and the lines to move, and those lines are a
// file that the person's own may be.
func TestAProjectNamesNothingOfTheMachine(t *testing.T) {
	dir := t.TempDir()
	file, own := filepath.Join(dir, FileName), filepath.Join(dir, "own.yaml")
	for text, want := range map[string]Config{
		"budget: {usd: 1}\n\nprograms: {claude: tools/claude}\n": {Programs: map[string]string{"claude": filepath.Join(dir, "tools", "claude")}},
		"# one\n# two\n{programs: {claude: '/opt/a b\u00e9'}}":   {Programs: map[string]string{"claude": "/opt/a b\u00e9"}},
		"# one\n# two\n\"tools\": [/opt/go/bin, 'true']\n":       {Tools: []string{"/opt/go/bin", "true"}},
		"\n\nworkspaces: [/x]\n":                                 {Workspaces: []string{"/x"}},
		"\n\nacp:\n  mine: {args: [--acp, 'a b'], env: {BASE: '{gateway}/v1'}}\n": {
			ACP: map[string]ACPProgram{"mine": {Args: []string{"--acp", "a b"}, Env: map[string]string{"BASE": "{gateway}/v1"}}}},
		"\n\ndatabase: postgres://x/y\n": {Database: "postgres://x/y"},
		"\n\ngate: {before_done: docs/done.md, base: main, sign: /k}\n": {
			Gate: Gate{BeforeDone: "docs/done.md", Base: "main", Sign: "/k"}},
		"\n\nmcp: {caller_criteria: true}\n": {MCP: MCP{CallerCriteria: true}},
		"\n\nlower:\n  player: fenced\n":     {Lower: map[string]string{"player": "fenced"}},
		"\n\nproviders:\n  lan: {kind: chat, base_url: 'http://10.0.0.5:8000/v1', key_env: none}\n  here: {kind: chat, base_url: 'http://127.0.0.1', key_env: none}\n": {
			Providers: map[string]Provider{"lan": {Kind: "chat", BaseURL: "http://10.0.0.5:8000/v1", KeyEnv: "none"}}},
		"\n\nprices:\n  m-1: {input: 0.25, cache_read: 0}\n": {Prices: map[string]Price{"m-1": {Input: usd(0.25), CacheRead: usd(0)}}},
	} {
		_, err := ParseProject([]byte(text), file, own)
		refused := (*ownError)(nil)
		if !errors.As(err, &refused) {
			t.Errorf("ParseProject(%q) = %v", text, err)
			continue
		}
		if !strings.HasPrefix(err.Error(), file+":3: "+refused.key) || !strings.Contains(err.Error(), own+":\n  "+strings.Join(refused.lines, "\n  ")) {
			t.Errorf("ParseProject(%q): %v", text, err)
		}
		if got, err := Parse([]byte(strings.Join(refused.lines, "\n"))); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("the lines to move %q are %+v, %v", refused.lines, got, err)
		}
		evil := Config{Tools: []string{"/x"}, Lower: map[string]string{"a": "fenced"}, Programs: map[string]string{"claude": "/x"}, Database: "postgres://x",
			Prices: map[string]Price{"m": {}}}
		if c := Merge(evil, Config{}); len(c.Tools)+len(c.Lower)+len(c.Programs)+len(c.Database)+len(c.Prices) > 0 {
			t.Errorf("a project's word was merged: %+v", c)
		}
	}
}

// A server on this machine needs no key, one elsewhere only if the person's own
// file says so; the kinds are the gateway's.
func TestProviders(t *testing.T) {
	for _, kind := range gateway.Kinds() {
		for _, rest := range []string{
			"base_url: http://127.0.0.1:11434/v1", "base_url: http://localhost:1234", "base_url: \"http://[::1]:8080\"",
			"base_url: http://10.0.0.5:8000, key_env: none", "base_url: https://x.example, key_env: X_KEY",
		} {
			c, err := Parse(fmt.Appendf(nil, "providers: {mine: {kind: %s, %s}}", kind, rest))
			if err != nil {
				t.Errorf("%s: %v", rest, err)
				continue
			}
			p, err := Merge(Config{}, c).ProviderOf(Agent{Provider: "mine"})
			if err != nil || p.Keyless() == strings.Contains(rest, "X_KEY") || p.Upstream("k").Kind != kind {
				t.Errorf("%s: %+v, %v", rest, p, err)
			}
		}
	}
	for name, p := range Merge(Config{}, Config{}).Providers {
		g, err := gateway.New(gateway.Options{Upstream: *p.Upstream("k"), Blobs: noBlobs{}})
		if err != nil || p.Keyless() {
			t.Errorf("%s: %+v, %v", name, p, err)
			continue
		}
		g.Close()
	}
}

type noBlobs struct{}

func (noBlobs) AppendBlob(string, []byte) error { return nil }

func usd(n float64) *float64 { return &n }

// TestPrices: what the person's own file says about prices is whole, or refused
// with its line.
func TestPrices(t *testing.T) {
	file := filepath.Join(t.TempDir(), FileName)
	read := func(text string) (Config, error) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return Read(file)
	}
	c, err := read("prices:\n  mine: {input: 2, output: 8}\n  gpt-5: {input: 1, output: 2, cache_read: 0, cache_write: 3}\n" +
		"  all: {input: 1, output: 2, cache_read: 3, cache_write: 4, cache_write_1h: 5, web_search: 0.5}\n")
	if err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]price.Price{
		"mine":  {Input: 2, Output: 8, CacheRead: 2, CacheWrite: 2, CacheWrite1h: 2},
		"gpt-5": {Input: 1, Output: 2, CacheWrite: 3, CacheWrite1h: 3},
		"all":   {Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, CacheWrite1h: 5, Search: 0.5},
	} {
		if got, ok := Merge(Config{}, c).PriceList().Of(model); !ok || got != want {
			t.Errorf("%s costs %+v, want %+v", model, got, want)
		}
	}
	for text, want := range map[string]string{
		"budget: {usd: 1}\nprices:\n  mine: {output: 8}\n":         ":2: prices: mine: it needs input and output, in US dollars per million tokens",
		"prices:\n  mine: {input: -1, output: 8}\n":                ":1: prices: mine: input: -1 is no price",
		"prices:\n  mine: {input: .inf, output: 8}\n":              "prices: mine: input: +Inf is no price",
		"prices:\n  mine: {input: 1, output: 8, cache: 1}\n":       "cache",
		"prices:\n  mine: {input: 1, output: 8, web_search: -1}\n": "web_search: -1 is no price",
		"prices:\n  mine: {input: cheap, output: 8}\n":             "line 2",
		"prices:\n  mine: {input: 1, output: 8, cache_read: .nan}": "cache_read: NaN is no price",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestLogin(t *testing.T) {
	for _, c := range []struct{ text, fault string }{
		{"agents:\n  cat: {agent: claude, model: m, login: true, tokens: 5, turns: 2}", ""},
		{"agents:\n  cat: {agent: codex, model: m, login: true}", ""},
		{"agents:\n  cat: {model: m, login: true}", "line 2: agents: cat: login: only claude and codex"},
		{"agents:\n  cat: {agent: offline, login: true}", "only claude and codex"},
		{"agents:\n  cat: {agent: claude, login: true, provider: mine}", "has no provider"},
		{"agents:\n  cat: {agent: claude, login: true, usd: 1}", "what a login costs nobody tells"},
	} {
		_, err := Parse([]byte(c.text))
		if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: %v", c.text, err)
		}
		if _, err := ParseProject([]byte(c.text), "p/conclave.yaml", "own.yaml"); err == nil {
			t.Errorf("a project said %s", c.text)
		}
	}
	// Nobody inherits one: a seat that the project names does not become the login's.
	project, _ := Parse([]byte("agents:\n  cat: {model: m}"))
	own, _ := Parse([]byte("agents:\n  default: {agent: claude, model: m, login: true}"))
	if a := Merge(project, own).For("cat"); a.Login || a.Agent != "claude" {
		t.Errorf("%+v", a)
	}
}
