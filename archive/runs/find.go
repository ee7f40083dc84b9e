package runs

import (
	"context"
	"slices"
	"strings"
	"time"

	"conclave/archive"
	"conclave/archive/search"
)

const (
	// maxHits is how many entries are found in a run.
	maxHits = 20000
	// maxUnsure is how many texts are read to find out whether words stand together.
	maxUnsure = 2000
)

// Find finds the entries of a run that hold all the words; the last may be only
// begun. more says that there are further ones.
func (s *Shelf) Find(ctx context.Context, h *Sheet, words string) (hits []int, more bool, err error) {
	if s.a.OfFiles() {
		return s.findByReading(ctx, h, words)
	}
	docs := h.docs()
	var since, until time.Time
	if h.Total() > 0 && h.at(0).at != 0 { // else some may be without a time
		since, until = stamp(h.first), stamp(h.last)
	}
	most := maxHits
	if strings.ContainsRune(words, '"') {
		most = maxUnsure
	}
	found, more, err := search.Within(ctx, s.a, words, since, until, most,
		docs.has,
		func(ctx context.Context, list []int64) ([]archive.Row, error) {
			var entries []entry
			for _, doc := range list {
				entries = append(entries, *h.at(int(docs.one[doc])))
			}
			return s.inOrder(ctx, entries)
		})
	hits = []int{}
	for _, doc := range found {
		hits = append(hits, int(docs.one[doc]))
		hits = append(hits, docs.more[doc]...)
	}
	slices.Sort(hits)
	return hits, more, err
}

// docs are the entries by their numbers in the index of words: hardly any number has
// more than one.
type docs struct {
	one  map[int64]int32
	more map[int64][]int
}

func (d docs) has(doc int64) bool {
	_, ok := d.one[doc]
	return ok
}

func (h *Sheet) byDoc() docs {
	d := docs{make(map[int64]int32, h.Total()), map[int64][]int{}}
	for i := range h.Total() {
		doc := h.at(i).doc
		switch {
		case doc == 0:
		case d.has(doc):
			d.more[doc] = append(d.more[doc], i)
		default:
			d.one[doc] = int32(i)
		}
	}
	return d
}

// inOrder reads the rows of entries, in pieces.
func (s *Shelf) inOrder(ctx context.Context, list []entry) (rows []archive.Row, err error) {
	for part := range slices.Chunk(list, 500) {
		by, err := s.rows(ctx, part)
		if err != nil {
			return nil, err
		}
		for i := range part {
			if r, ok := by[part[i].id]; ok {
				rows = append(rows, r)
			}
		}
	}
	return rows, nil
}

// findByReading looks at every text: what was made of files has no index.
func (s *Shelf) findByReading(ctx context.Context, h *Sheet, words string) (hits []int, more bool, err error) {
	holds, err := search.Matcher(s.a, words)
	if err != nil {
		return nil, false, err
	}
	hits = []int{}
	at := 0
	for part := range slices.Chunk(h.span(0, h.Total()), 500) {
		by, err := s.rows(ctx, part)
		if err != nil {
			return nil, false, err
		}
		for i := range part {
			r, ok := by[part[i].id]
			if !ok || r.Chars == 0 && r.Tool == "" {
				continue
			}
			if ok, err = holds(r); err != nil {
				return nil, false, err
			}
			if ok {
				hits = append(hits, at+i)
			}
		}
		if at += len(part); len(hits) >= maxHits {
			return hits, true, nil
		}
	}
	return hits, false, nil
}

// Archive is the archive whose runs these are.
func (s *Shelf) Archive() *archive.Archive { return s.a }
