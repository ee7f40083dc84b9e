package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"conclave/internal/screen"
	"conclave/room"
)

// W22: room run at a terminal never hands the person's own in. What is typed
// arrives all the same: through a terminal of the room's own where somebody
// looks at the answer, else through a pipe.
func TestRoomRunKeepsThePersonsTerminal(t *testing.T) {
	for _, c := range []struct {
		name   string
		screen bool
		want   string
	}{
		{"both ends are a terminal", true, "a terminal"},
		{"the answer goes into a file", false, "no terminal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newReal(t, "")
			outer, inner, err := room.NewTerminal()
			if err != nil {
				t.Fatal(err)
			}
			defer outer.Close()
			defer inner.Close()
			var st syscall.Stat_t
			if err := syscall.Fstat(int(inner.Fd()), &st); err != nil {
				t.Fatal(err)
			}
			w.env.Stdin, w.env.StdinIsTerminal = inner, true
			w.env.Stdout = screen.New(&w.out, screen.Options{Terminal: c.screen})
			if _, err := outer.WriteString("hello\n"); err != nil {
				t.Fatal(err)
			}
			w.run(0, "room", "run", "dragon", "--", "sh", "-c",
				`for n in 0 1 2; do stat -L -c "device %t:%T" /proc/self/fd/$n; done; test -t 0 && echo a terminal || echo no terminal; read x; echo got $x`)
			out := w.out.String()
			if !strings.Contains(out, c.want) || !strings.Contains(out, "got hello") {
				t.Errorf("%q", out)
			}
			if own := fmt.Sprintf("device %x:%x", st.Rdev>>8&0xfff, st.Rdev&0xff); strings.Contains(out, own) {
				t.Errorf("the person's terminal (%s) is in the room: %q", own, out)
			}
		})
	}
}
