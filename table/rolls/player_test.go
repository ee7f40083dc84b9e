package rolls

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"conclave/dice"
	"conclave/table/gm"
)

// What is asked for falls by its own id, once an attempt; what is a player's own
// by another; what was not rolled falls in the end. Further attempts roll the
// same, by the same ids.
func TestPlayer(t *testing.T) {
	t.Parallel()
	var fell []string
	resting := false
	need := []gm.Roll{{Expr: "1d20+3"}, {Expr: "1d8"}}
	d := NewPlayer("tilda", need, func(req gm.Roll, what string, fallen bool) (dice.Line, error) {
		if fallen != !resting || req.Who != "tilda" || req.Visibility != dice.Private {
			t.Errorf("%+v", req)
		}
		fell = append(fell, what)
		return dice.Line{N: uint64(len(fell))}, nil
	})
	call := func(expr string) gm.Call {
		return gm.Call{Tool: "roll", Input: json.RawMessage(fmt.Sprintf(`{"expr":%q}`, expr))}
	}
	calls := []gm.Call{call("1d20 + 3"), call("1d20+3"), call("1d6"), call("1d6"), call("no dice")}
	first, _ := d.Fallen(calls)
	once := slices.Clone(fell)
	if len(first) != 4 || !first[0].Asked || first[1].Asked || once[0] != "needed 0" || once[2] == once[3] {
		t.Errorf("%+v by %q", first, once)
	}
	d.Fallen(calls)
	if again := fell[len(once):]; !slices.Equal(again, once) {
		t.Errorf("again by %q, not %q", again, once)
	}
	resting = true
	rest, err := d.Rest()
	if err != nil || len(rest) != 1 || !rest[0].Asked || fell[len(fell)-1] != "needed 1" {
		t.Errorf("%+v, %v by %q", rest, err, fell)
	}
}
