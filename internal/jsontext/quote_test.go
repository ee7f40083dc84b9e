package jsontext

import (
	"bytes"
	"testing"
)

// What is written eight bytes at a time is what is written byte by byte, wherever
// the odd ones and those that look like them stand.
func TestEscapesAtEveryPlace(t *testing.T) {
	odd := []byte("\"\\\x00\x01\t\n\x1f #!]\x5b\x7f\x80\xa2\xdc\xff")
	slow := func(s []byte) (out []byte) {
		for _, c := range s {
			var room [6]byte
			if c < 0x20 || c == '"' || c == '\\' {
				out = append(out, room[:putEscape(room[:], c)]...)
			} else {
				out = append(out, c)
			}
		}
		return out
	}
	for size := range 20 {
		for at := range size {
			for _, a := range odd {
				for _, b := range odd {
					s := bytes.Repeat([]byte{'x'}, size)
					if s[at] = a; at+1 < size {
						s[at+1] = b
					}
					if got := appendEscaped(nil, s); !bytes.Equal(got, slow(s)) {
						t.Fatalf("%q becomes %q, want %q", s, got, slow(s))
					}
				}
			}
		}
	}
	all := bytes.Repeat(odd, 50)
	if got := appendEscaped([]byte("before"), all); string(got) != "before"+string(slow(all)) {
		t.Error("a long one differs")
	}
}
