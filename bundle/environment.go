package bundle

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"conclave/bundle/redact"
	"conclave/internal/git"
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
		{"environment/runtime.json", map[string]any{"runtime": "go", "version": runtime.Version(),
			"compiler": runtime.Compiler, "program": w.survey.header.Program, "build": w.o.Build}},
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
	return map[string]any{"is_containerized": kind != "", "runtime": kind,
		"cgroup_path": strings.TrimPrefix(readWord("/proc/self/cgroup"), "0::")}
}

// maxDiff is how much of git.diff is kept.
const maxDiff = 5 << 20

// gitState is what is known of the workspace's repository. NotKnown says of
// what is missing why it is.
type gitState struct {
	Root     string            `json:"repo_root,omitempty"`
	Commit   string            `json:"commit_sha,omitempty"`
	Short    string            `json:"commit_short,omitempty"`
	Branch   string            `json:"branch,omitempty"`
	Dirty    *bool             `json:"is_dirty,omitempty"`
	Remotes  map[string]string `json:"remotes,omitempty"`
	Tags     []string          `json:"tags,omitempty"`
	NotKnown map[string]string `json:"not_known,omitempty"`
}

// git writes what git says of the workspace, if it is in a repository. What it
// cannot say is named with the reason.
func (w *writer) git() error {
	if w.o.Workspace == "" {
		return nil
	}
	repo, err := git.Open(w.ctx, w.o.Workspace)
	if errors.Is(err, git.ErrNone) {
		return nil
	}
	if err != nil {
		w.notKnown = map[string]string{"repository": err.Error()}
		return w.addJSON("environment/git.json", gitState{NotKnown: w.notKnown})
	}
	defer repo.Close()
	state, diff := w.askGit(repo)
	w.notKnown = state.NotKnown
	if err := w.addJSON("environment/git.json", state); err != nil || len(diff) == 0 {
		return err
	}
	return w.add("environment/git.diff", diff)
}

func (w *writer) askGit(repo *git.Repository) (gitState, []byte) {
	commit := repo.Commit()
	s := gitState{Root: repo.Top(), Commit: commit, Short: commit[:min(8, len(commit))],
		Branch: repo.Branch(), Remotes: repo.Remotes(), NotKnown: map[string]string{}}
	note := func(what string, err error) {
		if err != nil {
			s.NotKnown[what] = err.Error()
		}
	}
	dirty, err := repo.Dirty(w.ctx)
	if note("is_dirty", err); err == nil {
		s.Dirty = &dirty
	}
	s.Tags, err = repo.Tags(w.ctx)
	note("tags", err)
	diff, cut, err := repo.Diff(w.ctx, maxDiff)
	note("diff", err)
	if cut {
		w.manifest.Capture.Limits["git_diff_truncated"] = true
	}
	return s, diff
}

// limited keeps the beginning of what it is given.
type limited struct {
	kept bytes.Buffer // not embedded: io.Copy would pass Write by
	max  int
	cut  bool
}

func (l *limited) String() string { return l.kept.String() }

func (l *limited) Write(p []byte) (int, error) {
	if room := l.max - l.kept.Len(); len(p) > room {
		l.cut = true
		l.kept.Write(p[:max(room, 0)])
		return len(p), nil
	}
	return l.kept.Write(p)
}
