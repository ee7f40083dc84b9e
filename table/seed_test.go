package table

import (
	"strings"
	"testing"
)

// TestSeedPrompts holds prompts, responses and sheets against the statements of
// the specification about their form.
func TestSeedPrompts(t *testing.T) {
	for id, run := range map[string]func(*testing.T){
		"001-35": accepted(QuickReaction), "001-36": accepted(CombatAction), "001-37": accepted(FullContext),
		"001-38": accepted(SecretAction),
		"001-43": func(t *testing.T) {
			for _, body := range []string{"[Combat begins]", "One word", "- a list\n- of things", "> a quotation\n\nand more", "[x]"} {
				p, err := ParsePrompt([]byte(strings.Replace(goodPrompt, "React.", body, 1)), Caps{})
				ok(t, err)
				eq(t, "section", p.Section("Request"), body)
			}
		},
		"001-63": func(t *testing.T) {
			r := resp("[VETO - need more input]\n\nMy oath.\n\nI stab the king.")
			eq(t, "kind", r.Kind, Veto)
			eq(t, "nothing is done", r.Text, "")
			eq(t, "all of it is the reason", r.Reason, "My oath.\n\nI stab the king.")
		},
		"001-126": func(t *testing.T) {
			r := load(t, newCampaign(t, map[string]string{"party/nell.md": "# Nell of the Weir\n"}))
			eqs(t, "told", r.Warnings, `party/nell.md: the heading "Nell of the Weir" would give nell-of-the-weir.md; the file name counts`)
		},
		"001-127": func(t *testing.T) {
			r := load(t, newCampaign(t, map[string]string{"party/nell-of-the-weir.md": "# Nell\n"}))
			_, found := r.Get("nell-of-the-weir")
			eq(t, "by the name of the sheet's file", found, true)
			for _, name := range []string{"nell", "Nell-Of-The-Weir", "nell-of-the-weir.md", "nell of the weir"} {
				_, found := r.Get(name)
				eq(t, name, found, false)
			}
		},
	} {
		t.Run(id, run)
	}
}

func accepted(kind RequestType) func(*testing.T) {
	return func(t *testing.T) {
		p, err := ParsePrompt([]byte("---\nrequest_type: "+string(kind)+"\n---\n\n## Scene\na\n\n## Just Happened\nb\n\n## Request\nc\n"), Caps{})
		ok(t, err)
		eq(t, "type", p.Type, kind)
	}
}
