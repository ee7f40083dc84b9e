package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/policy"
)

// What a person says yes to stands in the documents, word for word.
func TestLoginTexts(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "logins.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(logins) != 2 {
		t.Fatalf("%d logins", len(logins))
	}
	for name, l := range logins {
		for _, text := range []string{l.says, "Lent: " + l.lent, "may be out of date", "An agent that can run commands can read what is lent"} {
			if !strings.Contains(string(page), text) {
				t.Errorf("%s: docs/logins.md lacks %q", name, text)
			}
		}
		for _, part := range []string{l.says, l.lent, "not observed", "the terms are yours to read", l.vendor + " directly"} {
			if !strings.Contains(l.text(), part) {
				t.Errorf("%s: the text lacks %q", name, part)
			}
		}
	}
}

func TestPolicyRole(t *testing.T) {
	for seat, want := range map[string]policy.Role{
		"cat": policy.Cat, "player.tilda-brannock": policy.Player, "relay.tilda": policy.Player, "relay": policy.Player,
		"journal keeper": policy.JournalKeeper, "journal-keeper.bram": policy.JournalKeeper, "gm": policy.GM, "dragon": policy.Dragon,
	} {
		if got := policyRole(seat); got != want || got.MayLogIn() == got.Evaluator() {
			t.Errorf("%s is %s, may log in %v", seat, got, got.MayLogIn())
		}
	}
	if policyRole("default").MayLogIn() {
		t.Error("a role that nobody knows may log in")
	}
}
