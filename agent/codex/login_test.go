package codex

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/agent"
)

// jwt is a token of nobody's that is good until ends.
func jwt(ends time.Time) string {
	enc := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	return enc(`{"alg":"none"}`) + "." + enc(fmt.Sprintf(`{"exp":%d}`, ends.Unix())) + ".SIGNED"
}

func TestLend(t *testing.T) {
	now := time.Date(2026, 11, 16, 9, 0, 0, 0, time.UTC)
	good, late := jwt(now.Add(time.Hour)), jwt(now.Add(30*time.Second))
	file := func(access, id string) string {
		return `{"OPENAI_API_KEY":"sk-also","auth_mode":"chatgpt","last_refresh":"2026-01-01T00:00:00Z","more":"RENEWS",
			"tokens":{"access_token":"` + access + `","id_token":"` + id + `","refresh_token":"RENEWS","account_id":"acc-1"}}`
	}
	for _, c := range []struct{ name, content, fault string }{
		{"good", file(good, "an-id-token"), ""},
		{"run out", file(late, "an-id-token"), "ran out at 2026-11-16 09:00 UTC: run `codex` once"},
		{"no file", "", "`codex login` makes it"},
		{"a key", `{"OPENAI_API_KEY":"sk-RENEWS"}`, "holds no login"},
		{"no id", file(good, ""), "holds no login"},
		{"nonsense", "RENEWS", "no JSON"},
		{"no token", file("RENEWS", "an-id-token"), "not known here"},
		{"no claims", file("a.RENEWS.c", "an-id-token"), "not known here"},
		{"no time", file("a."+base64.RawURLEncoding.EncodeToString([]byte(`{"exp":"RENEWS"}`))+".c", "x"), "not known here"},
		{"large", file(good, strings.Repeat("x", maxAuthFile)), "no file of a login"},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			if c.content != "" {
				if err := os.WriteFile(filepath.Join(home, authFile), []byte(c.content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			l, err := Lend(func(name string) string { return map[string]string{"CODEX_HOME": home}[name] }, now)
			if c.fault != "" {
				if err == nil || !strings.Contains(err.Error(), c.fault) || strings.Contains(err.Error(), "RENEWS") {
					t.Errorf("%v, want %q", err, c.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if text := string(l.Credential); !strings.Contains(text, good) || !strings.Contains(text, `"refresh_token":""`) ||
				strings.Contains(text, "RENEWS") || strings.Contains(text, "sk-also") {
				t.Errorf("lent: %s", text)
			}
			if !slices.Equal(l.Hosts, []string{"chatgpt.com"}) || !slices.Equal(l.Secrets, []string{good, "an-id-token"}) {
				t.Errorf("%+v", l)
			}
			if b, _ := os.ReadFile(filepath.Join(home, authFile)); string(b) != c.content {
				t.Error("the person's own file was changed")
			}
		})
	}
	if _, err := Lend(func(string) string { return "" }, now); err == nil {
		t.Error("lent from nowhere")
	}
}

func TestLoginHome(t *testing.T) {
	place := agent.Place{Host: t.TempDir(), Guest: "/room"}
	env, err := writeHome(Options{}, agent.Spec{Place: place, Model: agent.Model{Name: "m"},
		Login: &agent.Login{Credential: []byte("LENT"), Proxy: "http://room:t@127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	dir := place.OnHost(agent.HomeDir, codexDir)
	if info, err := os.Stat(filepath.Join(dir, authFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	text, _ := os.ReadFile(filepath.Join(dir, "config.toml"))
	if strings.Contains(string(text), "LENT") || strings.Contains(strings.Join(env, "\n"), "LENT") || strings.Contains(string(text), "model_provider") {
		t.Errorf("%s\n%s", text, env)
	}
	if !slices.Contains(env, "HTTPS_PROXY=http://room:t@127.0.0.1:1") {
		t.Errorf("%s", env)
	}
}
