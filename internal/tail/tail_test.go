package tail

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drain returns the lines that are there now; an unended one has a ¬ behind it.
func drain(f *File) []string {
	var out []string
	for f.Next() {
		line := string(f.Line())
		if f.Unended() {
			line += "¬"
		}
		out = append(out, line)
	}
	return out
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, f *File, lines ...string) {
	t.Helper()
	if got := drain(f); !slices.Equal(got, lines) {
		t.Fatalf("lines %q, want %q", got, lines)
	}
}

// Each case is an outcome that the package comment states.
func TestOutcomes(t *testing.T) {
	cases := map[string]func(t *testing.T, path string, f *File){
		"late": func(t *testing.T, path string, f *File) {
			want(t, f)
			if f.State() != Absent {
				t.Errorf("state %d", f.State())
			}
			write(t, path, "a\n")
			want(t, f, "a")
		},
		"grows, partial lines held": func(t *testing.T, path string, f *File) {
			write(t, path, "a\nb")
			want(t, f, "a")
			appendTo(t, path, "c\nd\n\n")
			want(t, f, "bc", "d", "")
			if f.Pending() != 0 {
				t.Errorf("%d bytes pending", f.Pending())
			}
		},
		"last line without newline": func(t *testing.T, path string, f *File) {
			write(t, path, "a\nlast")
			want(t, f, "a")
			if f.Pending() != 4 {
				t.Errorf("%d bytes pending, want 4", f.Pending())
			}
			f.Finish()
			want(t, f, "last¬")
		},
		"shortened": func(t *testing.T, path string, f *File) {
			write(t, path, "a\nb\nc")
			want(t, f, "a", "b")
			write(t, path, "a\n") // truncates
			want(t, f, "c¬", "a")
			if f.Generation() != 1 {
				t.Errorf("generation %d", f.Generation())
			}
		},
		"rewritten longer between two looks": func(t *testing.T, path string, f *File) {
			write(t, path, "aaa\nbbb\n")
			want(t, f, "aaa", "bbb")
			write(t, path, "ccc\nddd\neee\n")
			want(t, f, "ccc", "ddd", "eee")
			if f.Generation() != 1 {
				t.Errorf("generation %d", f.Generation())
			}
		},
		"rotated, the old one written to its end": func(t *testing.T, path string, f *File) {
			write(t, path, "a\n")
			want(t, f, "a")
			if err := os.Rename(path, path+".1"); err != nil {
				t.Fatal(err)
			}
			appendTo(t, path+".1", "b\nrest")
			write(t, path, "new\n")
			want(t, f, "b", "rest¬", "new")
		},
		"removed, still written, replaced": func(t *testing.T, path string, f *File) {
			w, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			fmt.Fprint(w, "a\n")
			want(t, f, "a")
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			fmt.Fprint(w, "b\n")
			want(t, f, "b")
			want(t, f)
			if f.State() != Gone || f.Size() != 4 {
				t.Errorf("state %d, size %d", f.State(), f.Size())
			}
			write(t, path, "c\n")
			want(t, f, "c")
		},
		"directory moved away and back": func(t *testing.T, path string, f *File) {
			write(t, path, "a\n")
			want(t, f, "a")
			dir := filepath.Dir(path)
			if err := os.Rename(dir, dir+".away"); err != nil {
				t.Fatal(err)
			}
			appendTo(t, filepath.Join(dir+".away", filepath.Base(path)), "b\n")
			want(t, f, "b")
			want(t, f)
			if f.State() != Gone {
				t.Errorf("state %d", f.State())
			}
			if err := os.Rename(dir+".away", dir); err != nil {
				t.Fatal(err)
			}
			appendTo(t, path, "c\n")
			want(t, f, "c")
			if f.Generation() != 0 || f.State() != Following {
				t.Errorf("generation %d, state %d", f.Generation(), f.State())
			}
		},
		"handle released": func(t *testing.T, path string, f *File) {
			write(t, path, "a\nb")
			want(t, f, "a")
			f.Release()
			appendTo(t, path, "c\n")
			want(t, f, "bc")
			f.Release()
			write(t, path, "x\nyy\nzzz\n")
			want(t, f, "x", "yy", "zzz")
		},
		"not a regular file": func(t *testing.T, path string, f *File) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
			want(t, f)
			if f.State() != Denied || f.Err() == nil {
				t.Errorf("state %d, error %v", f.State(), f.Err())
			}
		},
	}
	for name, run := range cases {
		for _, size := range []int{0, 1, 3} {
			t.Run(fmt.Sprintf("%s/%d", name, size), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "d")
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				f := New(filepath.Join(dir, "f.jsonl"), Options{ReadSize: size})
				defer f.Close()
				if name == "shortened" && size > 0 {
					size = 64 // the rest is to be held
					f = New(filepath.Join(dir, "f.jsonl"), Options{ReadSize: size})
					defer f.Close()
				}
				run(t, filepath.Join(dir, "f.jsonl"), f)
			})
		}
	}
}

// A rest that is longer than what is held, of a file that is cut, is gone; that
// is counted.
func TestLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f := New(path, Options{ReadSize: 8})
	defer f.Close()
	write(t, path, "a\n"+strings.Repeat("x", 100))
	want(t, f, "a")
	write(t, path, "b\n")
	want(t, f, "b")
	if f.Lost() != 100 {
		t.Errorf("%d bytes lost, want 100", f.Lost())
	}
}

