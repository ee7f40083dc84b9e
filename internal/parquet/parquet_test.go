package parquet_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"conclave/internal/parquet"
	"conclave/internal/readers"
)

var columns = []parquet.Column{{Name: "text", Kind: parquet.Text}, {Name: "list", Kind: parquet.Texts},
	{Name: "n", Kind: parquet.Int}, {Name: "x", Kind: parquet.Real}, {Name: "b", Kind: parquet.Bool},
	{Name: "at", Kind: parquet.Time}}

// table is what was written, as the reader gives it back.
type table struct {
	w    *parquet.Writer
	rows []map[string]any
}

// row writes a row of which the cells that are absent are nil.
func (tb *table) row(t testing.TB, text *string, list []string, n *int64, x *float64, b *bool, at *time.Time) {
	t.Helper()
	row := map[string]any{"text": nil, "list": nil, "n": nil, "x": nil, "b": nil, "at": nil}
	var cells [6]parquet.Cell
	if text != nil {
		cells[0], row["text"] = parquet.OfText(*text), *text
	}
	if list != nil {
		told := []any{}
		for _, s := range list {
			told = append(told, s)
		}
		cells[1], row["list"] = parquet.OfTexts(list), told
	}
	if n != nil {
		cells[2], row["n"] = parquet.OfInt(*n), strconv.FormatInt(*n, 10)
	}
	if x != nil {
		cells[3], row["x"] = parquet.OfReal(*x), *x
	}
	if b != nil {
		cells[4], row["b"] = parquet.OfBool(*b), *b
	}
	if at != nil {
		cells[5], row["at"] = parquet.OfTime(*at), strconv.FormatInt(at.UnixMicro(), 10)
	}
	if err := tb.w.Row(cells[:]...); err != nil {
		t.Fatal(err)
	}
	tb.rows = append(tb.rows, row)
}

// written makes a file by fill and has the other reader read it.
func written(t *testing.T, fill func(*table)) ([]map[string]any, readers.Table) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := parquet.NewWriter(f, "a test", columns...)
	if err != nil {
		t.Fatal(err)
	}
	tb := &table{w: w}
	fill(tb)
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return tb.rows, readers.Parquet(t, path)
}

func same(t *testing.T, want []map[string]any, got readers.Table) {
	t.Helper()
	if len(got.Rows) != len(want) {
		t.Fatalf("%d rows were read, %d written", len(got.Rows), len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(got.Rows[i], want[i]) {
			t.Fatalf("row %d is read as\n%.600v\nand was\n%.600v", i, got.Rows[i], want[i])
		}
	}
}

// texts begin with no mark of byte order, which the reader takes away.
var texts = rapid.String().Filter(func(s string) bool { return !strings.HasPrefix(s, "\ufeff") })

func maybe[T any](t *rapid.T, g *rapid.Generator[T], name string) *T {
	if rapid.IntRange(0, 3).Draw(t, name+" is absent") == 0 {
		return nil
	}
	v := g.Draw(t, name)
	return &v
}

// TestAnotherReader: what is written is what a reader that is not ours reads,
// cell by cell, whichever cells are absent.
func TestAnotherReader(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real program; make test runs it")
	}
	var tables [][]map[string]any
	var files []readers.Table
	seed := rapid.Custom(func(rt *rapid.T) int {
		want, got := written(t, func(tb *table) {
			for range rapid.IntRange(0, 300).Draw(rt, "rows") {
				var list []string
				if l := maybe(rt, rapid.SliceOfN(texts, 0, 4), "list"); l != nil {
					list = append([]string{}, *l...)
				}
				tb.row(t, maybe(rt, texts, "text"), list, maybe(rt, rapid.Int64(), "n"),
					maybe(rt, rapid.Float64Range(-1e300, 1e300), "x"), maybe(rt, rapid.Bool(), "b"),
					maybe(rt, rapid.Custom(func(rt *rapid.T) time.Time {
						return time.UnixMicro(rapid.Int64Range(-1<<50, 1<<52).Draw(rt, "micros"))
					}), "at"))
			}
		})
		tables, files = append(tables, want), append(files, got)
		return 0
	})
	for i := range 8 {
		seed.Example(i)
	}
	rows := 0
	for i := range tables {
		same(t, tables[i], files[i])
		rows += len(tables[i])
	}
	if rows == 0 {
		t.Error("no table had a row")
	}
	want := map[string]string{"text": "STRING", "list": "LIST",
		"n": "INT64", "x": "DOUBLE", "b": "BOOLEAN", "at": "TIMESTAMP"}
	if !reflect.DeepEqual(files[0].Columns, want) {
		t.Errorf("the columns are read as %v", files[0].Columns)
	}
}

