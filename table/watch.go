package table

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"

	"conclave/internal/markdown"
	"conclave/internal/shingle"
	"conclave/policy"
)

// Watch knows what must be kept from whom: the text files of a campaign, by the
// hashes of their words. It reads a file again when that has changed, and
// hashes only the pieces of it that have: journals grow for years. Its methods
// are safe for concurrent use.
type Watch struct {
	c       *Campaign
	caps    Caps
	printer *shingle.Printer

	mu    sync.Mutex
	files map[string]*watched
}

// watched is a file as it was read last.
type watched struct {
	info  fs.FileInfo
	fault string // why it could not be taken
	whole *Kept
	gm    *Kept // what its readers may not read of it
}

// NewWatch watches a campaign. Prints are made with printer.
func (c *Campaign) NewWatch(caps Caps, printer *shingle.Printer) *Watch {
	return &Watch{c: c, caps: caps.WithDefaults(), printer: printer, files: map[string]*watched{}}
}

// From returns what must be kept from a character: every text file that it may
// not read, and the GM's regions of those that it may. Files in tmp/ are of the
// moment and are left out. skipped names files that could not be taken, and
// why; their words are not guarded.
func (w *Watch) From(character string) (kept []*Kept, skipped []string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	reader := Reader{Role: policy.Player, Character: character}
	met := map[string]bool{}
	err = walk(w.c.Root, "", 0, func(d *Dir, info fs.FileInfo, p string) {
		if Classify(p).Kind == KindHidden || strings.HasPrefix(p, "tmp/") || path.Ext(p) != ".md" && path.Ext(p) != ".txt" {
			return
		}
		met[p] = true
		f := w.look(d, info, p)
		k := f.whole
		if reader.May(p) {
			k = f.gm
		}
		if f.fault != "" {
			skipped = append(skipped, f.fault)
		} else if k != nil {
			kept = append(kept, k)
		}
	})
	for p := range w.files {
		if !met[p] {
			delete(w.files, p)
		}
	}
	return kept, skipped, err
}

// look returns a file as it is now.
func (w *Watch) look(d *Dir, info fs.FileInfo, p string) *watched {
	old := w.files[p]
	if old != nil && os.SameFile(old.info, info) && old.info.Size() == info.Size() &&
		old.info.ModTime().Equal(info.ModTime()) {
		return old
	}
	if old == nil {
		old = &watched{}
	}
	now := &watched{info: info}
	w.files[p] = now
	limit := w.caps.PartyKnowledge
	if Classify(p).Kind == KindJournal {
		limit = 0 // journals have no cap
	}
	data, err := d.Read(info.Name(), limit)
	var tooBig *CapError
	if errors.As(err, &tooBig) {
		err = &CapError{p, tooBig.Size, tooBig.Limit}
	}
	if err != nil {
		now.fault = err.Error()
		return now
	}
	text := markdown.Clean(string(data))
	now.whole = w.keep(p, text, old.whole)
	_, kept := readMarkup(text).split(hasOwner(p))
	now.gm = w.keep(p, kept, old.gm)
	return now
}

// hasOwner says whether a file is one player's, who reads the secrets in it.
func hasOwner(p string) bool { return Classify(p).Character != "" }

// keep hashes a text, with the help of what was kept of an earlier one.
func (w *Watch) keep(p, text string, old *Kept) *Kept {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	k := &Kept{Path: p, secrets: guardSecrets(text)}
	known, rate := map[[sha256.Size]byte]*piece{}, 1
	if old != nil {
		rate = old.Print.Rate
		for _, piece := range old.pieces {
			known[piece.sum] = piece
		}
	}
	mask := Classify(p).Kind == KindJournal
	for _, t := range cutPieces(text) {
		sum := sha256.Sum256([]byte(t))
		one := known[sum]
		if one == nil {
			one = &piece{sum: sum, runs: runsOf(t)}
			if mask {
				t = journalLabels.Replace(t)
			}
			one.part = w.printer.Part([]byte(t))
		}
		k.pieces = append(k.pieces, one)
	}
	rate = k.thin(rate)
	parts := make([]shingle.Part, len(k.pieces))
	for i, one := range k.pieces {
		parts[i] = one.part
	}
	k.Print = shingle.Assemble([]byte(text), rate, parts...)
	return k
}

// maxWindows is how many windows of one file a print has. It stands in the
// record of every turn, so it must not grow with the campaign.
const maxWindows = 4096

// thin makes a print fit, and returns at what rate. The newest pages stay as
// they are, which are the ones that somebody might repeat; of what is older, one
// window in two is kept, in four, and so on, from rate upwards.
func (k *Kept) thin(rate int) int {
	older := len(k.pieces)
	if len(k.pieces[older-1].part) <= maxWindows/2 {
		older--
	}
	for ; ; rate *= 2 {
		n := 0
		for i, one := range k.pieces[:older] {
			k.pieces[i] = &piece{one.sum, one.runs, one.part.Thin(rate)}
			n += len(k.pieces[i].part)
		}
		if n <= maxWindows/2 {
			return rate
		}
	}
}

// journalLabels take the labels of a journal's entries out of its print. They
// betray nothing: every keeper is told "what happened" in the same words, and a
// label together with the shared narrative behind it would accuse it. A word
// that stands nowhere else takes their place.
var journalLabels = func() *strings.Replacer {
	var pairs []string
	for _, label := range EntryLabels {
		pairs = append(pairs, "\n- "+label+":", "\nxjournallabelx\n")
	}
	return strings.NewReplacer(pairs...)
}()

// pieceSize is about how long a piece of a text is.
const pieceSize = 4 << 10

// cutPieces cuts a text into pieces, the same ones when something is added at
// its end. A run of words across a cut is not recognised, so that is made where
// a paragraph ends, if one does.
func cutPieces(text string) []string {
	var out []string
	for len(text) > 2*pieceSize {
		at := pieceSize
		for _, end := range []string{"\n\n", "\n", " "} {
			if i := strings.Index(text[pieceSize:2*pieceSize], end); i >= 0 {
				at += i + len(end)
				break
			}
		}
		out, text = append(out, text[:at]), text[at:]
	}
	return append(out, text)
}

// maxWalk bounds how deep a campaign's directories are followed.
const maxWalk = 8

// walk visits the files below a directory in order, never through a link.
func walk(d *Dir, prefix string, depth int, visit func(d *Dir, info fs.FileInfo, path string)) error {
	names, err := d.List()
	if err != nil {
		return err
	}
	for _, n := range names {
		info, err := d.root.Lstat(n)
		if err != nil || strings.HasPrefix(n, ".") {
			continue
		}
		if !info.IsDir() {
			visit(d, info, prefix+n)
			continue
		}
		if depth == maxWalk {
			return fmt.Errorf("%s%s: directories nested deeper than %d", prefix, n, maxWalk)
		}
		sub, err := d.Sub(n)
		if err != nil {
			return err
		}
		err = walk(sub, prefix+n+"/", depth+1, visit)
		sub.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
