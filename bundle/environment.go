package bundle

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"conclave/bundle/redact"
)

// environment writes what someone needs to know of the machine to run it
// again. What cannot be found out is left out: a bundle does not fail for want
// of git.
func (w *writer) environment() error {
	host, _ := os.Hostname()
	wd, _ := os.Getwd()
	files := []struct {
		name string
		v    any
	}{
		{"environment/system.json", map[string]any{
			"os_name": runtime.GOOS, "os_release": osRelease(), "kernel_version": readWord("/proc/sys/kernel/osrelease"),
			"architecture": runtime.GOARCH, "processor": "", "cpu_count": runtime.NumCPU(), "memory_total_bytes": memoryTotal(), "hostname": host,
		}},
		{"environment/runtime.json", map[string]any{"runtime": "go", "version": runtime.Version(), "compiler": runtime.Compiler, "program": w.survey.header.Program, "build": w.o.Build}},
		{"environment/env_vars.json", filterEnviron(w.o.Environ)},
		{"environment/container.json", container()},
	}
	for _, f := range files {
		if err := w.addJSON(f.name, f.v); err != nil {
			return err
		}
	}
	command := "argv: " + strings.Join(quoteAll(w.o.Command), " ") + "\nworking directory: " + wd + "\n"
	if err := errors.Join(w.add("environment/packages.txt", packages()), w.add("environment/command.txt", []byte(command))); err != nil {
		return err
	}
	return w.git()
}

func quoteAll(args []string) []string {
	var out []string
	for _, a := range args {
		if strings.ContainsAny(a, " \t\n\"'\\") || a == "" {
			a = strconv.Quote(a)
		}
		out = append(out, a)
	}
	return out
}

// keptVariables are shown with their values; of others only the name is said.
var keptVariables = strings.Fields("CI COLORTERM GOARCH GOFLAGS GOMAXPROCS GOMEMLIMIT GOOS GOVERSION HOME LANG LANGUAGE LOGNAME NO_COLOR PATH PWD SHELL TERM TERM_PROGRAM TMPDIR TZ USER XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR")

func filterEnviron(environ []string) map[string]string {
	out := map[string]string{}
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		switch {
		case !ok || name == "":
		case redact.SecretName(name):
			out[name] = "[redacted:environment]"
		case slices.Contains(keptVariables, name) || strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "CONCLAVE_"):
			out[name] = value
		default:
			out[name] = "[filtered]"
		}
	}
	return out
}

func packages() []byte {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	var b strings.Builder
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.WriteString(m.Path + " " + m.Version + "\n")
	}
	return []byte(b.String())
}

func readWord(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func osRelease() string {
	for line := range strings.Lines(readWord("/etc/os-release")) {
		if name, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			return strings.Trim(strings.TrimSpace(name), `"`)
		}
	}
	return ""
}

func memoryTotal() int64 {
	for line := range strings.Lines(readWord("/proc/meminfo")) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == "MemTotal:" {
			kb, _ := strconv.ParseInt(f[1], 10, 64)
			return kb << 10
		}
	}
	return 0
}

func container() map[string]any {
	kind := ""
	for path, name := range map[string]string{"/.dockerenv": "docker", "/run/.containerenv": "podman"} {
		if _, err := os.Stat(path); err == nil {
			kind = name
		}
	}
	if os.Getenv("KUBERNETES_SERVICE_HOST") != "" {
		kind = "kubernetes"
	}
	return map[string]any{"is_containerized": kind != "", "runtime": kind, "cgroup_path": strings.TrimPrefix(readWord("/proc/self/cgroup"), "0::")}
}

// maxDiff is how much of git.diff is kept.
const maxDiff = 5 << 20

// git writes what git says of the workspace, if there is a git and it is one.
func (w *writer) git() error {
	if w.o.Workspace == "" {
		return nil
	}
	root, ok := w.askGit("rev-parse", "--show-toplevel")
	if !ok {
		return nil
	}
	commit, _ := w.askGit("rev-parse", "HEAD")
	branch, _ := w.askGit("rev-parse", "--abbrev-ref", "HEAD")
	status, _ := w.askGit("status", "--porcelain")
	remotes := map[string]string{}
	list, _ := w.askGit("remote", "-v")
	for line := range strings.Lines(list) {
		if f := strings.Fields(line); len(f) >= 2 {
			remotes[f[0]] = f[1]
		}
	}
	tags, _ := w.askGit("tag", "--points-at", "HEAD")
	err := w.addJSON("environment/git.json", map[string]any{
		"repo_root": root, "commit_sha": commit, "commit_short": commit[:min(8, len(commit))], "branch": branch,
		"is_dirty": status != "", "remotes": remotes, "tags": strings.Fields(tags),
	})
	if err != nil || commit == "" {
		return err
	}
	diff, _ := w.askGit("diff", "--no-ext-diff", "--no-textconv", "--no-color", "HEAD")
	if diff == "" {
		return nil
	}
	if len(diff) > maxDiff {
		diff = diff[:strings.LastIndexByte(diff[:maxDiff], '\n')+1]
		w.manifest.Capture.Limits["git_diff_truncated"] = true
	}
	return w.add("environment/git.diff", []byte(diff+"\n"))
}

// askGit runs git without anything that a repository's own settings could
// start.
func (w *writer) askGit(args ...string) (string, bool) {
	ctx, cancel := context.WithTimeout(w.ctx, 10*time.Second)
	defer cancel()
	args = append([]string{"-C", w.o.Workspace, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "--no-optional-locks"}, args...)
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = append(gitEnviron(w.o.Environ), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	cmd.WaitDelay = time.Second
	out := &limited{max: maxDiff + 64<<10}
	cmd.Stdout = out
	err := cmd.Run()
	return strings.TrimRight(out.String(), "\n"), err == nil || out.cut
}

func gitEnviron(environ []string) []string {
	var out []string
	for _, kv := range environ {
		if name, _, _ := strings.Cut(kv, "="); slices.Contains([]string{"HOME", "PATH", "SystemRoot", "USERPROFILE", "XDG_CONFIG_HOME"}, name) {
			out = append(out, kv)
		}
	}
	return out
}

// limited keeps the beginning of what it is given.
type limited struct {
	bytes.Buffer
	max int
	cut bool
}

func (l *limited) Write(p []byte) (int, error) {
	if room := l.max - l.Len(); len(p) > room {
		l.cut = true
		l.Buffer.Write(p[:max(room, 0)])
		return len(p), nil
	}
	return l.Buffer.Write(p)
}

// holdsSecrets are files that are there to hold secrets: they stay where they
// are.
func holdsSecrets(path string) bool {
	base := strings.ToLower(filepath.Base(path))
	switch base {
	case ".env", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".htpasswd", ".git-credentials", "credentials", "credentials.json", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".dockercfg", ".dockerconfigjson", "auth.json", ".credentials.json":
		return true
	}
	if strings.HasPrefix(base, ".env.") && !strings.HasSuffix(base, ".example") && !strings.HasSuffix(base, ".sample") {
		return true
	}
	switch filepath.Ext(base) {
	case ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".agekey":
		return true
	}
	return false
}
