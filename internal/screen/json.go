package screen

import (
	"bytes"
	"encoding/json"
)

// JSON is a value in one line of JSON in which everything that would be shown
// is escaped; it decodes to the same value.
func JSON(v any) ([]byte, error) { return marshal(v, "") }

func marshal(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	f := filter{form: jsonText}
	return f.feed(nil, bytes.TrimSuffix(b.Bytes(), []byte("\n")), true), nil
}
