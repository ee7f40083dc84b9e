package collect

import (
	"bytes"
	"encoding/json"
	"errors"
)

// unquote appends the text of a JSON string. It knows the escapes that are
// common; what has others is left to encoding/json, which takes five times as
// long.
func unquote(dst, quoted []byte) ([]byte, error) {
	if len(quoted) < 2 || quoted[0] != '"' {
		return dst, errors.New("no JSON string")
	}
	s := quoted[1 : len(quoted)-1]
	if cap(dst)-len(dst) < len(s) {
		dst = append(make([]byte, 0, len(dst)+len(s)), dst...)
	}
	start := len(dst)
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 || i+1 == len(s) {
			return append(dst, s...), nil
		}
		c := unescaped[s[i+1]]
		if c == 0 {
			var text string
			err := json.Unmarshal(quoted, &text)
			return append(dst[:start], text...), err
		}
		dst = append(append(dst, s[:i]...), c)
		s = s[i+2:]
	}
}

var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f'}