// A parent that is no directory, and then is one.
func TestNoParent(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "d", "f")
	write(t, filepath.Join(dir, "d"), "a file where a directory should be")
	f := New(path, Options{})
	defer f.Close()
	want(t, f)
	if f.State() != Denied && f.State() != Absent {
		t.Errorf("state %d", f.State())
	}
	if err := os.Remove(filepath.Join(dir, "d")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, path, "a\n")
	want(t, f, "a")
	if f.Err() != nil {
		t.Error(f.Err())
	}
}

// However a file is written and read, its lines come once and in order, and
// the position is that of the bytes delivered.
func TestAnyChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := rapid.SliceOf(rapid.SampledFrom([]byte("ab\n\r\f\"\xe2\x80\xa8\x85\xff"))).Draw(t, "content")
		dir, err := os.MkdirTemp("", "tail")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		path := filepath.Join(dir, "f")
		f := New(path, Options{ReadSize: rapid.IntRange(1, 12).Draw(t, "read size")})
		defer f.Close()
		var got []byte
		take := func() {
			for f.Next() {
				got = append(got, f.Line()...)
				if !f.Unended() {
					got = append(got, '\n')
				}
				if f.Offset() != int64(len(got)) {
					t.Fatalf("offset %d after %d bytes", f.Offset(), len(got))
				}
			}
		}
		w, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		for rest := content; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "chunk")
			if _, err := w.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
			take()
			if whole := content[:len(content)-len(rest)]; !bytes.Equal(got, whole[:bytes.LastIndexByte(whole, '\n')+1]) {
				t.Fatalf("got %q of %q", got, whole)
			}
			if rapid.Bool().Draw(t, "release") {
				f.Release()
			}
		}
		f.Finish()
		take()
		if !bytes.Equal(got, content) {
			t.Fatalf("got %q, want %q", got, content)
		}
		sum := sha256.Sum256(content)
		if f.Position().SHA256 != hex.EncodeToString(sum[:]) && len(content) > 0 {
			t.Fatal("the hash is not that of the content")
		}
		if f.Generation() != 0 || f.Lost() != 0 {
			t.Fatalf("generation %d, lost %d", f.Generation(), f.Lost())
		}
	})
}

// A line that was cut at a stop is cut again, and its newline is no line.
func TestCuts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "a\nhalf and half\nwhole\nb\n")
	for _, size := range []int{0, 1, 4} {
		f := New(path, Options{ReadSize: size, Cuts: []int64{6, 21}})
		want(t, f, "a", "half¬", " and half", "whole¬", "b")
		f.Close()
	}
}

// Who cannot hold a line is given it in pieces; a cut within it counts.
func TestPieces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "abc\n0123456789\nabcd\nxyz")
	for _, size := range []int{0, 1, 3} {
		for _, c := range []struct {
			cuts  []int64
			piece int64
			want  string
		}{
			{nil, 0, "abc 0123+ 4567+ 89+ abcd xyz"},
			{[]int64{9}, 0, "abc 0123+ 4+ 5678+ 9+ abcd xyz"},
			{[]int64{6}, 0, "abc 01 2345+ 6789+ abcd xyz"},
			{nil, 3, "abc 012+ 345+ 678+ 9+ abcd xyz"},
			{[]int64{8}, 3, "abc 0123 456+ 789+ abcd xyz"},
			{[]int64{9}, 3, "abc 012+ 34+ 567+ 89+ abcd xyz"},
		} {
			f := New(path, Options{ReadSize: size, Cuts: c.cuts, MaxLine: 4, PieceSize: c.piece})
			f.Finish()
			var got []string
			for f.Next() {
				mark := ""
				if f.Piece() {
					mark = "+"
				}
				got = append(got, string(f.Line())+mark)
			}
			if s := strings.Join(got, " "); s != c.want || f.Offset() != 23 {
				t.Errorf("reads of %d, cuts %v: %s up to %d", size, c.cuts, s, f.Offset())
			}
			f.Close()
		}
	}
}

// A long line is held in memory once.
func TestLongLineMemory(t *testing.T) {
	const size = 48 << 20
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "a\n"+strings.Repeat("x", size)+"\nb\n")
	f := New(path, Options{})
	defer f.Close()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n := 0
	for f.Next() {
		n += len(f.Line())
	}
	runtime.ReadMemStats(&after)
	if n != size+2 {
		t.Fatalf("%d bytes", n)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > size+size/8 {
		t.Errorf("%d bytes were allocated for a line of %d", got, size)
	}
}

func BenchmarkNext(b *testing.B) {
	path := filepath.Join(b.TempDir(), "f")
	text := strings.Repeat(strings.Repeat("x", 2000)+"\n", 16<<10)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		f := New(path, Options{NoHash: true})
		for f.Next() {
		}
		f.Close()
	}
}

// A file may be begun in its middle; its next generation is begun at its start.
func TestStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("old\nolder\n")
	f := New(path, Options{Start: 10, NoHash: true})
	defer f.Close()
	if f.Next() {
		t.Errorf("%q was there before", f.Line())
	}
	write("old\nolder\nnew\n")
	if !f.Next() || string(f.Line()) != "new" || f.Offset() != 14 {
		t.Errorf("%q, %d", f.Line(), f.Offset())
	}
	write("x\n")
	if !f.Next() || string(f.Line()) != "x" || f.Generation() != 1 {
		t.Errorf("%q, generation %d", f.Line(), f.Generation())
	}
}
