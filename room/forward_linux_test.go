package room

import (
	"net"
	"strings"
	"testing"
)

// A room with a forwarder shows all that a sealed one does and is not called so;
// it is neither lowered nor does it fall back.
func TestForwardedRoom(t *testing.T) {
	serve := func(c net.Conn) { c.Close() }
	r := open(t, Plan{Role: "cat", Gateway: serve, Forwards: []string{"vendor.example"}, Fallback: Fenced})
	if err := r.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	e := r.Enforcement()
	if e.Level != Forwarded || e.Required != Sealed || !e.Lowered() || len(e.Probes) < 20 || len(e.Forwards) != 1 || e.Fallback != "" {
		t.Errorf("%+v", e)
	}
	if w := r.Weaker(); !strings.Contains(w, "sealed but for a forwarder to vendor.example") || !strings.Contains(w, "not observed") {
		t.Errorf("%s", w)
	}
	for _, p := range []Plan{
		{Gateway: serve, Forwards: []string{"vendor.example"}, Lower: Fenced},
		{Gateway: serve, Forwards: []string{"vendor.example"}, Level: Fenced},
		{Forwards: []string{"vendor.example"}},
		{Gateway: serve, Level: Forwarded},
	} {
		if r, err := Open(t.Context(), p); err == nil {
			r.Close()
			t.Errorf("%+v was opened", p)
		}
	}
}
