package jsontext

// Text is the text of the JSON string b, "" when b is none.
func Text(b []byte) string {
	s, _ := String(b)
	return s
}

// Bare returns what stands between the quotes of the JSON string b, as it is
// written, which for names and ids is the text itself; nil when b is none.
func Bare(b []byte) []byte {
	if len(b) < 2 || b[0] != '"' {
		return nil
	}
	return b[1 : len(b)-1]
}

// Quote is s as a JSON string.
func Quote(s string) []byte {
	b, _ := AppendString(nil, []byte(s))
	return b
}

// Members finds up to eight members of an object by their names, in one walk.
// Those that it does not have are nil, and all of what is no object.
func Members(object []byte, names ...string) (found [8][]byte) {
	_ = Walk(object, func(key, value []byte) error {
		for i, n := range names {
			if string(key) == n {
				found[i] = value
			}
		}
		return nil
	})
	return found
}
