package receipt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"conclave/internal/jsontext"
	"conclave/internal/newer"
)

// MaxSize is the most that a receipt may have: twenty thousand files of work in
// the rooms of a few judges.
const MaxSize = 64 << 20

// Write returns the bytes of the file.
func (r *Receipt) Write() ([]byte, error) {
	r.Body.normal()
	return document(r)
}

// signed are the bytes that a signature is over: the file without it.
func (r *Receipt) signed() ([]byte, error) {
	bare := *r
	bare.Signature = ""
	return bare.Write()
}

// Digest is what the gate's record holds of the body.
func (b *Body) Digest() (string, error) {
	b.normal()
	data, err := document(b)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// document is the one way in which a value is written.
func document(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("write a receipt: %w", err)
	}
	return b.Bytes(), nil
}

// normal makes what can be written in two ways be written in one: a list without
// elements is a list, and a time is in UTC.
func (b *Body) normal() {
	b.Format = formatVersion
	b.Made = b.Made.UTC()
	listed(&b.Checks)
	listed(&b.Judges)
	listed(&b.Case.Criteria.List)
	listed(&b.Case.Work.Names)
	listed(&b.Case.Work.Files)
	listed(&b.Decision.Criteria)
	listed(&b.Decision.Families)
	for i := range b.Judges {
		j := &b.Judges[i]
		listed(&j.Given)
		listed(&j.Denied)
		j.Started, j.Ended, j.Enforced.ShownAt = j.Started.UTC(), j.Ended.UTC(), j.Enforced.ShownAt.UTC()
	}
}

func listed[T any](list *[]T) {
	if *list == nil {
		*list = []T{}
	}
}

// FormError is a file that is no receipt, or not as a receipt is written.
type FormError struct{ reason string }

func (e *FormError) Error() string { return "not a receipt as conclave writes it: " + e.reason }

// TooLarge is what a file is that need not be read to its end.
func TooLarge() error { return formError("it has more than %d bytes", MaxSize) }

func formError(format string, args ...any) error { return &FormError{fmt.Sprintf(format, args...)} }

// Read takes the bytes that Write gives, and refuses everything else: a member
// that this version does not know, one that comes twice, a number or a string
// that is spelt another way, and any white space that Write does not put there.
// A receipt of a newer format is a *newer.Error.
func Read(data []byte) (*Receipt, error) {
	if len(data) > MaxSize {
		return nil, TooLarge()
	}
	if err := jsontext.Check(data); err != nil {
		return nil, formError("%v", err)
	}
	if !utf8.Valid(data) {
		return nil, formError("it is not UTF-8")
	}
	var format int
	if err := json.Unmarshal(jsontext.Get(data, "body", "format"), &format); err != nil || format < 1 {
		return nil, formError("its body has no format")
	}
	if err := newer.Check(format, formatVersion); err != nil {
		return nil, err
	}
	var r Receipt
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, formError("%v", err)
	}
	again, err := r.Write()
	if err != nil {
		return nil, formError("%v", err)
	}
	if at := differs(data, again); at > 0 {
		return nil, formError("line %d is not written as it would be", at)
	}
	return &r, nil
}

// differs is the number of the first line in which two texts differ, 0 for none.
func differs(a, b []byte) int {
	if bytes.Equal(a, b) {
		return 0
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return 1 + bytes.Count(a[:n], []byte("\n"))
}
