package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"conclave/collect"
	"conclave/internal/atomicfile"
	"conclave/internal/ownpath"
	"conclave/session"
)

// Service is `conclave record watch` of one workspace as the system starts it
// when the person logs in: a user unit of systemd, or an agent of launchd.
type Service struct {
	Name    string `json:"name"`
	File    string `json:"file"`
	Text    string `json:"text"`
	Removed bool   `json:"removed,omitempty"`
}

// RecordState is how far recording into a workspace has come.
type RecordState = collect.State

// RecordService installs the service of this workspace, or removes it with
// everything that installing it made, or else shows it.
func (a *App) RecordService(ctx context.Context, install, remove bool) (Service, error) {
	root, err := a.findRoot()
	if err != nil {
		return Service{}, err
	}
	s, m, err := a.service(root)
	if err != nil || !install && !remove {
		return s, err
	}
	if remove {
		s.Removed = true
		return s, m.remove(ctx, s)
	}
	if err := a.makePrivate(root); err != nil {
		return s, err
	}
	return s, m.install(ctx, s)
}

// Recording says whether the sessions of agents are being recorded here, and how
// far that is.
func (a *App) Recording() (RecordState, error) {
	root, err := a.rootToRead()
	if err != nil {
		return RecordState{}, err
	}
	s, err := collect.ReadState(root)
	if err != nil {
		return s, environmentError("%w", err)
	}
	return s, nil
}

// manager is a program that starts services: what it is told when one comes, and
// when it goes.
type manager struct {
	program    string
	come, gone [][]string
	dirs       []string // that may have been made for the file, innermost first
}

// kept are the variables that say where sessions and settings lie.
var kept = append(session.Variables(), "XDG_CONFIG_HOME", "XDG_CACHE_HOME")

func (a *App) service(root string) (s Service, m manager, err error) {
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	home := a.Getenv("HOME")
	switch {
	case err != nil:
		return s, m, environmentError("find this program: %w", err)
	case !filepath.IsAbs(home):
		return s, m, environmentError("HOME is not set: nobody knows where the service belongs")
	case strings.ContainsAny(root+program, "\n\r"):
		return s, m, environmentError("a path with a line break cannot stand in a service: %q", root)
	}
	var env []string
	for _, name := range kept {
		if v := a.Getenv(name); v != "" && !strings.ContainsAny(v, "\n\r") {
			env = append(env, name+"="+v)
		}
	}
	sum := sha256.Sum256([]byte(root))
	s.Name = fmt.Sprintf("conclave-record-%x", sum[:4])
	switch runtime.GOOS {
	case "linux":
		return systemdService(s, a.Getenv("XDG_CONFIG_HOME"), home, program, root, env)
	case "darwin":
		return launchdService(s, home, program, root, env)
	}
	return s, m, environmentError("on %s there is neither systemd nor launchd: start conclave record watch as you "+
		"start other programs", runtime.GOOS)
}

func systemdService(s Service, config, home, program, root string, env []string) (Service, manager, error) {
	if !filepath.IsAbs(config) {
		config = filepath.Join(home, ".config")
	}
	if strings.ContainsAny(program, "\"'\\\x7f") {
		return s, manager{}, environmentError("systemd starts no program whose path has a quote or a backslash: move %s, "+
			"or start conclave record watch as you start other programs", program)
	}
	s.Name += ".service"
	dir := filepath.Join(config, "systemd", "user")
	s.File = filepath.Join(dir, s.Name)
	var b strings.Builder
	b.WriteString("[Unit]\nDescription=Conclave records the sessions of agents into " + percent(root) + "\n\n[Service]\n" +
		"ExecStart=" + quoteUnit(program) + " record watch\nWorkingDirectory=" + percent(root) + "\n")
	for _, v := range env {
		b.WriteString("Environment=" + quoteUnit(v) + "\n")
	}
	// 1 says that something is not accounted for, and that is no failure to start again for.
	b.WriteString("SuccessExitStatus=1\nRestart=on-failure\nRestartSec=10\nNice=10\n\n[Install]\nWantedBy=default.target\n")
	s.Text = b.String()
	user := "--user"
	return s, manager{program: "systemctl",
		dirs: []string{filepath.Join(dir, "default.target.wants"), dir, filepath.Dir(dir)},
		come: [][]string{{user, "daemon-reload"}, {user, "enable", "--now", s.Name}},
		gone: [][]string{{user, "disable", "--now", s.Name}, {user, "daemon-reload"}, {user, "reset-failed", s.Name}}}, nil
}

