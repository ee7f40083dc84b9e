package bundle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// bundlesAt makes bundles with these ages in days, in a random order of names.
func bundlesAt(t *testing.T, dir string, days ...int) []string {
	t.Helper()
	record := simple(t, t.TempDir(), "r")
	var paths []string
	for _, d := range days {
		at := testTime.AddDate(0, 0, -d)
		made := mustCreate(t, Options{Record: record, Dir: dir, Now: func() time.Time { return at }})
		paths = append(paths, made.Path)
	}
	return paths
}

func ages(list []Info) (days []int) {
	for _, b := range list {
		days = append(days, int(testTime.Sub(b.Created).Hours()/24))
	}
	return days
}

func TestRetention(t *testing.T) {
	dir := t.TempDir()
	paths := bundlesAt(t, dir, 3, 9, 1, 7, 5)
	list, err := List(dir)
	if err != nil || !slices.Equal(ages(list), []int{9, 7, 5, 3, 1}) {
		t.Fatalf("listed %v, %v", ages(list), err)
	}
	one := list[0].Size + 200
	day := 24 * time.Hour
	for _, c := range []struct {
		p    Policy
		keep string
		want []int
	}{
		{Policy{}, "", nil},
		{Policy{MaxBundles: 3}, "", []int{9, 7}},
		{Policy{MaxAge: 4 * day}, "", []int{9, 7, 5}},
		{Policy{MaxBytes: 2 * one}, "", []int{9, 7, 5}},
		{Policy{MaxBundles: 4, MaxAge: 6 * day, MaxBytes: 100 * one}, "", []int{9, 7}},
		{Policy{MaxBundles: 1, MaxAge: 100 * day}, "", []int{9, 7, 5, 3}},
		{Policy{MaxBundles: 1}, paths[1], []int{7, 5, 3, 1}},
		{Policy{MaxBytes: 1}, paths[2], []int{9, 7, 5, 3}},
	} {
		if got := ages(c.p.Excess(list, testTime, c.keep)); !slices.Equal(got, c.want) {
			t.Errorf("%+v does away with %v, want %v", c.p, got, c.want)
		}
	}
	removed, err := Prune(dir, Policy{MaxBundles: 2}, testTime, "")
	if err != nil || !slices.Equal(ages(removed), []int{9, 7, 5}) || len(dirNames(t, dir)) != 2 {
		t.Errorf("removed %v, %v; left %v", ages(removed), err, dirNames(t, dir))
	}
}

