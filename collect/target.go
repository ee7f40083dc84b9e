package collect

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"

	"conclave/session"
)

// target is a session file and the record that it belongs to.
type target struct {
	session.File
	run string // the id of its record
}

// classify finds out what the file at path is; see session.Identify.
func classify(path, adapter string, any bool) (target, error) {
	f, err := session.Identify(path, adapter, any)
	return targetOf(f), err
}

// targetOf names a record after the session, or after the path of a file that
// does not tell of one.
func targetOf(f session.File) target {
	if f.Session != "" {
		return target{f, runID(f.Kind.Name, f.Session)}
	}
	base := filepath.Base(f.Path)
	return target{f, runID(f.Kind.Name+"-file", strings.TrimSuffix(base, filepath.Ext(base))+"-"+pathHash(f.Path))}
}

func (t target) promptName() string {
	name := t.Session
	if name == "" {
		name = filepath.Base(t.Path)
	}
	if t.Project == "" {
		return name
	}
	return t.Project + "/" + name
}

// runID makes an id that record accepts.
func runID(kind, name string) string {
	var b strings.Builder
	for _, c := range name {
		if c < 0x80 && (c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '-' || c == '_') {
			b.WriteRune(c)
		} else {
			b.WriteByte('-')
		}
	}
	id := kind + "-" + b.String()
	if len(id) > 80 {
		id = id[:80]
	}
	return strings.TrimRight(id, "-_")
}

func pathHash(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:6])
}
