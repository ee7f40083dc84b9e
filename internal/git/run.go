package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// patience is how long git may take for all answers about a repository.
const patience = 6 * time.Second

// switches hold whatever a configuration says, ours included; a git that does
// not know one ignores it.
var switches = []string{
	"safe.bareRepository=explicit", "safe.directory=*", "protocol.allow=never", "core.hooksPath=" + os.DevNull,
	"core.fsmonitor=false", "core.untrackedCache=false", "core.commitGraph=false", "core.multiPackIndex=false",
	"core.attributesFile=" + os.DevNull, "core.excludesFile=" + os.DevNull, "core.pager=cat", "core.editor=false",
	"core.sshCommand=false", "core.askPass=false", "core.gitProxy=false", "core.alternateRefsCommand=false",
	"core.useReplaceRefs=false", "core.quotePath=true", "core.bigFileThreshold=16m",
	"core.packedGitWindowSize=16m", "core.packedGitLimit=128m", "core.deltaBaseCacheLimit=16m", "credential.helper=",
	"fetch.recurseSubmodules=false",
	"submodule.recurse=false", "diff.external=", "diff.ignoreSubmodules=all", "diff.renames=false", "log.showSignature=false",
	"gpg.program=false", "gpg.ssh.program=false", "gpg.x509.program=false", "maintenance.auto=false", "gc.auto=0",
}

// environ is all that git learns of this process.
func (r *Repository) environ() []string {
	env := []string{
		"PATH=" + strings.Join(r.path, string(os.PathListSeparator)), "LC_ALL=C.UTF-8", "TZ=UTC",
		"HOME=/nonexistent", "XDG_CONFIG_HOME=/nonexistent",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=" + os.DevNull, "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ATTR_NOSYSTEM=1",
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=false",
		"GIT_PAGER=cat", "PAGER=cat", "GIT_EDITOR=false", "GIT_SSH_COMMAND=false", "GIT_ALLOW_PROTOCOL=none", "GIT_PROTOCOL_FROM_USER=0",
		"GIT_DISCOVERY_ACROSS_FILESYSTEM=0", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(r.top), "GIT_FLUSH=0",
		"GIT_DIR=" + r.private, "GIT_COMMON_DIR=" + r.private, "GIT_WORK_TREE=" + r.top, "GIT_INDEX_FILE=" + filepath.Join(r.private, "index"),
		"GIT_OBJECT_DIRECTORY=" + filepath.Join(r.common.Name(), "objects"),
	}
	if root := os.Getenv("SystemRoot"); runtime.GOOS == "windows" && root != "" {
		env = append(env, "SystemRoot="+root)
	}
	return env
}

// command is git with all switches.
func (r *Repository) command(ctx context.Context, args ...string) *exec.Cmd {
	var line []string
	for _, s := range switches {
		line = append(line, "-c", s)
	}
	line = append(line, "--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs")
	program, line := limited(r.program, append(line, args...))
	cmd := exec.CommandContext(ctx, program, line...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = r.environ(), r.workspace, time.Second
	return cmd
}

// errCut says that there was more output than was asked for.
var errCut = errors.New("git said more than it may")

// ask runs git and returns what it said, at most limit bytes. With errCut these
// are the beginning.
func (r *Repository) ask(ctx context.Context, limit int, args ...string) ([]byte, error) {
	ctx, cancel := context.WithDeadline(ctx, r.until)
	defer cancel()
	cmd := r.command(ctx, args...)
	out, said := &bounded{limit: limit, full: cancel}, &bounded{limit: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, said
	err := cmd.Run()
	switch {
	case out.cut:
		return out.kept.Bytes(), errCut
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("git %s: no answer within %v", args[0], patience)
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, firstLine(said.kept.String()))
	}
	return out.kept.Bytes(), nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// bounded keeps the beginning of what it is given, and tells when that is full.
type bounded struct {
	kept  bytes.Buffer // not embedded: its ReadFrom would pass by the limit
	limit int
	cut   bool
	full  func()
}

func (b *bounded) Write(p []byte) (int, error) {
	room := b.limit - b.kept.Len()
	if len(p) <= room {
		return b.kept.Write(p)
	}
	b.kept.Write(p[:max(room, 0)])
	if b.cut = true; b.full != nil {
		b.full()
	}
	return len(p), nil
}