// TestPruneTouchesNothingElse: files that are no bundles, links and
// directories stay, whatever they are called.
func TestPruneTouchesNothingElse(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	bundlesAt(t, dir, 9, 1)
	outside := bundlesAt(t, elsewhere, 30)[0]
	keep := []string{"notes.zip", "readme.txt", "dir.zip/x"}
	for _, name := range keep {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link.zip")); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	removed, err := Prune(dir, Policy{MaxAge: time.Hour}, testTime, "")
	if err != nil || len(removed) != 2 {
		t.Errorf("removed %v, %v", removed, err)
	}
	for _, name := range append(keep, "link.zip") {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(outside); err != nil {
		t.Errorf("what the link pointed to: %v", err)
	}
}

// TestASwappedFileStays: between the look and the removal another file, or a
// link, takes the bundle's place.
func TestASwappedFileStays(t *testing.T) {
	for _, link := range []bool{false, true} {
		dir, elsewhere := t.TempDir(), t.TempDir()
		path := bundlesAt(t, dir, 9)[0]
		list, err := List(dir)
		if err != nil {
			t.Fatal(err)
		}
		precious := filepath.Join(elsewhere, "precious")
		if err := os.WriteFile(precious, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path, filepath.Join(elsewhere, "moved.zip")); err != nil {
			t.Fatal(err)
		}
		if link {
			err = os.Symlink(precious, path)
		} else {
			err = os.WriteFile(path, []byte("somebody's work"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := remove(list[0]); err == nil || !strings.Contains(err.Error(), "taken its place") {
			t.Errorf("link %v: %v", link, err)
		}
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("link %v: what took its place is gone: %v", link, err)
		}
		if _, err := os.Stat(precious); err != nil {
			t.Error(err)
		}
		if names := dirNames(t, dir); len(names) != 1 {
			t.Errorf("left behind: %v", names)
		}
	}
}

func TestPruneFinishesWhatAKilledOneBegan(t *testing.T) {
	dir := t.TempDir()
	path := bundlesAt(t, dir, 9, 1)[0]
	aside := filepath.Join(dir, prunePrefix+filepath.Base(path))
	if err := os.Rename(path, aside); err != nil {
		t.Fatal(err)
	}
	stale, fresh := filepath.Join(dir, tempPrefix+"1.tmp"), filepath.Join(dir, tempPrefix+"2.tmp")
	for _, f := range []string{stale, fresh} {
		if err := os.WriteFile(f, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-2 * staleAfter)
	if err := os.Chtimes(stale, old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := Prune(dir, Policy{}, time.Now(), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("not put back: %v", err)
	}
	if _, err := os.Stat(stale); err == nil {
		t.Error("a stale temporary file stays")
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Error("another program's temporary file was removed")
	}
}

func TestSettleNeverFails(t *testing.T) {
	dir := t.TempDir()
	bundlesAt(t, dir, 9, 8)
	made := mustCreate(t, Options{Record: simple(t, t.TempDir(), "r"), Dir: dir, Now: func() time.Time { return testTime }})
	var seen []string
	for name, store := range map[string]Store{
		"good": func(_ context.Context, path string, m Manifest) error {
			if path != made.Path || m.BundleID != made.Manifest.BundleID {
				return errors.New("another bundle")
			}
			list, err := List(dir)
			seen = append(seen, fmt.Sprint(len(list)))
			return err
		},
		"error":   func(context.Context, string, Manifest) error { return errors.New("no room") },
		"panic":   func(context.Context, string, Manifest) error { panic("oh") },
		"missing": Program(filepath.Join(dir, "no such program")),
	} {
		_, warnings := Settle(t.Context(), made, dir, Policy{MaxBundles: 1}, store, testTime)
		if (len(warnings) == 0) != (name == "good") {
			t.Errorf("%s: %v", name, warnings)
		}
		checkBundle(t, made.Path)
	}
	if len(seen) != 1 || seen[0] != "1" {
		t.Errorf("the hook saw %v bundles; it comes after retention", seen)
	}
	if _, warnings := Settle(t.Context(), made, filepath.Join(dir, "none"), Policy{MaxBundles: 1}, nil, testTime); len(warnings) != 0 {
		t.Errorf("a directory that is not there: %v", warnings)
	}
}

// TestTheHooksWordsAreFew: of a hook that fails and says much, little is told.
func TestTheHooksWordsAreFew(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the hook of this test is a shell script")
	}
	hook := filepath.Join(t.TempDir(), "hook")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\nhead -c 100000 /dev/zero | tr '\\0' x\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Program(hook)(t.Context(), "b.zip", Manifest{}); err == nil || len(err.Error()) > 5000 {
		t.Errorf("it said %d bytes", len(fmt.Sprint(err)))
	}
}

func TestProgramHook(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the hook of this test is a shell script")
	}
	dir := t.TempDir()
	hook := filepath.Join(dir, "hook")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\ncat > \"$1/manifest\" && cp \"$2\" \"$1/copy.zip\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	made := mustCreate(t, Options{Record: simple(t, t.TempDir(), "r")})
	if err := Program(hook, dir)(t.Context(), made.Path, made.Manifest); err != nil {
		t.Fatal(err)
	}
	checkBundle(t, filepath.Join(dir, "copy.zip"))
	if text, err := os.ReadFile(filepath.Join(dir, "manifest")); err != nil || !strings.Contains(string(text), made.Manifest.BundleID) {
		t.Errorf("the hook read %s, %v", text, err)
	}
}
