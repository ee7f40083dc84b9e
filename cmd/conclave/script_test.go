package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"conclave/internal/modelstub"
	"conclave/internal/program"
	"conclave/internal/sample"
	"conclave/room"
)

func TestMain(m *testing.M) {
	room.Init()
	if filepath.Base(os.Args[0]) != "conclave" { // else it is the program, and the flags are its own
		sample.Tests(7)
	}
	testscript.Main(m, map[string]func(){
		"conclave": func() { os.Exit(run(os.Args[1:])) },
	})
}

// TestScripts runs every scenario in testdata/script: a newcomer can read one and
// write the next. Some of them, others with every commit, are run by the program
// with the race detector, the rest by one without; make check runs only the former.
func TestScripts(t *testing.T) {
	dir := filepath.Join("testdata", "script")
	found, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no scenarios in %s (%v)", dir, err)
	}
	var watched, rest []string
	drawn := sample.Pick(t, len(found), 3, len(found)/20)
	for i, f := range found {
		if slices.Contains(drawn, i) {
			watched = append(watched, f)
		} else if !testing.Short() {
			rest = append(rest, f)
		}
	}
	runScripts(t, watched, "")
	if len(rest) > 0 {
		runScripts(t, rest, plainProgram(t))
	}
}

// plainProgram builds the program as people have it, and says in which directory
// it is: one through which others may pass, for rooms have users of their own.
func plainProgram(t *testing.T) string {
	dir, err := os.MkdirTemp("", "conclave-plain-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := program.Build(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// runScripts runs scenarios by the program in a directory; "" is this one.
func runScripts(t *testing.T, files []string, program string) {
	testscript.Run(t, scriptParams(files, program))
}

// scriptParams are those of scenarios by the program in a directory.
func scriptParams(files []string, program string) testscript.Params {
	return testscript.Params{
		Files: files,
		Condition: func(name string) (bool, error) {
			if name != "root" {
				return false, fmt.Errorf("no condition is called %q", name)
			}
			return os.Geteuid() == 0, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"flip": flipByte, "glob": globOne(false), "newest": globOne(true), "huge": hugeFile,
			"private": nobodyElses, "spoil": spoilText, "exits": exitsWith, "stub": serveModels,
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("GORACE", os.Getenv("GORACE"))
			if program != "" {
				e.Setenv("PATH", program+string(os.PathListSeparator)+e.Getenv("PATH"))
			}
			e.Setenv("TMPDIR", os.TempDir()) // where others may pass through: rooms have users of their own
			e.Setenv("XDG_DATA_HOME", filepath.Join(e.WorkDir, ".data"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, ".config"))
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, ".cache"))
			return nil
		},
	}
}

// serveModels starts a server that speaks like those of models, of all kinds, and
// has the models that are named; $STUB is its address: stub MODEL…
func serveModels(ts *testscript.TestScript, _ bool, args []string) {
	models := modelstub.New(func(modelstub.Request) modelstub.Reply {
		return modelstub.Answer(modelstub.Say("I am here, and see no files."))
	})
	list := []map[string]string{}
	for _, name := range args {
		list = append(list, map[string]string{"id": name})
	}
	target, err := url.Parse(models.URL())
	ts.Check(err)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"data": list}) // whoever hangs up has had enough
	})
	mux.Handle("/", httputil.NewSingleHostReverseProxy(target))
	server := httptest.NewServer(mux)
	ts.Defer(func() {
		server.Close()
		models.Close()
	})
	ts.Setenv("STUB", strings.TrimPrefix(server.URL, "http://"))
}

// flipByte changes the byte at an offset of a file: flip FILE OFFSET.
func flipByte(ts *testscript.TestScript, _ bool, args []string) {
	file := ts.MkAbs(args[0])
	data, err := os.ReadFile(file)
	ts.Check(err)
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	data[at] ^= 1
	ts.Check(os.WriteFile(file, data, 0o600))
}

// globOne puts one file that matches a pattern into $GLOB: the oldest by its
// name, or the newest. Names of conversations begin with the minute, so of two
// with one advisor the second is called cat_02 or, a minute later, cat.
func globOne(newest bool) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		found, err := filepath.Glob(ts.MkAbs(args[0]))
		ts.Check(err)
		if len(found) == 0 {
			ts.Fatalf("%s matches no file", args[0])
		}
		slices.Sort(found)
		if newest {
			slices.Reverse(found)
		}
		ts.Setenv("GLOB", found[0])
	}
}

// hugeFile makes a file of a size without filling it: huge FILE BYTES.
func hugeFile(ts *testscript.TestScript, _ bool, args []string) {
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(f.Truncate(size))
	ts.Check(f.Close())
}

// nobodyElses checks that nobody but its owner may do anything with what is in
// a directory: private DIR.
func nobodyElses(ts *testscript.TestScript, _ bool, args []string) {
	n := 0
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			ts.Logf("%v %s", info.Mode(), path)
			err = errors.New("others may read it")
		}
		n++
		return err
	}))
	if n < 2 {
		ts.Fatalf("%s is empty", args[0])
	}
}

// spoilText adds a byte to a file that is no UTF-8: spoil FILE.
func spoilText(ts *testscript.TestScript, _ bool, args []string) {
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), append(data, 0xff), 0o600))
}

// exitsWith runs a program that must end with a code: exits 3 conclave …
func exitsWith(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE program ARG…")
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("it exits with %d, not with %s", code, args[0])
	}
}
