package codex

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"conclave/agent"
)

// ProbeOptions say where to look. The zero value looks where a person's shell
// would and starts nothing.
type ProbeOptions struct {
	Path     string              // of the program; "" means that of PATH
	Launcher agent.Launcher      // to ask its version; nil means not to
	Env      func(string) string // nil means os.Getenv
}

// Found is what is installed.
type Found struct {
	Path    string // as it was found
	Native  string // the program itself, behind npm's script
	Version string // "" when it was not asked
	// Login is "login" when the program holds one, "api key" when the
	// environment does, "" when neither. Only existence is looked at.
	Login string
}

// ErrNotInstalled means that no program was found.
var ErrNotInstalled = errors.New("codex is not installed")

// Probe says what is installed, for people.
func Probe(ctx context.Context, o ProbeOptions) (Found, error) {
	if o.Env == nil {
		o.Env = os.Getenv
	}
	f := Found{Path: o.Path, Login: login(o.Env)}
	if f.Path == "" {
		f.Path = search(o.Env("PATH"))
	}
	if f.Path == "" {
		return f, fmt.Errorf("%w; npm install -g @openai/codex installs it", ErrNotInstalled)
	}
	var err error
	if f.Native, err = Locate(f.Path); err != nil {
		return f, err
	}
	if o.Launcher != nil {
		f.Version, err = askVersion(ctx, o.Launcher, f.Native)
	}
	return f, err
}

func login(env func(string) string) string {
	if home := homeOf(env); home != "" {
		if _, err := os.Stat(filepath.Join(home, authFile)); err == nil {
			return "login"
		}
	}
	if env("OPENAI_API_KEY") != "" || env("CODEX_API_KEY") != "" {
		return "api key"
	}
	return ""
}

func exeName() string {
	if runtime.GOOS == "windows" {
		return "codex.exe"
	}
	return "codex"
}

func search(path string) string {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // a program is never taken from the working directory
		}
		file := filepath.Join(dir, exeName())
		if info, err := os.Stat(file); err == nil && !info.IsDir() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
			return file
		}
	}
	return ""
}

// Locate finds the native program behind path. What npm installs under the
// name is a script for Node that starts it; a room should need no Node.
func Locate(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("find codex: %w", err)
	}
	if real, err = filepath.Abs(real); err != nil {
		return "", fmt.Errorf("find codex: %w", err)
	}
	if filepath.Ext(real) != ".js" {
		return real, nil
	}
	pkg := filepath.Dir(filepath.Dir(real)) // …/@openai/codex
	for _, pattern := range []string{
		filepath.Join(filepath.Dir(pkg), "codex-*", "vendor", "*", "bin", exeName()),
		filepath.Join(pkg, "node_modules", "@openai", "codex-*", "vendor", "*", "bin", exeName()),
		filepath.Join(pkg, "vendor", "*", "*", exeName()),
	} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 { // the pattern is well formed
			return found[0], nil
		}
	}
	return "", fmt.Errorf("find codex: %s is npm's script, and the program that it starts is not there; reinstall @openai/codex", real)
}

// askVersion runs codex --version.
func askVersion(ctx context.Context, l agent.Launcher, path string) (string, error) {
	dir, err := os.MkdirTemp("", "conclave-codex-")
	if err != nil {
		return "", fmt.Errorf("ask codex its version: %w", err)
	}
	defer os.RemoveAll(dir)
	p, err := l.Launch(ctx, agent.Command{Path: path, Args: []string{"--version"}, Dir: dir,
		Env: []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "CODEX_HOME=" + dir}})
	if err != nil {
		return "", fmt.Errorf("ask codex its version: %w", err)
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, p.Stderr()) // its warnings about a bare home
	}()
	out, readErr := io.ReadAll(io.LimitReader(p.Stdout(), 4096))
	stopCtx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	stopErr := p.Stop(stopCtx)
	<-drained
	if err := errors.Join(readErr, stopErr); err != nil {
		return "", fmt.Errorf("ask codex its version: %w", err)
	}
	_, version, _ := strings.Cut(strings.TrimSpace(string(out)), " ") // "codex-cli 0.166.0"
	return version, nil
}
