//go:build unix

package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"conclave/engine"
	"conclave/engine/enginetest"
	sampling "conclave/internal/sample"
)

const envPostgres = "ENGINETEST_POSTGRES"

// The sample, killed here and there, on a real PostgreSQL server.
func TestPostgres(t *testing.T) {
	sampling.Long(t)
	url := os.Getenv(envPostgres)
	if url == "" {
		url = startPostgres(t)
		t.Setenv(envPostgres, url) // for the processes of KillEverywhere
	}
	enginetest.KillEverywhere(t, enginetest.Program{
		Prepare: prepareSample,
		Run: func(ctx context.Context, dir string, crash func(string)) error {
			return (&sample{dir: dir, crash: crash, url: url}).run(ctx)
		},
		Few: 2, Some: 4,
	})
	dir := t.TempDir()
	o := engine.Options{Dir: dir, Scope: "quest", DatabaseURL: url, Flows: []engine.Flow{
		simple("f", 1, func(r *engine.Run) (any, error) {
			return engine.Do(r, "s", func(context.Context) (int, error) { return 0, engine.Halt(errors.New("stop")) })
		})}}
	if st, err := engine.Peek(t.Context(), o); err != nil || len(st.Open) != 0 {
		t.Fatalf("before anything: %+v, %v", st, err)
	}
	e := mustOpen(t, o)
	if _, err := e.Start(t.Context(), "f", "x", "in"); err == nil {
		t.Fatal("was not cut")
	}
	mustClose(t, e)
	if st, err := engine.Peek(t.Context(), o); err != nil || len(st.Open) != 1 || string(st.Open[0].Input) != `"in"` {
		t.Errorf("cut: %+v, %v", st, err)
	}
	for _, other := range []engine.Options{{Dir: dir, Scope: "table"}, {Dir: t.TempDir(), Scope: "quest"}} {
		other.DatabaseURL = url
		if st, err := engine.Peek(t.Context(), other); err != nil || len(st.Open) != 0 {
			t.Errorf("%s of another place sees %+v, %v", other.Scope, st, err)
		}
	}
}

// startPostgres runs a server of its own for the test and returns its URL.
func startPostgres(t *testing.T) string {
	t.Helper()
	bin := postgresBin(t)
	dir, err := os.MkdirTemp("", "pg") // short: a socket's path has little room
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	as := unprivileged(t, dir)
	data := filepath.Join(dir, "data")
	run := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir, cmd.SysProcAttr = dir, as
		cmd.Env = []string{"LC_ALL=C", "TZ=UTC", "PATH=" + os.Getenv("PATH")}
		return cmd
	}
	if out, err := run("initdb", "-D", data, "-U", "conclave", "--auth=trust", "--no-sync", "-E", "UTF8").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	server := run("postgres", "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "log_destination=stderr")
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Signal(syscall.SIGINT)
		server.Wait()
	})
	url := fmt.Sprintf("postgres://conclave@/postgres?host=%s", dir)
	awaitPostgres(t, url, log.Name())
	return url
}

func awaitPostgres(t *testing.T, url, log string) {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for end := time.Now().Add(30 * time.Second); ; {
		if err = db.PingContext(t.Context()); err == nil {
			return
		}
		if time.Now().After(end) {
			text, _ := os.ReadFile(log)
			t.Fatalf("PostgreSQL does not answer: %v\n%s", err, text)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// postgresBin is where the server's programs are: Debian keeps them out of PATH.
func postgresBin(t *testing.T) string {
	t.Helper()
	if file, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(file)
	}
	for _, glob := range []string{"/usr/lib/postgresql/*/bin/initdb", "/usr/pgsql-*/bin/initdb",
		"/opt/homebrew/opt/postgresql*/bin/initdb", "/usr/local/opt/postgresql*/bin/initdb"} {
		if found, err := filepath.Glob(glob); err == nil && len(found) > 0 {
			return filepath.Dir(found[len(found)-1])
		}
	}
	t.Fatal("no initdb found: install PostgreSQL (Debian: apt-get install postgresql; macOS: brew install postgresql)")
	return ""
}

// unprivileged gives dir to nobody when we are root, whom the server refuses.
func unprivileged(t *testing.T, dir string) *syscall.SysProcAttr {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	const nobody = 65534
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}
