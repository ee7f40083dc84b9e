package engine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite"
	_ "github.com/jackc/pgx/v5/stdlib"
)

const (
	appName = "conclave"
	// appVersion never changes: the library resumes only what bears its own
	// version, and flows carry versions of their own.
	appVersion = "1"
	// pollInterval is how soon an interaction is picked up that is resumed
	// while others run; the first one after Open does not wait.
	pollInterval = 50 * time.Millisecond
)

// session is one life of the library. Halted interactions are parked in it
// until it ends, so the engine may need a new one to resume them.
type session struct {
	ctx   dbos.Context
	db    *sql.DB // for listings
	table string  // prefix of the tables in db
	queue string  // only this session listens to it

	flows  map[string]*flowInstance
	branch *branchInstance

	launch sync.Once
	failed error
}

// newSession prepares the library without launching it. The executor id is
// random: launching recovers everything of its executor id, and nothing is to
// run that was not asked for. Resumed interactions go through a queue of the
// same random name: one that lay in the queue of a killed process stays there
// until somebody asks for it.
func (e *Engine) newSession(ctx context.Context) (*session, error) {
	scrubEnvironment()
	executor := rand.Text()
	cfg := dbos.Config{
		AppName:                  appName,
		ApplicationVersion:       appVersion,
		ExecutorID:               executor,
		Logger:                   slog.New(quiet(e.opts.Log)),
		SchedulerPollingInterval: time.Hour,
	}
	s := &session{queue: "resume-" + executor, flows: map[string]*flowInstance{}}
	if err := s.openDatabase(e.opts, &cfg); err != nil {
		return nil, err
	}
	// The library must not see the caller's context end: it would mark all
	// that runs as cancelled. Engine.Close shuts it down.
	var err error
	if s.ctx, err = dbos.NewContext(context.WithoutCancel(ctx), cfg); err != nil {
		s.db.Close()
		return nil, fmt.Errorf("open engine database of %s: %w", e.opts.Scope, err)
	}
	e.registerAll(s)
	if err := s.ownQueue(); err != nil {
		s.close()
		return nil, fmt.Errorf("open engine database of %s: %w", e.opts.Scope, err)
	}
	return s, nil
}

func (s *session) openDatabase(o Options, cfg *dbos.Config) (err error) {
	if o.DatabaseURL == "" {
		s.db, err = openSQLite(o.database(), "rw")
		cfg.SQLiteSystemDB = s.db
		return err
	}
	cfg.DatabaseURL, cfg.DatabaseSchema = o.DatabaseURL, o.schema()
	s.table = `"` + o.schema() + `".`
	s.db, err = sql.Open("pgx", o.DatabaseURL)
	return err
}

// openSQLite opens the database with every write flushed to the disk before it
// counts; the library's own default gives the last steps away when the machine
// dies. Pragmas stand in the name because one that is executed reaches a single
// pooled connection.
func openSQLite(file, mode string) (*sql.DB, error) {
	q := url.Values{"_pragma": {"busy_timeout(10000)", "foreign_keys(ON)", "synchronous(FULL)"}}
	switch mode {
	case "immutable":
		q.Set("immutable", "1")
		fallthrough
	case "ro":
		q.Set("mode", "ro")
	default:
		if err := makePrivate(file); err != nil {
			return nil, err
		}
		q["_pragma"] = append(q["_pragma"], "journal_mode(WAL)")
		q.Set("_txlock", "immediate")
	}
	name := (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(file), RawQuery: q.Encode()}).String()
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", file, err)
	}
	// SQLite writes one at a time. Connections that wait for each other sleep
	// in ever longer pauses; callers that wait for one connection do not.
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	return db, nil
}

// makePrivate makes the database the person's alone before SQLite does not; its
// logs take the mode over.
func makePrivate(file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("open %s: %w", file, err)
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

// schema holds one scope of one workspace, as a file of its own does in SQLite.
func (o *Options) schema() string {
	sum := sha256.Sum256([]byte(o.Dir + "\x00" + o.Scope))
	name := strings.NewReplacer(".", "_", "-", "_").Replace(o.Scope)
	return fmt.Sprintf("conclave_%.30s_%x", name, sum[:6])
}

// scrubEnvironment removes the variables that would override what the engine
// sets. They have no other use in this program.
func scrubEnvironment() {
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "DBOS__") {
			os.Unsetenv(name)
		}
	}
}

func quiet(h slog.Handler) slog.Handler {
	if h == nil {
		return slog.DiscardHandler
	}
	return h
}

// ownQueue makes the queue of this session and removes those of sessions that
// were killed: the lock says that nobody serves them.
func (s *session) ownQueue() error {
	old, err := dbos.ListQueues(s.ctx)
	if err != nil {
		return err
	}
	for _, q := range old {
		if err := dbos.DeleteQueue(s.ctx, q.GetName()); err != nil {
			return err
		}
	}
	_, err = dbos.RegisterQueue(s.ctx, s.queue, dbos.WithQueueBasePollingInterval(pollInterval),
		dbos.WithQueueOnConflict(dbos.QueueConflictAlwaysUpdate))
	return err
}

// start launches the library, once.
func (s *session) start() error {
	s.launch.Do(func() { s.failed = dbos.Launch(s.ctx) })
	return s.failed
}

func (s *session) close() error {
	// Before it is shut down: afterwards the connections are gone.
	err := dbos.DeleteQueue(s.ctx, s.queue)
	if down := dbos.Shutdown(s.ctx, closeTimeout); down != nil {
		err = fmt.Errorf("close engine: %w", down)
	}
	s.db.Close()
	return err
}

// flowInstance makes one flow known to the library under its name and version.
type flowInstance struct {
	e    *Engine
	flow Flow
}

// ConfigName tells the registrations of one method apart.
func (f *flowInstance) ConfigName() string { return f.flow.registered() }

func (e *Engine) registerAll(s *session) {
	for name, f := range e.flows {
		inst := &flowInstance{e: e, flow: f}
		s.flows[name] = inst
		// Unlimited attempts: each resume costs one, and with a limit answers
		// are lost after it.
		dbos.RegisterWorkflow(s.ctx, inst.run, dbos.WithInstance(inst),
			dbos.WithWorkflowName(name), dbos.WithMaxRecoveryAttempts(0))
	}
	s.branch = &branchInstance{e: e}
	dbos.RegisterWorkflow(s.ctx, s.branch.run, dbos.WithInstance(s.branch),
		dbos.WithWorkflowName(branchName), dbos.WithMaxRecoveryAttempts(0))
}

// run is what the library calls for a started or resumed interaction.
func (f *flowInstance) run(ctx dbos.Context, input json.RawMessage) (outcome, error) {
	id, err := dbos.GetWorkflowID(ctx)
	if err != nil {
		return outcome{}, err
	}
	l := f.e.find(id)
	if l == nil {
		// Nobody asked for it in this process, so it does not run.
		<-ctx.Done()
		return outcome{}, errShut
	}
	r := &Run{e: f.e, ctx: ctx, id: id, live: l}
	value, err := f.flow.Run(r, input)
	return r.end(value, err)
}
