package claude

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"conclave/agent"
)

// Status is what can be known about the program without starting a session.
type Status struct {
	Path    string
	Version string
	// Login is how a session could pay on this machine: "api key" when the
	// environment has one, "login" when the program holds one, "" when
	// neither was found.
	Login string
	// Note says, for people, what Login was concluded from.
	Note string
	// Tested says that this version is one of those the adapter is tested
	// with; others work as far as they can.
	Tested bool
}

// testedVersions are those that the adapter's tests drive.
var testedVersions = []string{"2.1.325", "2.1.197"}

// Probe finds the program, asks it for its version, and looks whether there is
// a key or a login. It looks at names and environment variables only, never
// into a file of credentials. The launcher starts the program for its version;
// nil means that the version is not asked for.
func (a *Agent) Probe(ctx context.Context, l agent.Launcher) (Status, error) {
	path, err := find(a.cfg.Program)
	if err != nil {
		return Status{}, err
	}
	s := Status{Path: path}
	s.Login, s.Note = loginOn(os.Getenv, exists)
	if l == nil {
		return s, nil
	}
	if s.Version, err = version(ctx, l, path); err != nil {
		return s, fmt.Errorf("ask %s for its version: %w", path, err)
	}
	s.Tested = slices.Contains(testedVersions, s.Version)
	return s, nil
}

// loginOn looks for a key, a token and a login, in the order in which the
// program prefers them.
func loginOn(env func(string) string, there func(string) bool) (login, note string) {
	dir := env("CLAUDE_CONFIG_DIR")
	if dir == "" {
		dir = filepath.Join(env("HOME"), ".claude")
		if home := env("USERPROFILE"); env("HOME") == "" && home != "" {
			dir = filepath.Join(home, ".claude")
		}
	}
	switch {
	case env("ANTHROPIC_API_KEY") != "":
		return "api key", "ANTHROPIC_API_KEY is set"
	case env(tokenVar) != "":
		return "login", tokenVar + " is set"
	case there(filepath.Join(dir, ".credentials.json")):
		return "login", filepath.Join(dir, ".credentials.json") + " exists"
	case runtime.GOOS == "darwin":
		return "", "no key in the environment; a login may be in the keychain, which is not looked into"
	}
	return "", "no key in the environment and no login in " + dir
}

// version runs the program with --version, which answers without a session.
func version(ctx context.Context, l agent.Launcher, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	p, err := l.Launch(ctx, agent.Command{Path: path, Args: []string{"--version"},
		Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + os.TempDir(), "DISABLE_AUTOUPDATER=1"}})
	if err != nil {
		return "", err
	}
	p.Stdin().Close()
	out := newQueue()
	read := make(chan struct{})
	go func() { defer close(read); out.fill(p.Stdout()) }()
	select {
	case <-p.Done():
	case <-ctx.Done():
	}
	err = errors.Join(p.Stop(ctx), p.Err(), ctx.Err())
	<-read
	line, _ := out.take()
	word, _, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
	if word == "" && err == nil {
		err = errors.New("it said nothing")
	}
	return word, err
}
