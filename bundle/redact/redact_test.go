package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"conclave/internal/jsontext"
	"conclave/internal/plant"
)

func planted(seed uint64) ([]plant.Secret, *Redactor) {
	secrets := plant.Secrets(seed)
	return secrets, New(Options{EnvValues: SecretEnv(plant.Environ(secrets))})
}

// wrappings are the ways in which a text reaches a record.
var wrappings = map[string]func(string) string{
	"plain":        func(s string) string { return s },
	"in a line":    func(s string) string { return "before\n" + s + "\nafter" },
	"json":         quote,
	"json in json": func(s string) string { return `{"raw":` + quote(`{"content":`+quote("x\n"+s+"\ty")+`}`) + `}` },
	"thrice":       func(s string) string { return quote(quote(quote("a " + s + " b"))) },
	"coloured":     func(s string) string { return quote("\x1b[0m" + s + "\x1b[31m") },
	"go json":      func(s string) string { b, _ := json.Marshal(s); return string(b) },
	"go twice":     func(s string) string { b, _ := json.Marshal(s); b, _ = json.Marshal(string(b)); return string(b) },
	"diff":         func(s string) string { return "+" + strings.ReplaceAll(s, "\n", "\n+") },
}

func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestPlantedSecretsAreRemoved(t *testing.T) {
	for seed := uint64(1); seed <= 20; seed++ {
		secrets, r := planted(seed)
		if len(secrets) < 60 {
			t.Fatalf("only %d secrets are planted", len(secrets))
		}
		for _, s := range secrets {
			for how, wrap := range wrappings {
				src := wrap(s.Text)
				out, counts := r.Bytes(nil, []byte(src))
				if bytes.Contains(out, []byte(s.Value)) || counts.Total() == 0 {
					t.Errorf("seed %d: %s, %s: still there: %s", seed, s.Kind, how, out)
				}
				if jsontext.Valid([]byte(src)) && !jsontext.Valid(out) {
					t.Errorf("seed %d: %s, %s: JSON before, none after: %s", seed, s.Kind, how, out)
				}
			}
		}
	}
}

func TestInnocentsSurvive(t *testing.T) {
	for seed := uint64(1); seed <= 20; seed++ {
		innocents := plant.Innocents(seed)
		if len(innocents) < 200 {
			t.Fatalf("only %d look-alikes", len(innocents))
		}
		_, r := planted(seed)
		for _, text := range innocents {
			for how, wrap := range wrappings {
				src := wrap(text)
				if out, counts := r.Bytes(nil, []byte(src)); string(out) != src {
					t.Errorf("seed %d: %s: %v\n %s\n %s", seed, how, counts, src, out)
				}
			}
		}
	}
}

func TestOnceIsEnough(t *testing.T) {
	secrets, r := planted(1)
	for _, s := range secrets {
		once, _ := r.Bytes(nil, []byte(quote(s.Text)))
		twice, counts := r.Bytes(nil, once)
		if counts != nil || !bytes.Equal(once, twice) {
			t.Errorf("%s: redacted again: %v\n %s\n %s", s.Kind, counts, once, twice)
		}
	}
}

func TestPatternsKeepJSON(t *testing.T) {
	r := New(Options{Patterns: []Pattern{
		{"project", regexp.MustCompile(`BLUE-[0-9]+`)},
		{"", regexp.MustCompile(`true|"a":`)},
		{"n", regexp.MustCompile(`7+`)},
		{"escape", regexp.MustCompile(`nsecret.+`)},
	}})
	for _, src := range []string{
		`{"a":true,"b":"BLUE-12 and BLUE-13"}`, `{"a":777}`, `{"x":1777.5}`, `["\nsecret\n","x"]`, `["\\nsecret\\","x"]`, `["\u0377"]`,
	} {
		out, counts := r.JSON(nil, []byte(src))
		if counts.Total() == 0 || !jsontext.Valid(out) {
			t.Errorf("%s became %s (%v)", src, out, counts)
		}
	}
	out, counts := r.JSON([]byte("kept "), []byte(`"BLUE-12 and BLUE-13"`))
	if string(out) != `kept "[redacted:project] and [redacted:project]"` || counts["project"] != 2 {
		t.Errorf("got %s, %v", out, counts)
	}
}

func TestSpare(t *testing.T) {
	key := plant.Secrets(3)[0].Value[14:50]
	line := []byte(`{"key":"` + key + `"}`)
	if out, _ := New(Options{}).Bytes(nil, line); bytes.Contains(out, []byte(key)) {
		t.Fatalf("a key stayed: %s", out)
	}
	if out, _ := New(Options{}).Sparing(key).Bytes(nil, line); !bytes.Equal(out, line) {
		t.Errorf("a spared key went: %s", out)
	}
}

func TestSecretEnv(t *testing.T) {
	got := SecretEnv([]string{
		"HOME=/home/ada", "API_KEY=Zk3vv81aa", "EMPTY_TOKEN=", "TOKEN_FILE=/run/secrets/x", "SSH_AUTH_SOCK=/tmp/ssh/agent",
		"DATABASE_URL=postgres://u:Hq82jja@h/d", "SHORT_KEY=abc", "XDG_SESSION_ID=c12", "DB_PASSWORD=Zk3vv81aa", "NO_VALUE", "KEYBOARD=qwertyuiop", "AUTH_MODE=enabled",
	})
	want := []string{"Zk3vv81aa", "postgres://u:Hq82jja@h/d"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEncodedEnvValues(t *testing.T) {
	const value = "p&ss w/rd\"7+"
	r := New(Options{EnvValues: []string{value}})
	for _, text := range []string{value, quote(value), quote(quote(value)), "p%26ss+w%2Frd%227%2B", "cCZzcyB3L3JkIjcr"} {
		if out, counts := r.Bytes(nil, []byte("x "+text+" y")); counts["environment"] == 0 || bytes.Contains(out, []byte("rd")) {
			t.Errorf("%s became %s", text, out)
		}
	}
}

// TestAnyJSON puts arbitrary text around secrets into JSON.
func TestAnyJSON(t *testing.T) {
	secrets, r := planted(7)
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(secrets).Draw(t, "secret")
		text := rapid.String().Draw(t, "before") + s.Text + rapid.String().Draw(t, "after")
		for range rapid.IntRange(1, 3).Draw(t, "depth") {
			text = quote(text)
		}
		out, _ := r.Bytes(nil, []byte(text))
		if !jsontext.Valid(out) {
			t.Fatalf("%s became %s", text, out)
		}
	})
}

func FuzzBytes(f *testing.F) {
	secrets, r := planted(9)
	for _, s := range secrets {
		f.Add([]byte(quote(s.Text)))
		f.Add([]byte(s.Text))
	}
	for _, s := range plant.Innocents(9)[:60] {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		before := bytes.Clone(src)
		out, counts := r.JSON(nil, src)
		if !bytes.Equal(src, before) {
			t.Fatal("the source was changed")
		}
		if counts == nil && !bytes.Equal(out, src) {
			t.Fatalf("changed without a word: %q became %q", src, out)
		}
		if jsontext.Valid(src) && !jsontext.Valid(out) {
			t.Fatalf("JSON before, none after: %q became %q", src, out)
		}
	})
}
