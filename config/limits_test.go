package config

import (
	"strings"
	"testing"
)

// A limit that means nothing is refused: it would be taken for none.
func TestSenselessLimits(t *testing.T) {
	for _, limit := range []string{"tokens: -1", "usd: -1", "usd: .nan", "usd: .inf", "usd: -.inf", "usd: 0", "tokens: 0"} {
		for where, text := range map[string]string{
			"line 1: budget":         "budget: {" + limit + "}\n",
			"line 3: agents: dragon": "# who plays whom\nagents:\n  dragon: {agent: offline, " + limit + "}\n",
		} {
			if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), where+": a limit is") {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
	for _, text := range []string{"budget: {usd: 0.5}\n", "budget: {tokens: 100, usd: 2}\n", "agents: {dragon: {agent: offline, turns: 3}}\n"} {
		if _, err := Parse([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := Parse([]byte("agents: {dragon: {agent: offline, turns: -3}}\n")); err == nil {
		t.Error("turns below zero are taken")
	}
}
