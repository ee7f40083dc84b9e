package judging

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"conclave/agent"
	"conclave/policy"
	"conclave/quest"
	"conclave/room"
)

// checkWall bounds one check.
const checkWall = 5 * time.Minute

// maxNote bounds what is kept of a check's output.
const maxNote = 400

// Checker runs the criteria's own checks.
type Checker struct {
	Outside []string // directories that no room of a check may show
	Tools   []string // directories with programs that checks may use
	// Vouch refuses a command that the person has not said yes to.
	Vouch func(name string, command []byte) error
	// Begins hears of each check before it runs; nil means nobody does.
	Begins func(criterion int)
}

// Checked is the result of one check, with the level of the room that it ran in;
// the empty one where none could be opened.
type Checked struct {
	quest.CheckResult
	Level room.Level
}

// Run runs the checks of criteria over the work: each in a sealed room of its
// own that holds the work and nothing else, without key and without network.
func (k Checker) Run(ctx context.Context, criteria []quest.Criterion, work *quest.Work) ([]Checked, error) {
	var out []Checked
	for _, c := range criteria {
		if c.Check == "" {
			continue
		}
		if k.Begins != nil {
			k.Begins(c.Number)
		}
		res, err := k.run(ctx, c, work)
		if err != nil {
			return nil, err
		}
		out = append(out, res)
	}
	return out, nil
}

// Results are those of checks, without their rooms.
func Results(checks []Checked) []quest.CheckResult {
	var out []quest.CheckResult
	for _, c := range checks {
		out = append(out, c.CheckResult)
	}
	return out
}

// CheckName names a criterion's check where trust is asked for.
func CheckName(c quest.Criterion) string { return fmt.Sprintf("the check of criterion %d", c.Number) }

func (k Checker) run(ctx context.Context, c quest.Criterion, work *quest.Work) (Checked, error) {
	res := Checked{CheckResult: quest.CheckResult{Number: c.Number, State: quest.CheckNotRun}}
	if err := k.Vouch(CheckName(c), []byte(c.Check)); err != nil {
		return res, err
	}
	plan := room.Plan{Role: "check", Level: room.Sealed, Outside: k.Outside, Programs: k.Tools,
		Limits: room.Limits{Wall: checkWall}}
	var err error
	if plan.Grants, err = WorkGrants(policy.Dragon, work); err != nil {
		return res, err
	}
	r, err := room.Open(ctx, plan)
	if err != nil {
		res.Note = err.Error()
		return res, ctx.Err()
	}
	defer r.Close()
	if err := executables(r, work); err != nil {
		return res, err
	}
	output, err := k.inRoom(ctx, r, c.Check)
	if ctx.Err() != nil {
		return res, ctx.Err()
	}
	res.State, res.Note = judgeCheck(err, output)
	res.Level = r.Enforcement().Level
	return res, nil
}

// executables gives the copies of programs their mark back.
func executables(r *room.Room, work *quest.Work) error {
	for _, f := range work.Files {
		if f.Executable {
			if err := os.Chmod(r.Place().OnHost(agent.WorkDir, WorkDir, filepath.FromSlash(f.Path)), 0o700); err != nil {
				return fmt.Errorf("prepare the check: %w", err)
			}
		}
	}
	return nil
}

// inRoom runs a shell command over the work and returns what it wrote.
func (k Checker) inRoom(ctx context.Context, r *room.Room, command string) ([]byte, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	var out tailBuffer
	done := make(chan error, 1)
	go func() {
		_, err := io.Copy(&out, read)
		done <- err
	}()
	paths := append(append([]string{}, k.Tools...), "/usr/local/bin", "/usr/bin", "/bin")
	err = r.Run(ctx, agent.Command{
		Path: "/bin/sh", Args: []string{"-c", command}, Dir: r.Place().InGuest(agent.WorkDir, WorkDir),
		Env: []string{"PATH=" + strings.Join(paths, ":"), "HOME=" + r.Place().InGuest(agent.HomeDir),
			"TMPDIR=" + r.Place().InGuest(agent.TempDir), "LANG=C.UTF-8"},
	}, room.Stdio{Out: write, Err: write})
	write.Close()
	readErr := <-done
	read.Close()
	return out.data, errors.Join(err, readErr)
}

// tailBuffer keeps the end of what is written to it.
type tailBuffer struct{ data []byte }

func (b *tailBuffer) Write(p []byte) (int, error) {
	b.data = append(b.data, p...)
	if over := len(b.data) - 64<<10; over > 0 {
		b.data = append(b.data[:0], b.data[over:]...)
	}
	return len(p), nil
}

// judgeCheck: a program that ran and said no has failed; one that could not be
// started is evidence of nothing.
func judgeCheck(err error, output []byte) (quest.CheckState, string) {
	note := lastLine(output)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return quest.CheckPassed, note
	case !errors.As(err, &exit):
		return quest.CheckNotRun, err.Error()
	case exit.ExitCode() == 126 || exit.ExitCode() == 127 || exit.ExitCode() < 0:
		return quest.CheckNotRun, strings.TrimSuffix(exit.String()+": "+note, ": ")
	}
	return quest.CheckFailed, strings.TrimSuffix(exit.String()+": "+note, ": ")
}

func lastLine(output []byte) string {
	lines := bytes.Split(bytes.TrimSpace(output), []byte("\n"))
	last := strings.ToValidUTF8(string(lines[len(lines)-1]), "\uFFFD")
	if r := []rune(last); len(r) > maxNote {
		last = string(r[:maxNote]) + "…"
	}
	return last
}

// ChecksText is what the Dragon is told about the checks.
func (c *Case) ChecksText() []byte {
	var b bytes.Buffer
	for _, res := range c.Checks {
		command := ""
		for _, k := range c.Quest.Criteria {
			if k.Number == res.Number {
				command = k.Check
			}
		}
		fmt.Fprintf(&b, "- Criterion %d, check `%s`: %s", res.Number, command, res.State)
		if res.Note != "" {
			fmt.Fprintf(&b, " (%s)", res.Note)
		}
		b.WriteString("\n")
	}
	return b.Bytes()
}
