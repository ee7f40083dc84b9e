package kept

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

const form = "a form 1\n"

// What is written is read; a byte that is changed, cut or added is found.
func TestWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOf(rapid.Int64()).Draw(t, "numbers")
		texts := rapid.SliceOf(rapid.String()).Draw(t, "texts")
		yes := rapid.Bool().Draw(t, "yes")
		var w Writer
		w.Number(int64(len(numbers)))
		w.Number(numbers...)
		w.Number(int64(len(texts)))
		for _, s := range texts {
			w.Text(s)
			w.Name(s)
			w.Bytes([]byte{1, 2, 3})
		}
		w.Yes(yes)
		file := w.Seal(form)
		r, ok := Open(form, file)
		if !ok {
			t.Fatal("it is refused")
		}
		for i := range r.Count() {
			if n := r.Number(); n != numbers[i] {
				t.Fatalf("%d is read as %d", numbers[i], n)
			}
		}
		for i := range r.Count() {
			if a, b := r.Text(), r.Name(); a != texts[i] || b != texts[i] || !slices.Equal(r.Bytes(3), []byte{1, 2, 3}) {
				t.Fatalf("%q is read as %q and %q", texts[i], a, b)
			}
		}
		if r.Yes() != yes || !r.Whole() {
			t.Fatal("the end is another")
		}
		at := rapid.IntRange(0, len(file)-1).Draw(t, "at")
		changed := slices.Clone(file)
		changed[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "by"))
		for _, bad := range [][]byte{changed, file[:at], append(slices.Clone(file), 0)} {
			if _, ok := Open(form, bad); ok {
				t.Fatalf("what was damaged at %d is taken", at)
			}
		}
	})
}

// Who reads something else than was written gets nothing, and no end of it.
func TestReadOtherwise(t *testing.T) {
	for name, read := range map[string]func(*Reader){
		"count": func(r *Reader) { r.Count() },
		"text":  func(r *Reader) { r.Text() },
		"name":  func(r *Reader) { r.Name() },
		"bytes": func(r *Reader) { r.Bytes(1000) },
		"more":  func(r *Reader) { r.Numbers(new(int64), new(int64), new(int64)) },
	} {
		var w Writer
		w.Number(math.MaxInt64)
		r, ok := Open(form, w.Seal(form))
		if !ok {
			t.Fatal(name)
		}
		if read(r); r.Whole() {
			t.Errorf("%s: it is whole", name)
		}
	}
	var w Writer
	w.Number(1)
	if r, ok := Open(form, w.Seal(form)); !ok || r.Whole() {
		t.Error("what is left over is not seen")
	}
	if _, ok := Open(form, w.Seal("another 1\n")); ok {
		t.Error("another form is taken")
	}
}
