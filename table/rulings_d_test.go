package table

import (
	"strings"
	"testing"

	"conclave/internal/markdown"
)

var rulingsD = map[string]func(*testing.T){
	"D1": func(t *testing.T) {
		for _, in := range []string{
			"[AWAIT_AI_PLAYERS: a, b]", "  [await_ai_players:a,b]  ", "**[AWAIT_AI_PLAYERS: a, b]**", "`[AWAIT_AI_PLAYERS: a, b]`",
			"Text.\n\n[AWAIT_AI_PLAYERS:\n  a,\n  b\n]\n", "[AWAIT_AI_PLAYERS: `a`, **b**]", "x\r\n[AWAIT_AI_PLAYERS: a, b]\r\n",
		} {
			s := ParseSignal(in)
			if !s.Found || s.Fault != "" {
				t.Errorf("%q: %+v", in, s)
			}
			eqs(t, in, s.Names, "a", "b")
		}
		for _, in := range []string{
			"then [AWAIT_AI_PLAYERS: a]", "[AWAIT_AI_PLAYERS: a] now", "> [AWAIT_AI_PLAYERS: a]", "```\n[AWAIT_AI_PLAYERS: a]\n```",
			"~~~\n[AWAIT_AI_PLAYERS: a]", "[AWAIT_AI_PLAYERSX: a]", "AWAIT_AI_PLAYERS: a",
		} {
			if s := ParseSignal(in); s.Found || s.Before != in {
				t.Errorf("%q: %+v", in, s)
			}
		}
		eq(t, "strays", ParseSignal("then [AWAIT_AI_PLAYERS: a]").Strays, 1)
		eq(t, "never closed", ParseSignal("x\n[AWAIT_AI_PLAYERS: a,\n\nb]").Fault, "the signal has no closing bracket")
	},
	"D2": func(t *testing.T) {
		s := ParseSignal("It rains.\n\n[AWAIT_AI_PLAYERS: a]\n\nTilda says yes.\n")
		eq(t, "before", s.Before, "It rains.")
		eq(t, "after", s.After, "Tilda says yes.")
	},
	"D3": func(t *testing.T) {
		s := ParseSignal("[AWAIT_AI_PLAYERS: a]\nthen\n[AWAIT_AI_PLAYERS: b, c]")
		eqs(t, "first", s.Names, "a")
		eqs(t, "later", s.NotRun, "b", "c")
	},
	"D4": func(t *testing.T) {
		eqs(t, "names", ParseSignal("[AWAIT_AI_PLAYERS: a, ,b,a,]").Names, "a", "b")
		for _, in := range []string{"[AWAIT_AI_PLAYERS: ]", "[AWAIT_AI_PLAYERS:]", "[AWAIT_AI_PLAYERS]", "[AWAIT_AI_PLAYERS: , ,]"} {
			_, err := CheckSignal(ParseSignal(in), duo())
			if err == nil {
				t.Fatalf("%q was accepted", in)
			}
			eq(t, in, err.Repair(), "Signal refused, nobody was started.\n- the signal names nobody\nCharacters: gideon-harrowmoor, tilda-brannock\n")
		}
	},
	"D5": func(t *testing.T) {
		names, err := CheckSignal(ParseSignal("[AWAIT_AI_PLAYERS: tilda-brannock, bob]"), duo())
		if names != nil || err == nil {
			t.Errorf("%v %v", names, err)
		}
		names, err = CheckSignal(ParseSignal("[AWAIT_AI_PLAYERS: tilda-brannock, gideon-harrowmoor]"), duo())
		eq(t, "good", err == nil, true)
		eqs(t, "names", names, "tilda-brannock", "gideon-harrowmoor")
	},
	"D7": func(t *testing.T) {
		c := newCampaign(t, nil)
		for _, st := range []Status{Dead, Retired, Benched, Absent} {
			r, err := LoadRoster(c.Party, map[string]Status{"tilda-brannock": st}, Caps{})
			ok(t, err)
			_, bad := CheckSignal(ParseSignal("[AWAIT_AI_PLAYERS: tilda-brannock]"), r)
			if bad == nil {
				t.Fatalf("%s was called", st)
			}
			has(t, bad.Repair(), "- \"tilda-brannock\": "+string(st)+"\n")
		}
	},
	"D10": func(t *testing.T) {
		has(t, string(PromptNotFound("ash", "tilda-brannock")), "[ERROR: Prompt file not found]\n\nExpected: campaigns/ash/tmp/tilda-brannock-prompt.md\n")
	},
	"D11": func(t *testing.T) {
		c := Caps{}.WithDefaults()
		eq(t, "sub-cycles", c.SubCycles, 8)
		eq(t, "calls", c.Calls, 24)
	},
	"D12": func(t *testing.T) {
		s := ParseSignal(FormatSignal([]string{"a", "b"}))
		eqs(t, "round trip", s.Names, "a", "b")
		blocks, _ := ParseNarrative("He shouts [AWAIT_AI_PLAYERS: x] at you.", duo())
		has(t, PartyText(blocks), "[AWAIT_AI_PLAYERS: x]")
	},
}

func FuzzParseSignal(f *testing.F) {
	for _, s := range []string{"[AWAIT_AI_PLAYERS: a, b]", "x\n**[AWAIT_AI_PLAYERS:\na]**\ny", "```\n[AWAIT_AI_PLAYERS: a]", "[AWAIT_AI_PLAYERS", "[AWAIT_AI_PLAYERS:\n\n]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, out string) {
		s := ParseSignal(out)
		if !s.Found && (len(s.Names) > 0 || s.After != "" || s.Before != markdown.Clean(out)) {
			t.Errorf("%q: %+v", out, s)
		}
		if s.Found && (s.Fault == "") != (len(s.Names) > 0) {
			t.Errorf("%q: %+v", out, s)
		}
		for _, n := range s.Names {
			if strings.TrimSpace(n) == "" || strings.ContainsAny(n, ",]") {
				t.Errorf("%q: name %q", out, n)
			}
		}
	})
}
