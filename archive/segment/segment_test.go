package segment_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/archive/segment"
	"conclave/internal/sqlite"
)

var ctx = context.Background()

const pageSize = 200 // so that little text has many pages

// newIndex makes an index as the archive has it, with small pages.
func newIndex(t testing.TB) *sql.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "index.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db := sqlite.Open(path, sqlite.Options{Write: true, Pragmas: []string{"journal_mode(OFF)", "synchronous(OFF)"}})
	db.SetMaxOpenConns(1) // who writes asks, too
	t.Cleanup(func() { db.Close() })
	exec(t, db, `CREATE VIRTUAL TABLE words USING fts5(bag, content='', columnsize=0, detail=none,
		tokenize="ascii tokenchars '_'")`)
	exec(t, db, "INSERT INTO words(words, rank) VALUES('pgsz', ?)", pageSize)
	exec(t, db, "INSERT INTO words(words, rank) VALUES('automerge', 0)")
	exec(t, db, "INSERT INTO words(words, rank) VALUES('hashsize', ?)", 64<<20)
	exec(t, db, "INSERT INTO words(words, rank) VALUES('usermerge', 16)")
	return db
}

func exec(t testing.TB, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(ctx, query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

type document struct {
	number int64
	words  []string
}

// byFTS5 lets FTS5 itself take the documents, in one transaction.
func byFTS5(t testing.TB, db *sql.DB, docs []document) {
	t.Helper()
	docs = slices.Clone(docs)
	slices.SortStableFunc(docs, func(a, b document) int { return int(min(max(a.number-b.number, -1), 1)) })
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for i := 0; i < len(docs); {
		var words []string
		n := docs[i].number
		for ; i < len(docs) && docs[i].number == n; i++ {
			words = append(words, docs[i].words...)
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO words(rowid, bag) VALUES (?, ?)", n, strings.Join(words, " ")); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

func packed(words []string) (b []byte) {
	for _, w := range words {
		b = append(append(b, byte(len(w))), w...)
	}
	return b
}

// byHand puts the documents in as a segment.
func byHand(t testing.TB, db *sql.DB, b *segment.Builder, docs []document) (merge int) {
	t.Helper()
	for _, d := range docs {
		b.Add(d.number, packed(d.words))
	}
	return put(t, db, b.Segment(pageSize))
}

func put(t testing.TB, db *sql.DB, s *segment.Segment) (merge int) {
	t.Helper()
	var record, totals []byte
	for row, to := range map[int]*[]byte{segment.StructureRow: &record, segment.TotalsRow: &totals} {
		if err := db.QueryRowContext(ctx, "SELECT block FROM words_data WHERE id = ?", row).Scan(to); err != nil {
			t.Fatal(err)
		}
	}
	structure, err := segment.ReadStructure(record)
	if err != nil {
		t.Fatal(err)
	}
	id, err := structure.Add(s.Leaves)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, db, "BEGIN")
	for _, p := range s.Pages {
		exec(t, db, "INSERT INTO words_data(id, block) VALUES (?, ?)", segment.PageID(id, p.ID), p.Data)
	}
	for _, p := range s.Splits {
		exec(t, db, "INSERT INTO words_idx(segid, term, pgno) VALUES (?, ?, ?)", id, p.Term, p.Leaf)
	}
	exec(t, db, "UPDATE words_data SET block = ? WHERE id = ?", structure.Bytes(), segment.StructureRow)
	exec(t, db, "UPDATE words_data SET block = ? WHERE id = ?", segment.AddTotals(totals, s.Documents, s.Words), segment.TotalsRow)
	exec(t, db, "INSERT INTO words(words, rank) VALUES('merge', ?)", segment.Forget)
	exec(t, db, "COMMIT")
	return structure.Merge(s.Leaves)
}

// pages are all that an index holds but the record of its structure.
func pages(t testing.TB, db *sql.DB) (list []string) {
	t.Helper()
	rows, err := db.QueryContext(ctx, `SELECT 'data', id, hex(block) FROM words_data WHERE id <> 10
		UNION ALL SELECT 'idx', pgno, segid || ' ' || hex(term) FROM words_idx ORDER BY 1, 2, 3`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var table, text string
		var id int64
		if err := rows.Scan(&table, &id, &text); err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprintf("%s %#x %s", table, id, text))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

func sound(t testing.TB, db *sql.DB) {
	t.Helper()
	exec(t, db, "INSERT INTO words(words) VALUES('integrity-check')")
}

// random makes documents whose numbers are as far apart as those of the archive,
// of words that are everywhere, in some documents, and in one.
func random(r *rand.Rand, n int) []document {
	docs := make([]document, n)
	at := r.Int64N(1 << 60)
	for i := range docs {
		at += r.Int64N(1<<uint(r.IntN(30)+1)) + int64(min(r.IntN(8), 1))
		words := map[string]bool{"_t1": true}
		for range r.IntN(12) {
			switch k := r.IntN(100); {
			case k < 40:
				words[[]string{"the", "a", "é", "日", "of"}[r.IntN(5)]] = true
			case k < 90:
				words[fmt.Sprintf("w%d", r.IntN(400))] = true
			default:
				words[strings.Repeat("x", r.IntN(45)+1)+fmt.Sprint(r.Uint64())] = true
			}
		}
		docs[i].number = at
		for w := range words {
			docs[i].words = append(docs[i].words, w)
		}
	}
	r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	return docs
}

// TestSegmentIsFTS5s: a segment has the very bytes that FTS5 makes of the same
// documents, from one word to lists of leaves of two levels.
func TestSegmentIsFTS5s(t *testing.T) {
	var b segment.Builder // one for all: it is empty after each
	for seed, n := range []int{1, 2, 3, 10, 50, 200, 1000, 4500} {
		docs := random(rand.New(rand.NewPCG(uint64(seed), 1)), n)
		want, got := newIndex(t), newIndex(t)
		byFTS5(t, want, docs)
		byHand(t, got, &b, docs)
		sound(t, got)
		a, b := pages(t, want), pages(t, got)
		for i := range max(len(a), len(b)) {
			if i >= len(a) || i >= len(b) || a[i] != b[i] {
				t.Fatalf("%d documents: %d pages of FTS5, %d here; page %d:\n%.400s\n%.400s", n, len(a), len(b), i,
					strings.Join(a[min(i, len(a)):min(i+1, len(a))], ""), strings.Join(b[min(i, len(b)):min(i+1, len(b))], ""))
			}
		}
		if n == 4500 && !slices.ContainsFunc(b, func(p string) bool { return strings.HasPrefix(p, "data 0x3080000") }) {
			t.Error("no word had a list of leaves of two levels")
		}
	}
}

// TestSegmentsAnswer: many segments, small and large, with numbers that come
// again, answer as FTS5 does, also while and after they are merged.
func TestSegmentsAnswer(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	want, got := newIndex(t), newIndex(t)
	var b segment.Builder
	merges := 0
	for round := range 64 {
		docs := random(r, 1+r.IntN(60))
		if round%9 == 0 {
			docs = random(r, 700)
		}
		byFTS5(t, want, docs)
		if n := byHand(t, got, &b, docs); n > 0 {
			merges++
			exec(t, got, "INSERT INTO words(words, rank) VALUES('merge', ?)", n)
		}
		if round%16 != 15 {
			continue
		}
		sound(t, got)
		for _, query := range []string{"the", "é", "日", `"_t1"`, "w7", "w1 OR w2", "(the AND a) NOT w3", "w1 *", "nobody", "xxxx *"} {
			if a, b := numbers(t, want, query), numbers(t, got, query); !slices.Equal(a, b) {
				t.Fatalf("round %d, %s: %d of FTS5, %d here", round, query, len(a), len(b))
			}
		}
	}
	var segments int
	if err := got.QueryRowContext(ctx, "SELECT count(DISTINCT segid) FROM words_idx").Scan(&segments); err != nil {
		t.Fatal(err)
	}
	if merges < 3 || segments > 40 {
		t.Errorf("%d merges left %d segments", merges, segments)
	}
}

func numbers(t testing.TB, db *sql.DB, query string) (list []int64) {
	t.Helper()
	for _, order := range []string{"ASC", "DESC"} {
		rows, err := db.QueryContext(ctx, "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid "+order, query)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var n int64
			if err := rows.Scan(&n); err != nil {
				t.Fatal(err)
			}
			list = append(list, n)
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// FuzzStructure: a record that was read is written as it was, whatever it holds.
func FuzzStructure(f *testing.F) {
	for _, s := range []string{"\x00\x00\x00\x03\x00\x00\x00", "\x00\x00\x00\x03\x01\x01\x05\x00\x01\x01\x01\x05",
		"\x00\x00\x00\x03\x02\x02\x81\x05\x01\x01\x01\x01\x05\x00\x01\x02\x01\x09", "\x00\x00\x00\x00\xff\x00\x00\x01", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		s, err := segment.ReadStructure(record)
		if err != nil {
			return
		}
		again, err := segment.ReadStructure(s.Bytes())
		if err != nil || !bytes.Equal(again.Bytes(), s.Bytes()) {
			t.Fatalf("%x became %x: %v", record, s.Bytes(), err)
		}
	})
}
