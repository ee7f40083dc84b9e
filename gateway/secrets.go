package gateway

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Secrets finds what must not be repeated: a key as a gateway looks for it, or
// the credential that was lent to a room without one. The nil Secrets knows
// nothing. It is safe for concurrent use.
type Secrets struct {
	plain   [][]byte
	needles *needles
}

// NewSecrets returns what finds values in the forms that the package comment
// names. One that is too short to be told from ordinary text is not looked for.
func NewSecrets(values ...string) *Secrets {
	values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return len(v) < guardLeast })
	if len(values) == 0 {
		return nil
	}
	s := &Secrets{needles: newNeedles(values...)}
	for _, v := range values {
		s.plain = append(s.plain, []byte(v))
	}
	return s
}

// In says whether a text holds one of them.
func (s *Secrets) In(b []byte) bool { return s != nil && s.needles.in(b) }

// What stands where one was.
const (
	withheldWord = "[withheld]"
	withheldText = `{"withheld":"it repeats the credential that was lent to this room"}`
)

// Clean returns b with a word in the place of each that stands there as it is.
// What holds one in another form is withheld: of a JSON object each such text by
// itself, else the whole, and an object that says so takes its place.
func (s *Secrets) Clean(b []byte) []byte {
	if !s.In(b) {
		return b
	}
	if b = s.replace(b); !s.In(b) {
		return b
	}
	var object map[string]any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if d.Decode(&object) == nil {
		if whole, err := json.Marshal(s.each(object)); err == nil && !s.In(whole) && !d.More() {
			return whole
		}
	}
	return []byte(withheldText)
}

func (s *Secrets) replace(b []byte) []byte {
	for _, v := range s.plain {
		b = bytes.ReplaceAll(b, v, []byte(withheldWord))
	}
	return b
}

// each cleans the texts of a JSON value, and drops keys that hold a secret.
func (s *Secrets) each(v any) any {
	switch v := v.(type) {
	case string:
		if clean := s.replace([]byte(v)); !s.In(clean) {
			return string(clean)
		}
		return withheldWord
	case []any:
		for i := range v {
			v[i] = s.each(v[i])
		}
	case map[string]any:
		for key := range v {
			if s.In([]byte(key)) {
				delete(v, key)
				continue
			}
			v[key] = s.each(v[key])
		}
	}
	return v
}
