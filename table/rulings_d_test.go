package table

import (
	"testing"
)

var rulingsD = map[string]func(*testing.T){
	"D10": func(t *testing.T) {
		has(t, string(PromptNotFound("ash", "tilda-brannock")), "[ERROR: Prompt file not found]\n\nExpected: campaigns/ash/tmp/tilda-brannock-prompt.md\n")
	},
	"D11": func(t *testing.T) {
		c := Caps{}.WithDefaults()
		eq(t, "sub-cycles", c.SubCycles, 8)
		eq(t, "calls", c.Calls, 24)
	},
}