// TestPagesAndGroups: a table that does not fit one page, nor one row group, with
// cells that are longer than a page.
func TestPagesAndGroups(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real program; make test runs it")
	}
	want, got := written(t, func(tb *table) {
		var noise uint64 = 1
		for i := range int64(4500) {
			var b strings.Builder
			for b.Len() < 9000 { // that no packing makes much smaller
				noise = noise*6364136223846793005 + 1442695040888963407
				b.WriteString(strconv.FormatUint(noise, 36))
			}
			text := b.String()
			if i == 2000 {
				text = strings.Repeat("page ", 700_000)
			}
			list, truth := []string{"a", fmt.Sprint(i)}, i%3 == 0
			if i%5 == 0 {
				list = nil
			}
			tb.row(t, &text, list, &i, nil, &truth, nil)
		}
	})
	if got.Groups < 2 {
		t.Errorf("%d row groups", got.Groups)
	}
	same(t, want, got)
}

// TestMemoryIsBounded: of a table of 250 MB no more is held than a row group.
func TestMemoryIsBounded(t *testing.T) {
	w, err := parquet.NewWriter(io.Discard, "a test", parquet.Column{Name: "text", Kind: parquet.Text})
	if err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 1<<20)
	most, noise := uint64(0), uint64(1)
	for i := range 250 {
		for j := range text {
			noise = noise*6364136223846793005 + 1442695040888963407
			text[j] = 'a' + byte(noise>>60)
		}
		if err := w.Row(parquet.OfText(string(text))); err != nil {
			t.Fatal(err)
		}
		if i%50 == 49 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if most > 120<<20 {
		t.Errorf("%d MB were held", most>>20)
	}
}

type broken struct{ after int }

func (b *broken) Write(p []byte) (int, error) {
	if b.after -= len(p); b.after < 0 {
		return 0, errors.New("the disk is full")
	}
	return len(p), nil
}

func TestRefusals(t *testing.T) {
	if _, err := parquet.NewWriter(io.Discard, "a test"); err == nil {
		t.Error("a table without columns was begun")
	}
	if _, err := parquet.NewWriter(io.Discard, "a test", parquet.Column{Name: "x"}); err == nil {
		t.Error("a column of no kind was taken")
	}
	for name, cells := range map[string][]parquet.Cell{
		"too few": {}, "too many": make([]parquet.Cell, 2), "another kind": {parquet.OfInt(1)}} {
		w, err := parquet.NewWriter(io.Discard, "a test", parquet.Column{Name: "x", Kind: parquet.Text})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Row(cells...); err == nil {
			t.Errorf("%s: the row was taken", name)
		}
		if err := w.Close(); err == nil {
			t.Errorf("%s: the file was ended all the same", name)
		}
	}
	w, err := parquet.NewWriter(&broken{10}, "a test", parquet.Column{Name: "x", Kind: parquet.Text})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Row(parquet.OfText("a")), w.Close()); err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("a full disk: %v", err)
	}
	w, _ = parquet.NewWriter(io.Discard, "a test", parquet.Column{Name: "x", Kind: parquet.Text})
	if err := errors.Join(w.Row(parquet.OfText("a")), w.Close()); err != nil {
		t.Fatal(err)
	}
	if err := w.Row(parquet.OfText("b")); err == nil {
		t.Error("a row was taken after the footer")
	}
}
