package session

import (
	"cmp"

	"conclave/internal/jsontext"
	"conclave/session/kind"
	"conclave/session/plain"
	"conclave/transcript"
)

// nobody is the kind of files that no program is known to write: each of their
// lines is an entry of type unknown, whole. Such a file is read only where the
// person named it, and bears no program's name.
var nobody = &kind.Kind{
	Adapter: transcript.AdapterUnknown,
	Name:    "unknown",
	Sniff:   func([]byte) bool { return false },
	Locate: func(string, func() ([]byte, error)) (kind.File, bool, error) {
		return kind.File{}, false, nil
	},
	NewMapper: func(f kind.File, o kind.Options) kind.Mapper { return plain.NewMapper(f, o, silent{}) },
	NewWords:  plain.NewWords,
}

// silent is a plain.Reader that knows no line, and counts them by their types.
type silent struct{}

func (silent) Read(l *plain.Line) {
	l.Unknown(cmp.Or(jsontext.Text(jsontext.Get(l.Raw, "type")), "no type"))
}
