package claude

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"conclave/agent"
	"conclave/transcript"
)

// Config says which program to drive, and how. The zero value works: the
// program is found on the PATH.
type Config struct {
	// Program is the absolute path of Claude Code; "" looks for "claude" on
	// the PATH.
	Program string

	// Retries is how often the program itself repeats a failed call of the
	// model; zero means 4, less than zero none.
	Retries int

	// SlashCommands lets a message that begins with a slash be a command of
	// the program ("/compact"). Off, it is words like any other, and sent
	// with a blank in front.
	SlashCommands bool

	// Env is appended to the program's environment.
	Env []string

	// Settle bounds the wait for lines that were said on stdout and are not
	// in a file yet, at the end of a turn; zero means 3 s. They usually come
	// within 0.1 s.
	Settle time.Duration

	// How the session files are read while the program works: the time between
	// two looks that nothing else causes (zero means 5 ms), between two searches
	// for files of subagents (zero: at each look), and bytes per read.
	Poll, Discovery time.Duration
	MaxReadBytes    int
}

// Agent drives Claude Code.
type Agent struct{ cfg Config }

// New returns an agent.
func New(c Config) *Agent {
	if c.Settle <= 0 {
		c.Settle = 3 * time.Second
	}
	if c.Retries == 0 {
		c.Retries = 4
	}
	return &Agent{cfg: c}
}

// Adapter is the registered name.
func (a *Agent) Adapter() string { return transcript.AdapterClaude }

// startWait is how long the program gets to say that it is ready.
const startWait = time.Minute

// Start begins a session and returns when the program has answered.
func (a *Agent) Start(ctx context.Context, spec agent.Spec) (agent.Session, error) {
	if spec.Emitter == nil || spec.Launcher == nil {
		return nil, errors.New("start claude: a session needs an emitter and a launcher")
	}
	if spec.Place.Host == "" || spec.Place.Guest == "" {
		return nil, errors.New("start claude: a session needs a place")
	}
	program, err := find(a.cfg.Program)
	if err != nil {
		return nil, err
	}
	p, err := a.plan(program, spec)
	if err != nil {
		return nil, fmt.Errorf("start claude: %w", err)
	}
	process, err := spec.Launcher.Launch(ctx, p.command)
	if err != nil {
		return nil, fmt.Errorf("start claude: %w", err)
	}
	s := newSession(a.cfg, spec, p, process)
	if err := s.ready(ctx); err != nil {
		_ = s.Stop(ctx) // what went wrong first is what counts
		return nil, fmt.Errorf("start claude: %w", err)
	}
	return s, nil
}

// find returns the absolute path of the program.
func find(program string) (string, error) {
	if program == "" {
		program = "claude"
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return "", fmt.Errorf("find Claude Code: there is no program %q; install it (npm install -g @anthropic-ai/claude-code) or name its path in the configuration: %w", program, err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", fmt.Errorf("find Claude Code: %w", err)
	}
	// A launcher shows the program's own file to the room, not a link to it.
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path, nil
}

// newID returns a random UUID, the only form of session id that the program
// takes.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// APIError says that the model could not be asked, or answered with an error,
// and that the program gave up. The session can go on.
type APIError struct {
	Status  int // of HTTP; 0 when there was none
	Message string
}

// HTTPStatus implements agent.ModelError.
func (e *APIError) HTTPStatus() int { return e.Status }

func (e *APIError) Error() string {
	if e.Status == 0 {
		return "model: " + e.Message
	}
	return fmt.Sprintf("model: status %d: %s", e.Status, e.Message)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