func percent(s string) string { return strings.ReplaceAll(s, "%", "%%") }

// quoteUnit writes a program's path or a variable. A dollar sign is no one's sign
// in either: in the words after a path it would be.
func quoteUnit(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`).Replace(s) + `"`
}

func launchdService(s Service, home, program, root string, env []string) (Service, manager, error) {
	dir := filepath.Join(home, "Library", "LaunchAgents")
	s.File = filepath.Join(dir, s.Name+".plist")
	text := func(v string) string {
		var b bytes.Buffer
		_ = xml.EscapeText(&b, []byte(v)) // a buffer takes everything
		return "<string>" + b.String() + "</string>"
	}
	var b strings.Builder
	b.WriteString(xml.Header + `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" ` +
		`"http://www.apple.com/DTDs/PropertyList-1.0.dtd">` + "\n")
	b.WriteString("<plist version=\"1.0\"><dict>\n<key>Label</key>" + text(s.Name) + "\n" +
		"<key>ProgramArguments</key><array>" + text(program) + text("record") + text("watch") + "</array>\n" +
		"<key>WorkingDirectory</key>" + text(root) + "\n<key>EnvironmentVariables</key><dict>")
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		b.WriteString("<key>" + name + "</key>" + text(value))
	}
	b.WriteString("</dict>\n<key>RunAtLoad</key><true/>\n<key>ProcessType</key><string>Background</string>\n" +
		"<key>KeepAlive</key><dict><key>Crashed</key><true/></dict>\n</dict></plist>\n")
	s.Text = b.String()
	domain := "gui/" + strconv.Itoa(os.Getuid())
	return s, manager{program: "launchctl", dirs: []string{dir},
		come: [][]string{{"bootstrap", domain, s.File}}, gone: [][]string{{"bootout", domain + "/" + s.Name}}}, nil
}

// install writes the file and has the service started. What was there is
// replaced: installing twice is installing once.
func (m manager) install(ctx context.Context, s Service) error {
	program, err := m.find(s)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.File), 0o700); err != nil {
		return environmentError("%w", err)
	}
	if err := atomicfile.Write(s.File, []byte(s.Text), 0o600); err != nil {
		return environmentError("%w", err)
	}
	for _, args := range m.come {
		if err := m.tell(ctx, program, args); err != nil {
			return errors.Join(environmentError("%w\nnothing was installed", err), m.remove(ctx, s))
		}
	}
	return nil
}

// remove has the service stopped and leaves nothing of it, whatever the manager
// says: it may never have heard of it.
func (m manager) remove(ctx context.Context, s Service) error {
	if _, err := os.Lstat(s.File); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if program, err := m.find(s); err == nil {
		for _, args := range m.gone[:1] {
			_ = m.tell(ctx, program, args)
		}
		defer func() {
			for _, args := range m.gone[1:] {
				_ = m.tell(ctx, program, args)
			}
		}()
	}
	link := filepath.Join(m.dirs[0], s.Name) // which enabling makes
	for _, name := range []string{s.File, link} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return environmentError("%w", err)
		}
	}
	for _, dir := range m.dirs {
		_ = os.Remove(dir) // which is empty only if nobody else uses it
	}
	return nil
}

func (m manager) find(s Service) (string, error) {
	program, _, err := ownpath.Find(m.program, filepath.Dir(s.File))
	if err != nil {
		return "", environmentError("%w; conclave record install --print shows the service, "+
			"for you to start as you like", err)
	}
	return program, nil
}

func (m manager) tell(ctx context.Context, program string, args []string) error {
	out, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	if err != nil {
		said := strings.TrimSpace(string(out[:min(len(out), 400)]))
		return fmt.Errorf("%s %s: %w: %s", m.program, strings.Join(args, " "), err, said)
	}
	return nil
}
