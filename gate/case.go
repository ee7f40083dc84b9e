package gate

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"
	"strconv"
)

// Where criteria come from.
const (
	Committed = "committed" // from a commit that the change cannot reach
	OfQuest   = "quest"     // the quest's own
	OfCaller  = "caller"    // whoever asks wrote them
)

// Case is what lies before the judges, and how they judge.
type Case struct {
	Digest   string   `json:"digest"` // see Sum
	Role     string   `json:"role"`   // dragon, guardian
	Rule     string   `json:"rule"`   // all, majority
	N        int      `json:"judges"`
	Criteria Criteria `json:"criteria"`
	Expect   string   `json:"expect,omitempty"`
	Work     Work     `json:"work"`
}

// Criteria are those of a case, and who wrote them.
type Criteria struct {
	Origin string      `json:"origin"` // committed, quest, caller; "" for the Guardian
	File   string      `json:"file,omitempty"`
	Commit string      `json:"commit,omitempty"`
	SHA256 string      `json:"sha256"` // of the text
	Text   string      `json:"text"`   // as it was written
	List   []Criterion `json:"list"`
}

// Criterion is one of them, as it is judged.
type Criterion struct {
	Number int    `json:"number"`
	Text   string `json:"text"`
	Check  string `json:"check,omitempty"`
}

// Work is what is judged: these files, and no others.
type Work struct {
	// Names are the paths and globs that stand for it, relative to where its files
	// lie: by them a stranger finds what was not there when it was judged.
	Names   []string  `json:"names"`
	Base    string    `json:"base,omitempty"` // commits, if it is a change
	Head    string    `json:"head,omitempty"`
	Diff    *File     `json:"diff,omitempty"` // the change as text
	Files   []File    `json:"files"`
	LeftOut []LeftOut `json:"left_out,omitempty"`
	Digest  string    `json:"digest"` // see Sum
}

// File is a file of the work.
type File struct {
	Path       string `json:"path"`
	Size       int64  `json:"size"`
	SHA256     string `json:"sha256"`
	Executable bool   `json:"executable,omitempty"`
}

// LeftOut is something that was named, and that the judges do not see.
type LeftOut struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// The names of what is digested: another way to do so has another name.
const (
	caseForm = "conclave gate case 1"
	workForm = "conclave gate work 1"
)

// Sum is the digest of the work: its files, with their mode, and the change. It
// does not count which commits they come from.
func (w Work) Sum() string {
	d := newDigest(workForm)
	d.change(w.Diff)
	files := slices.Clone(w.Files)
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	d.count(len(files))
	for _, f := range files {
		d.file(f)
	}
	return d.sum()
}

// Sum is the digest of the case: what the judges get, and how they judge.
func (c Case) Sum() string {
	d := newDigest(caseForm)
	d.text(c.Role)
	d.text(c.Rule)
	d.count(c.N)
	d.text(c.Expect)
	d.text(c.Criteria.Text)
	d.count(len(c.Criteria.List))
	for _, k := range c.Criteria.List {
		d.count(k.Number)
		d.text(k.Text)
		d.text(k.Check)
	}
	d.text(c.Work.Sum())
	return d.sum()
}

// digest writes fields, each after its length.
type digest struct{ h hash.Hash }

func newDigest(form string) digest {
	d := digest{sha256.New()}
	d.text(form)
	return d
}

func (d digest) text(s string) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(s)))
	d.h.Write(n[:])
	d.h.Write([]byte(s))
}

func (d digest) count(n int) { d.text(strconv.Itoa(n)) }

func (d digest) change(f *File) {
	if f == nil {
		d.count(0)
		return
	}
	d.count(1)
	d.file(*f)
}

func (d digest) file(f File) {
	d.text(f.Path)
	d.text(strconv.FormatInt(f.Size, 10))
	d.text(f.SHA256)
	d.text(strconv.FormatBool(f.Executable))
}

func (d digest) sum() string { return hex.EncodeToString(d.h.Sum(nil)) }

// SHA256 is how digests of texts are written here.
func SHA256(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
