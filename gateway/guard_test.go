package gateway

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// However a stream is cut, all of it passes in order if it does not hold the
// key, and all before the key (short of guardHold bytes of it) if it does.
func TestGuard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Few letters, so that beginnings of the key are everywhere.
		word := rapid.StringMatching(`[ab]{8,12}`)
		key := []byte(word.Draw(t, "key"))
		text := []byte(rapid.StringMatching(`[ab]{0,60}`).Draw(t, "text"))
		if rapid.Bool().Draw(t, "with key") {
			text = append(append(text, key...), "bbb"...)
		}
		g := newGuard(key, 40)
		var out []byte
		found := false
		for rest := text; !found; {
			n := 0
			if len(rest) > 0 {
				n = rapid.IntRange(1, min(len(rest), len(g.room()))).Draw(t, "n")
			}
			copy(g.room(), rest[:n])
			rest = rest[n:]
			var piece []byte
			piece, found = g.next(n, len(rest) == 0)
			out = append(out, piece...)
			if len(rest) == 0 {
				break
			}
			g.keep()
		}
		at := bytes.Index(text, key)
		switch {
		case at < 0 && (found || !bytes.Equal(out, text)):
			t.Fatalf("found %v, passed %q", found, out)
		case at >= 0 && (!found || !bytes.HasPrefix(text, out) || len(out) < at || len(out) >= at+guardHold):
			t.Fatalf("found %v, passed %q, the key is at %d", found, out, at)
		}
	})
}

func TestFindIsIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGuard([]byte(rapid.StringMatching(`[ab0Q]{1,9}`).Draw(t, "key")), 1)
		text := []byte(rapid.StringMatching(`[ab0Q]{0,80}`).Draw(t, "text"))
		if got, want := g.find(text), bytes.Index(text, g.key); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
	})
}

// What cannot be the key's beginning never waits.
func TestGuardHoldsNothingElse(t *testing.T) {
	g := newGuard([]byte("sk-ant-0123456789"), 100)
	for _, p := range []string{"yes", "s", "sk-", "data: x\n\n", "sk-anx"} {
		copy(g.room(), p)
		if piece, found := g.next(len(p), false); found || string(piece) != p {
			t.Errorf("%q came out as %q", p, piece)
		}
		g.keep()
	}
}
