package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/internal/sessiongen"
)

// benchmark is work for the program. Of its commands DATA is where the session
// files are, OWN a directory of one program, RUN a fresh one for each run, which
// is also where commands are run.
type benchmark struct {
	name   string
	setUp  []string // once, before all runs
	before []string // before each run
	timed  []string
}

// benchmarks are all of them, and what each is for.
var benchmarks = []benchmark{
	{ // what a line of a session means
		name:  "mapping",
		timed: slices.Repeat([]string{"transcript map DATA/projects --source-time"}, 3),
	},
	{ // session files onto the record
		name:   "import",
		before: []string{"init --yes"},
		timed:  []string{"record import DATA/projects"},
	},
	{ // a first refresh, with full text
		name:  "archive",
		timed: []string{"archive refresh DATA/projects --archive RUN/archive.db"},
	},
	{ // rare words, common ones, several, filtered; many hits with what is around them
		name:  "search",
		setUp: []string{"archive refresh DATA/projects --archive OWN/archive.db"},
		timed: []string{
			"search --archive OWN/archive.db --no-refresh --limit 400 --context 3 --json dragon",
			"search --archive OWN/archive.db --no-refresh --limit 400 --context 3 --json the party",
			"search --archive OWN/archive.db --no-refresh --limit 400 --json -- sess* -dragon",
			"search --archive OWN/archive.db --no-refresh --limit 400 --json --in tool_use grep",
		},
	},
	{ // a file for the first time; columns, long texts and tool calls of an archive
		name:  "query",
		setUp: []string{"archive refresh DATA/projects --archive OWN/archive.db"},
		timed: []string{
			"query DATA/one.jsonl SELECT entry_type, count(*) FROM transcript GROUP BY 1",
			"query --archive=OWN/archive.db --no-refresh SELECT entry_type, count(*) FROM transcript GROUP BY 1",
			"query --archive=OWN/archive.db --no-refresh SELECT sum(length(content)) FROM transcript",
			"query --archive=OWN/archive.db --no-refresh SELECT tool_name, avg(duration_ms) FROM tool_calls GROUP BY 1",
		},
	},
	{ // the tokens of a tree, from nothing and from what was counted before
		name:  "usage",
		timed: []string{"usage DATA/copies", "usage DATA/copies", "usage --by project DATA/copies"},
	},
	{ // an adventure at the table, cycle by cycle, to its end
		name:   "cycle",
		before: []string{"init --yes", "table new weir --adventure"},
		timed:  []string{"table play weir --auto"},
	},
}

// makeData writes session files below dir: a tree, one file alone, and the tree
// several times, for what is too fast to be measured on one.
func makeData(dir string, size int64) error {
	tree, err := sessiongen.WriteTree(dir, sessiongen.TreeOptions{Seed: 7, Bytes: size, Words: 40_000})
	if err != nil {
		return err
	}
	for n := range 8 {
		for _, file := range tree.Files {
			rel, err := filepath.Rel(tree.Dir, file)
			if err != nil {
				return err
			}
			to := filepath.Join(dir, "copies", fmt.Sprint(n), rel)
			if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
				return err
			}
			if err := os.Link(file, to); err != nil {
				return err
			}
		}
	}
	f, err := os.Create(filepath.Join(dir, "one.jsonl"))
	if err != nil {
		return err
	}
	_, err = sessiongen.Write(f, sessiongen.Options{Seed: 3, Bytes: size / 2, Words: 40_000})
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// side is one of the two programs and what it took.
type side struct {
	name, program string
	data, own     string
	took          map[string][]spent
}

// setUp does what the benchmarks need done once; what two of them need, once.
func (s *side) setUp(chosen []benchmark) error {
	s.took = map[string][]spent{}
	if err := os.MkdirAll(filepath.Join(s.own, "run"), 0o700); err != nil {
		return err
	}
	done := map[string]bool{}
	for _, b := range chosen {
		for _, command := range b.setUp {
			if done[command] {
				continue
			}
			done[command] = true
			if _, err := s.command(command); err != nil {
				return err
			}
		}
	}
	return nil
}

// time runs a benchmark in a fresh directory and says how long its commands took.
func (s *side) time(b benchmark) (took spent, err error) {
	if err := os.RemoveAll(filepath.Join(s.own, "run")); err != nil {
		return took, err
	}
	if err := os.MkdirAll(filepath.Join(s.own, "run", ".cache"), 0o700); err != nil {
		return took, err
	}
	for _, command := range b.before {
		if _, err := s.command(command); err != nil {
			return took, err
		}
	}
	for _, command := range b.timed {
		d, err := s.command(command)
		if err != nil {
			return took, err
		}
		took = spent{took.wall + d.wall, took.cpu + d.cpu}
	}
	return took, nil
}

// command runs one command in the run's directory, with nothing of this
// machine's user around it.
func (s *side) command(command string) (spent, error) {
	run := filepath.Join(s.own, "run")
	cmd := exec.Command(s.program)
	for _, word := range words(command) {
		cmd.Args = append(cmd.Args, strings.NewReplacer("DATA", s.data, "OWN", s.own, "RUN", run).Replace(word))
	}
	cmd.Dir = run
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + run, "XDG_CACHE_HOME=" + filepath.Join(run, ".cache"),
		"XDG_DATA_HOME=" + filepath.Join(run, ".data"), "XDG_CONFIG_HOME=" + filepath.Join(run, ".config")}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	start := time.Now()
	err := cmd.Run()
	took := spent{wall: time.Since(start)}
	if err != nil {
		return took, fmt.Errorf("conclave %s: %w\n%s", command, err, stderr.Bytes())
	}
	took.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return took, nil
}

// words are those of a command; an SQL statement, which comes last, is one.
func words(command string) []string {
	before, statement, ok := strings.Cut(command, "SELECT")
	list := strings.Fields(before)
	if ok {
		list = append(list, "SELECT"+statement)
	}
	return list
}
