package markdown

import "testing"

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "",
		"run-1, of v1.2 (new)": "run-1, of v1.2 (new)",
		"1. one\n2) two":       "1\\. one 2) two",
		"- a - b--c":           "\\- a \\- b-\\-c",
		"<b>*x*</b>":           "\\<b\\>\\*x\\*\\</b\\>",
		"a|b\\":                "a\\|b\\\\",
		"@all #1 a@b.c":        "\\@\u2060all \\#\u20601 a\\@\u2060b.c",
		"http://x www.y":       "http\\:\u2060//x www\u2060.y",
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q became %q, not %q", text, got, want)
		}
	}
}
