package screen

import "errors"

// MarshalText is the text as another process of the program prints it, with its
// own sequences.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.s), nil }

// UnmarshalText takes a text from another process of the program. One that has a
// sequence which is not the program's own is refused.
func (t *Text) UnmarshalText(data []byte) error {
	if len(Foreign([]byte(plainProse(string(data))))) > 0 {
		return errors.New("a text has control sequences that are not ours")
	}
	t.s = string(data)
	return nil
}
