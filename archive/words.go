package archive

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"conclave/archive/segment"
)

// wordsPage is how long a page of the index of words is: it goes into one of the
// database.
const wordsPage = 4000

// wordsTable is the script of the index of words. What FTS5 makes of segments when
// it merges them has pages like theirs.
func wordsTable() string {
	return wordsSQL + fmt.Sprintf("INSERT INTO words(words, rank) VALUES('pgsz', %d);\n", wordsPage)
}

// index takes the words out of what workers send, passes it on, and sends a
// segment of the index after as many bytes as one transaction takes up. It does
// so beside workers and writer, until there is no more from in.
func (a *Archive) index(ctx context.Context, in <-chan message, out chan<- message) {
	defer close(out)
	send := func(m message) {
		select {
		case out <- m:
		case <-ctx.Done(): // nobody takes it; workers have to end all the same
		}
	}
	var words segment.Builder
	pending := int64(0)
	for m := range in {
		if k := m.chunk; k != nil {
			for i := range k.items {
				if it := &k.items[i]; it.doc != 0 {
					words.Add(it.doc, it.words)
					it.words = nil
				}
			}
			pending += int64(max(k.size, len(k.raw)))
		}
		send(m)
		if pending >= a.commitBytes {
			send(message{segment: words.Segment(wordsPage)})
			pending = 0
		}
	}
	send(message{segment: words.Segment(wordsPage), last: true})
}

// endBatch puts in the words of what came before, and commits unless it is the
// end: see writer.end.
func (w *writer) endBatch(m message) error {
	if err := w.putSegment(m.segment); err != nil || m.last {
		return err
	}
	return w.save()
}

// putSegment puts a segment into the tables of FTS5, and lets it merge what has
// become many.
func (w *writer) putSegment(s *segment.Segment) error {
	if s == nil {
		return nil
	}
	record, err := w.wordsRow(segment.StructureRow)
	if err != nil {
		return err
	}
	totals, err := w.wordsRow(segment.TotalsRow)
	if err != nil {
		return err
	}
	structure, err := segment.ReadStructure(record)
	if err != nil {
		return err
	}
	id, err := structure.Add(s.Leaves)
	if err != nil {
		return err
	}
	slices.SortFunc(s.Pages, func(a, b segment.Page) int { return cmp.Compare(a.ID, b.ID) })
	if err := w.insert("INSERT INTO words_data(id, block) VALUES (?, ?)", len(s.Pages), func(i int) []any {
		return []any{segment.PageID(id, s.Pages[i].ID), s.Pages[i].Data}
	}); err != nil {
		return err
	}
	if err := w.insert("INSERT INTO words_idx(segid, term, pgno) VALUES (?, ?, ?)", len(s.Splits), func(i int) []any {
		return []any{int64(id), s.Splits[i].Term, s.Splits[i].Leaf}
	}); err != nil {
		return err
	}
	const update = "UPDATE words_data SET block = ? WHERE id = ?"
	if _, err := w.exec(update, structure.Bytes(), segment.StructureRow); err != nil {
		return err
	}
	if _, err := w.exec(update, segment.AddTotals(totals, s.Documents, s.Words), segment.TotalsRow); err != nil {
		return err
	}
	for _, leaves := range []int{segment.Forget, structure.Merge(s.Leaves)} {
		if _, err := w.exec("INSERT INTO words(words, rank) VALUES('merge', ?)", leaves); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) wordsRow(id int) (b []byte, err error) {
	if err := w.tx.QueryRow("SELECT block FROM words_data WHERE id = ?", id).Scan(&b); err != nil {
		return nil, fmt.Errorf("read the index of words: %w", err)
	}
	return b, nil
}
