package claude

import (
	"slices"
	"strings"
	"testing"

	"conclave/agent"
)

func TestLend(t *testing.T) {
	for _, c := range []struct{ token, fault string }{
		{"sk-ant-oat01-0123456789abcdef", ""},
		{"", "claude setup-token"},
		{"sk-ant-oat01-0123456789abcdef\n", "one word"},
		{"sk-ant-oat01 0123456789abcdef", "one word"},
		{"short", "one word"},
		{"sk-ant-api03-0123456789abcdef", "ANTHROPIC_API_KEY"},
	} {
		l, err := Lend(func(name string) string {
			if name != "CLAUDE_CODE_OAUTH_TOKEN" {
				t.Errorf("%s was read", name)
			}
			return c.token
		})
		switch {
		case c.fault == "" && (err != nil || string(l.Credential) != c.token || !slices.Equal(l.Secrets, []string{c.token}) ||
			!slices.Equal(l.Hosts, []string{"api.anthropic.com"})):
			t.Errorf("%q: %+v, %v", c.token, l, err)
		case c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)):
			t.Errorf("%q: %v", c.token, err)
		case err != nil && len(c.token) > 8 && strings.Contains(err.Error(), "0123456789"):
			t.Errorf("the error quotes the token: %v", err)
		}
	}
}

func TestOneWayToPay(t *testing.T) {
	place := agent.Place{Host: t.TempDir(), Guest: "/room"}
	for name, spec := range map[string]agent.Spec{
		"neither": {Place: place},
		"both":    {Place: place, Model: agent.Model{Token: "sk-key"}, Login: &agent.Login{}},
	} {
		if _, err := New(Config{}).plan("/bin/claude", spec); err == nil {
			t.Errorf("%s: planned", name)
		}
	}
}
