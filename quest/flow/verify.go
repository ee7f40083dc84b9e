package flow

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"conclave/quest"
	"conclave/record"
)

// Proof is what became of the proof of one conversation file.
type Proof struct {
	File string `json:"file"`
	Run  string `json:"run,omitempty"` // of the record that it was proved with
	OK   bool   `json:"ok"`
	// Reason says why it is not proved. Foreign files, which no record here
	// speaks of, were written by other hands; they are no contradiction.
	Reason  string `json:"reason,omitempty"`
	Foreign bool   `json:"foreign,omitempty"`
}

// Verify proves the conversation files of a workspace against its records: all
// of them, or those named. A file that a record tells of and that is gone is
// reported too. It reads and changes nothing.
func Verify(root string, names ...string) ([]Proof, error) {
	v, err := newVerifier(root)
	if err != nil {
		return nil, err
	}
	if v.store, err = quest.OpenStore(root); err != nil {
		return nil, err
	}
	defer v.store.Close()
	all := len(names) == 0
	if all {
		if names, err = v.files(); err != nil {
			return nil, err
		}
	}
	var out []Proof
	for _, name := range names {
		if !all && !v.known(name) {
			return nil, fmt.Errorf("%w: %s", ErrNoConversation, name)
		}
		out = append(out, v.prove(name))
	}
	if all {
		out = append(out, v.missing(names)...)
	}
	return out, nil
}

// ErrNoConversation: there is no file of that name, and no record tells of one.
var ErrNoConversation = errors.New("no conversation of that name is here")

// known says whether a conversation is there, or should be.
func (v *verifier) known(name string) bool {
	if _, err := v.store.Read(path.Join(quest.ConversationsDir, name)); !errors.Is(err, fs.ErrNotExist) {
		return true
	}
	for _, f := range v.runs {
		if f.File == name {
			return true
		}
	}
	return false
}

type verifier struct {
	root  string
	store *quest.Store
	runs  map[string]conversationEvent // what leads a conversation, by run
	ids   []string
}

func newVerifier(root string) (*verifier, error) {
	list, err := record.List(record.Dir(root))
	if err != nil {
		return nil, err
	}
	v := &verifier{root: root, runs: map[string]conversationEvent{}}
	for _, info := range list {
		rec, err := readRecord(info.Path)
		if errors.As(err, new(*record.Damage)) {
			err = fmt.Errorf("%s: %w", info.Path, err)
		}
		if err != nil {
			return nil, err
		}
		if rec.filed != nil && rec.filed.Lead == "" && rec.Sealed() {
			v.runs[info.Run] = *rec.filed
			v.ids = append(v.ids, info.Run)
		}
	}
	return v, nil
}

func (v *verifier) files() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(v.root, filepath.FromSlash(quest.ConversationsDir)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".md") && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// prove tries every record whose conversation could bear this name, the one
// that was planned for it first.
func (v *verifier) prove(name string) Proof {
	p := Proof{File: name}
	data, err := v.store.Read(path.Join(quest.ConversationsDir, name))
	if err != nil {
		p.Reason = err.Error()
		return p
	}
	var candidates []string
	for _, id := range v.ids {
		if f := v.runs[id]; f.File == name {
			candidates = slices.Insert(candidates, 0, id)
		} else if c, err := f.conversation(); err == nil && slices.Contains(slices.Collect(c.Names()), name) {
			candidates = append(candidates, id)
		}
	}
	for _, id := range candidates {
		c, _, err := fromRecords(record.Dir(v.root), id)
		if err == nil {
			err = quest.Verify(name, data, c)
		}
		if err == nil {
			return Proof{File: name, Run: id, OK: true}
		}
		if p.Reason == "" || v.runs[id].File == name {
			p.Run, p.Reason = id, err.Error()
		}
	}
	if len(candidates) == 0 {
		p.Foreign, p.Reason = true, "no record here speaks of it: another program or a person wrote it"
	}
	return p
}

// missing finds conversations whose file is gone.
func (v *verifier) missing(there []string) []Proof {
	var out []Proof
	for _, id := range v.ids {
		f := v.runs[id]
		if slices.Contains(there, f.File) {
			continue
		}
		c, _, err := fromRecords(record.Dir(v.root), id)
		if err == nil && len(c.Exchange) == 0 {
			continue // nothing was said, so nothing was written
		}
		if err == nil && slices.ContainsFunc(slices.Collect(c.Names()), func(n string) bool { return slices.Contains(there, n) }) {
			continue
		}
		out = append(out, Proof{File: f.File, Run: id, Reason: fmt.Sprintf("the record %s tells of it, and it is gone", id)})
	}
	return out
}
