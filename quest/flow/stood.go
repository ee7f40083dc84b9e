package flow

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/internal/atomicfile"
	"conclave/internal/shingle"
	"conclave/policy"
	"conclave/quest"
	"conclave/workspace"
)

// What stood in the project before it was said is no reasoning that came into
// it. So as soon as something has been said in a quest, the project is searched
// for those words, in files that were not touched since before they were said,
// and what is found is noted in .conclave/stood, by the digest of the message:
// ranges of its bytes, none of its words. The note is made once; whoever says
// the same again later has said it first then. Where no note is, nothing is
// known, and the leak check holds the words against whoever repeats them.

// The bounds of one search. Files that the words name are looked at first.
const (
	maxLooked = 20_000  // names
	maxRead   = 1_500   // files
	maxBytes  = 8 << 20 // of them all
	maxText   = 1 << 20 // of one
)

// stoodNote is the stored form of a note.
type stoodNote struct {
	Version int      `json:"version"`
	Stood   [][2]int `json:"stood"`
}

// hush collects what is said while several speak at once, so that the project is
// searched once for all of them.
type hush struct {
	mu       sync.Mutex
	speaking int
	since    time.Time
	words    []string
}

func (u *hush) begin() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.speaking == 0 {
		u.since = time.Now()
	}
	u.speaking++
}

// end is what was said once the last has spoken.
func (u *hush) end(words []string) (since time.Time, all []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.words = append(u.words, words...)
	if u.speaking--; u.speaking > 0 {
		return time.Time{}, nil
	}
	since, all, u.words = u.since, u.words, nil
	return since, all
}

// said ends a turn that hush.begin began.
func (h *House) said(words ...string) {
	if since, all := h.hush.end(words); len(all) > 0 {
		h.note(since, all...)
	}
}

// note searches the project for words that somebody began to say then. What
// goes wrong leaves no note, and so accuses rather than excuses.
func (h *House) note(since time.Time, said ...string) {
	set, err := shingle.NewSet(make([]byte, shingle.KeySize))
	if err != nil {
		return
	}
	windows := 0
	var fresh []string
	for _, s := range said {
		s = strings.TrimSpace(s)
		if _, err := os.Lstat(h.noteFile(s)); err == nil || s == "" || slices.Contains(fresh, s) {
			continue
		}
		fresh = append(fresh, s)
		windows += set.Add("", []byte(s))
	}
	if windows == 0 {
		return
	}
	met, _ := shingle.NewSet(make([]byte, shingle.KeySize))
	for _, data := range h.standing(since, strings.Join(fresh, "\n")) {
		for _, hit := range set.Find(data) {
			met.Add("", data[hit.From:hit.To])
		}
	}
	for _, s := range fresh {
		n := stoodNote{Version: 1, Stood: [][2]int{}}
		for _, hit := range met.Find([]byte(s)) {
			n.Stood = append(n.Stood, [2]int{hit.From, hit.To})
		}
		h.writeNote(s, n)
	}
}

func (h *House) noteFile(said string) string {
	sum := sha256.Sum256([]byte(said))
	return filepath.Join(h.opts.Root, ".conclave", "stood", hex.EncodeToString(sum[:16])+".json")
}

func (h *House) writeNote(said string, n stoodNote) {
	data, err := json.Marshal(n)
	if err != nil {
		return
	}
	name := h.noteFile(said)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err == nil {
		_ = atomicfile.Replace(name, data, 0o600)
	}
}

// stood is what a note says of a text.
func (h *House) stood(said string) [][2]int {
	data, err := workspace.ReadOwn(h.noteFile(strings.TrimSpace(said)), maxText)
	var n stoodNote
	if err != nil || json.Unmarshal(data, &n) != nil || n.Version != 1 {
		return nil
	}
	return n.Stood
}

// standing are the texts of the project that nobody has touched since: those
// that the words name, then documents, then the newest.
func (h *House) standing(since time.Time, words string) [][]byte {
	type file struct {
		path  string
		named bool
		prose bool
		time  time.Time
	}
	named := pathsIn(words)
	var files []file
	looked := 0
	add := func(p string, info fs.FileInfo) {
		script := strings.HasSuffix(p, ".script") || // as they are usually called, also where none plays them now
			isAmong(p, h.opts.Scripts)
		if !script && info.Mode().IsRegular() && info.Size() <= maxText && !changed(info).After(since) {
			files = append(files, file{p, named[p] || named[path.Base(p)], isDocument(p), info.ModTime()})
		}
	}
	_ = filepath.WalkDir(h.opts.Root, func(name string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(h.opts.Root, name)
		if err != nil || relErr != nil || rel == "." {
			return nil
		}
		rel = filepath.ToSlash(rel)
		if looked++; looked > maxLooked {
			return fs.SkipAll
		}
		kind := policy.ClassifyWorkspace(rel, nil)
		if kind != policy.Workspace && kind != policy.PartyContext || d.IsDir() && d.Name() == "node_modules" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if info, err := d.Info(); err == nil && !d.IsDir() {
			add(rel, info)
		}
		return nil
	})
	slices.SortFunc(files, func(a, b file) int {
		return cmp.Or(first(a.named, b.named), first(a.prose, b.prose), b.time.Compare(a.time), strings.Compare(a.path, b.path))
	})
	root, err := os.OpenRoot(h.opts.Root)
	if err != nil {
		return nil
	}
	defer root.Close()
	var out [][]byte
	total := 0
	for _, f := range files {
		if len(out) == maxRead || total > maxBytes {
			break
		}
		data, err := workspace.ReadFile(root, f.path, maxText)
		if err == nil && isAmong(f.path, h.opts.Messages) {
			data = quest.WithoutReasoning(data)
		}
		if err == nil && bytes.IndexByte(data[:min(len(data), 8000)], 0) < 0 {
			out, total = append(out, data), total+len(data)
		}
	}
	return out
}

// isAmong says whether a path of the project is one of some others.
func isAmong(p string, others []string) bool {
	return slices.ContainsFunc(others, func(s string) bool { return path.Clean(filepath.ToSlash(s)) == p })
}

func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func isDocument(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".txt", ".rst", ".adoc", ".tex", ".org", ".html":
		return true
	}
	return false
}

// pathsIn are the words of a text that could name files.
func pathsIn(text string) map[string]bool {
	out := map[string]bool{}
	between := func(r rune) bool { return strings.ContainsRune(" \t\n\r\"'`()[]<>,;|", r) }
	for word := range strings.FieldsFuncSeq(text, between) {
		word, _, _ = strings.Cut(word, ":")
		if strings.ContainsAny(word, "./") && len(word) < 512 {
			out[strings.TrimRight(strings.TrimPrefix(word, "./"), ".")] = true
		}
	}
	return out
}
