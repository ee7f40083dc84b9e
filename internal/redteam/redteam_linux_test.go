package redteam

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"conclave/agent"
	"conclave/internal/sample"
	"conclave/policy"
	"conclave/room"
)

func TestMain(m *testing.M) {
	room.Init()
	if os.Getenv("REDTEAM_ATTACK") != "" {
		if err := attack(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			unix.Exit(1)
		}
		unix.Exit(0) // the race detector's own exit would wait a second
	}
	os.Exit(m.Run())
}

// ordinary is the user nobody: the bus wants one that has a name.
const ordinary = 65534

// TestRedTeam plays the red team as the user that runs the tests and, for
// root, as an ordinary user as well: a red team that only runs as root proves
// nothing.
func TestRedTeam(t *testing.T) {
	binary := installAttack(t)
	t.Run("as this user", func(t *testing.T) { redTeam(t, binary) })
	if os.Getuid() == 0 {
		t.Run("as an ordinary user", func(t *testing.T) { sample.Long(t); asOrdinary(t, binary) })
	}
}

// installAttack puts this binary where every user and every room can run it.
func installAttack(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("REDTEAM_BINARY"); path != "" {
		return path
	}
	dir, err := os.MkdirTemp("", "redteam-bin-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	self, err := os.Executable()
	must(t, err)
	path := filepath.Join(dir, "attack")
	copyFile(t, self, path)
	return path
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	must(t, err)
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	must(t, err)
	_, err = io.Copy(out, in)
	must(t, err)
	must(t, out.Close())
}

// asOrdinary runs the same test in a process of an ordinary user.
func asOrdinary(t *testing.T, binary string) {
	home, err := os.MkdirTemp("", "redteam-home-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(home) })
	must(t, os.Chown(home, ordinary, ordinary))
	which := "^TestRedTeam$"
	if parts := strings.SplitN(flag.Lookup("test.run").Value.String(), "/", 3); len(parts) == 3 {
		which += "/as this user/" + parts[2]
	}
	cmd := exec.Command(binary, "-test.run="+which, "-test.v", "-test.count=1", fmt.Sprintf("-test.short=%v", testing.Short()))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "USER=ada", "TMPDIR=" + os.TempDir(), "LANG=C.UTF-8",
		"REDTEAM_BINARY=" + binary, "CONCLAVE_CLIENTS=" + linkClients(t), "CONCLAVE_SAMPLE=" + os.Getenv("CONCLAVE_SAMPLE"),
		fmt.Sprintf("CONCLAVE_SAMPLE_SEED=%d", sample.Seed()), // its home is no checkout
		"GORACE=" + os.Getenv("GORACE")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
	cmd.Dir = home
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("the red team of an ordinary user: %v", err)
	}
}

// redTeam tries every channel with a shell, for every role that must not know,
// and with the real agents for some.
func redTeam(t *testing.T, binary string) {
	w := newWorld(t, binary)
	var tried []attempt
	for _, i := range sample.Pick(t, len(attempts), 10, len(attempts)/6) {
		a := attempts[i]
		if a.root && os.Getuid() != 0 {
			continue
		}
		out := w.withoutRoom(a)
		if !w.leaked(a, out) {
			t.Errorf("%s does not succeed without a room: it proves nothing (%q)", a.name, tail(out))
			continue
		}
		tried = append(tried, a)
	}
	if least := sample.Count(6, 12, 100); len(tried) < least {
		t.Fatalf("only %d attempts can succeed at all, want %d", len(tried), least)
	}
	w.refusesPlantedLinks(t)
	if out := w.withoutRoom(attempt{script: `"$ATTACK" hunt ` + reversed(w.canary)}); !strings.Contains(out, "FOUND in the memory of /proc/"+w.vars["DECOY"]) {
		t.Errorf("the hunter does not find what is there: %q", tail(out))
	}
	table := &table{}
	t.Run("with a shell", func(t *testing.T) { w.shells(t, table, tried) })
	if !testing.Short() {
		t.Run("with programs", func(t *testing.T) { w.agents(t, table, tried) })
		t.Run("by login", func(t *testing.T) { w.borrowers(t, table, tried) })
	}
	t.Logf("\n%s", table)
}

// shells has a shell try everything in the rooms of roles.
func (w *world) shells(t *testing.T, table *table, tried []attempt) {
	for _, role := range attacked(t, policy.Dragon, policy.Guardian, policy.Player, policy.JournalKeeper, policy.Cat, policy.GM) {
		w.shell(t, table, role, "", tried)
	}
	for _, role := range attacked(t, policy.Cat) {
		w.shell(t, table, role, room.Fenced, tried)
	}
	for _, lower := range []room.Level{"", room.Fenced} {
		w.replaced(t, table, string(policy.Cat), lower, "a secret replaced while one looks", ".env")
		w.replaced(t, table, string(policy.Cat), lower, "a secret made while one looks", "new/.env", "id_rsa")
	}
}

// attacked are the roles in whose rooms a shell tries everything: two of them, or
// all that a program can play.
func attacked(t *testing.T, roles ...policy.Role) (out []string) {
	if sample.All() {
		roles = programs()
	}
	for _, i := range sample.Pick(t, len(roles), 1, 1) {
		out = append(out, string(roles[i]))
	}
	return out
}

func tail(s string) string {
	if len(s) > 300 {
		return "…" + s[len(s)-300:]
	}
	return s
}

// withoutRoom runs an attempt as what it is without a room: a process of the
// person, in the project, with everything inherited.
func (w *world) withoutRoom(a attempt) string {
	cmd := exec.Command("/bin/sh", "-c", w.prelude()+a.script)
	cmd.Dir = filepath.Join(w.project, "scratch")
	secret, err := os.Open(w.vars["SECRET"])
	must(w.t, err)
	defer secret.Close()
	cmd.ExtraFiles = []*os.File{secret}
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// plan is the room of a role.
func (w *world) plan(role string) room.Plan {
	p := room.Plan{Role: role, Base: w.rooms, Outside: []string{w.project, w.person},
		Programs: []string{filepath.Dir(w.vars["ATTACK"])}}
	if policy.Decide(policy.Role(role), policy.Workspace).Allow {
		p.Workspace = &room.View{Source: w.project, Withheld: policy.View(policy.Role(role), nil)}
	}
	switch role {
	case "dragon":
		p.Grants = []room.Grant{{Kind: "success-criteria", Name: "quest/criteria.md", Bytes: []byte("1. It stands.\n")},
			{Kind: "final-work", Name: "work", Source: filepath.Join(w.project, "clean"), Withheld: policy.View(policy.Role(role), nil)}}
	case "guardian":
		p.Grants = []room.Grant{{Kind: "stage-name", Name: "stage.txt", Bytes: []byte("first\n")},
			{Kind: "stage-work", Name: "work", Source: filepath.Join(w.project, "clean"), Withheld: policy.View(policy.Role(role), nil)}}
	default:
		p.Grants = []room.Grant{{Kind: "own-sheet", Name: "sheet.md", Bytes: []byte("# Tilda\n")},
			{Kind: "own-prompt", Name: "prompt.md", Bytes: []byte("## Scene\n")}}
	}
	return p
}

// refusesPlantedLinks: work in which somebody planted a link to a secret does
// not get into a room at all.
func (w *world) refusesPlantedLinks(t *testing.T) {
	t.Helper()
	for _, name := range []string{"planted-link", "planted-hard"} {
		p := w.plan("dragon")
		p.Grants[1].Source = filepath.Join(w.project, "work", name)
		if r, err := room.Open(context.Background(), p); !errors.Is(err, room.ErrRefused) {
			t.Errorf("%s got into a room: %v", name, err)
			if r != nil {
				r.Close()
			}
		}
	}
}

// shell tries every channel with a shell in the room of a role, as it is by
// default or lowered to a level: then those that the level promises.
func (w *world) shell(t *testing.T, table *table, role string, lower room.Level, tried []attempt) {
	t.Helper()
	with := "shell"
	if lower != "" {
		with = "shell, " + string(lower)
	}
	tried = slices.DeleteFunc(slices.Clone(tried), func(a attempt) bool { return a.gap && lower != "" || a.own && lower == "" })
	// A descriptor that somebody forgot to close: it must not get in.
	fd, err := syscall.Open(w.vars["SECRET"], syscall.O_RDONLY, 0)
	must(t, err)
	defer syscall.Close(fd)
	var script strings.Builder
	script.WriteString(w.prelude())
	for i, a := range tried {
		fmt.Fprintf(&script, "echo '=== %d'\n( %s ) 2>&1\n", i, a.script)
	}
	plan := w.plan(role)
	plan.Lower = lower
	plan.Grants = append(plan.Grants, room.Grant{Kind: plan.Grants[0].Kind, Name: "script.sh", Bytes: []byte(script.String())})
	r, err := room.Open(context.Background(), plan)
	must(t, err)
	defer r.Close()
	out := runInRoom(t, r, "script.sh")
	parts := strings.Split(out, "=== ")
	if len(parts) != len(tried)+1 {
		t.Fatalf("%s: the shell reported on %d attempts of %d: %s", role, len(parts)-1, len(tried), tail(out))
	}
	for i, a := range tried {
		table.add(t, role, with, a, w.leaked(a, parts[i+1]))
	}
}

// replaced goes for secrets that are put in their place by rename, as editors
// do, while one looks. The room may end over one that is new.
func (w *world) replaced(t *testing.T, table *table, role string, lower room.Level, name string, files ...string) {
	t.Helper()
	look := `cd workspace 2>/dev/null || cd "$PROJECT"; for i in $(seq 40); do cat ` + strings.Join(files, " ") + `; sleep 0.02; done`
	a := attempt{name: name, script: look}
	put := func() {
		for _, name := range files {
			to := filepath.Join(w.project, filepath.FromSlash(name))
			must(t, os.MkdirAll(filepath.Dir(to), 0o700))
			w.write(filepath.Join(w.dir, "next"), w.secretFile(name))
			must(t, os.Rename(filepath.Join(w.dir, "next"), to))
		}
	}
	put()
	if !w.leaked(a, w.withoutRoom(a)) {
		t.Errorf("%s does not succeed without a room", a.name)
	}
	for _, name := range files {
		if name != ".env" {
			must(t, os.RemoveAll(filepath.Join(w.project, strings.Split(name, "/")[0])))
		}
	}
	plan := w.plan(role)
	plan.Lower = lower
	plan.Grants = append(plan.Grants, room.Grant{Kind: plan.Grants[0].Kind, Name: "script.sh", Bytes: []byte(w.prelude() + "(" + look + ") 2>&1")})
	r, err := room.Open(context.Background(), plan)
	must(t, err)
	defer r.Close()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			put()
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	out := runInRoom(t, r, "script.sh")
	close(stop)
	<-stopped
	with := "shell"
	if lower != "" {
		with += ", " + string(lower)
	}
	table.add(t, role, with, a, w.leaked(a, out))
}

func runInRoom(t *testing.T, r *room.Room, script string) string {
	t.Helper()
	read, write, err := os.Pipe()
	must(t, err)
	defer read.Close()
	null, err := os.Open(os.DevNull)
	must(t, err)
	defer null.Close()
	done := make(chan string)
	go func() {
		var b bytes.Buffer
		_, _ = io.Copy(&b, read)
		done <- b.String()
	}()
	err = r.Run(context.Background(), agent.Command{Path: "/bin/sh", Args: []string{script}, Dir: r.Place().InGuest(agent.WorkDir),
		Env: []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "HOME=" + r.Place().InGuest(agent.HomeDir)}}, room.Stdio{In: null, Out: write, Err: write})
	write.Close()
	out := <-done
	if err != nil && !strings.Contains(err.Error(), "exit status") && !errors.Is(err, room.ErrExposed) {
		t.Fatalf("run in the room: %v", err)
	}
	return out
}

// table counts what was tried.
type table struct{ rows []row }

type row struct {
	role, with             string
	tried, blocked, leaked int
	names                  []string
}

func (tb *table) add(t *testing.T, role, with string, a attempt, leaked bool) {
	t.Helper()
	var r *row
	for i := range tb.rows {
		if tb.rows[i].role == role && tb.rows[i].with == with {
			r = &tb.rows[i]
		}
	}
	if r == nil {
		tb.rows = append(tb.rows, row{role: role, with: with})
		r = &tb.rows[len(tb.rows)-1]
	}
	r.tried++
	if !leaked {
		r.blocked++
		return
	}
	r.leaked++
	r.names = append(r.names, a.name)
	t.Errorf("LEAKED: %s, with %s: %s", role, with, a.name)
}

func (tb *table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "uid %d\n%-16s %-14s %9s %9s %7s\n", os.Getuid(), "ROLE", "WITH", "ATTEMPTS", "BLOCKED", "LEAKED")
	for _, r := range tb.rows {
		fmt.Fprintf(&b, "%-16s %-14s %9d %9d %7d %s\n", r.role, r.with, r.tried, r.blocked, r.leaked, strings.Join(r.names, ", "))
	}
	return b.String()
}
