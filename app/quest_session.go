package app

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"conclave/agent"
	"conclave/agent/acp"
	"conclave/agent/model"
	"conclave/engine"
	"conclave/internal/lockfile"
	"conclave/internal/screen"
	"conclave/policy"
	"conclave/profile"
	"conclave/quest"
	"conclave/quest/flow"
	"conclave/record"
	"conclave/seat"
)

// Result is what an interaction came to.
type Result = flow.Result

// Talk is what a person gives to every verb that talks to the party.
type Talk struct {
	Message *string  // TEXT, @FILE, or - for what comes in; nil when nothing was said
	Answers string   // a file with the answers to questions
	Grants  []string // keys and logins of the project that are let into the room, by name
	Wait    bool     // while another process holds the quest
	Once    bool     // the next step is not asked for
	Drop    bool     // what was interrupted is put away first
}

// questSession is a verb at work on the quest of a workspace.
type questSession struct {
	app     *App
	talk    Talk
	w       *workspace
	house   *flow.House
	asker   *asker
	budget  *budget
	spends  bool // who was cast asks a model
	engine  *engine.Engine
	purpose string
	granted []string // keys and logins, by name
	// taken is what came of an interrupted interaction that the person went on
	// with, and that is what they called for.
	taken   *flow.Result
	resumed bool
	typed   []string // in menus, since the last conversation

	served *server // for other terminals; nil before the engine is open

	once     sync.Once
	embedded agent.Agent
}

// party is the embedded one: one for the whole session, so that six advisors
// who see the same project look at it once.
func (c *questSession) party() agent.Agent {
	c.once.Do(func() { c.embedded = embeddedParty() })
	return c.embedded
}

// openQuest finds the workspace and prepares everything but the engine: what
// only looks never launches it.
func (a *App) openQuest(verb string, talk Talk) (*questSession, error) {
	if err := a.askedBy(talk); err != nil {
		return nil, err
	}
	w, err := a.openWorkspace()
	if err == nil {
		err = a.cameAlong(w.root)
	}
	if err != nil {
		return nil, err
	}
	c := &questSession{app: a, talk: talk, w: w, purpose: "conclave " + verb}
	if c.asker, err = a.newAsker(talk.Answers); err != nil {
		return nil, err
	}
	if c.granted, err = w.granted(talk.Grants); err != nil {
		return nil, err
	}
	if err := w.vouchForProfiles(); err != nil {
		return nil, err
	}
	library, err := a.packLibrary()
	if err != nil {
		return nil, err
	}
	c.budget = w.questBudget()
	c.house = flow.New(flow.Options{
		Root: w.root, Trust: w, Dress: c.dress, Listener: voice{a}, Instructions: w.instructions,
		Searched: func(done, total int64) { a.show(Progress{"searching the work", done, total}) },
		Library:  library, Tools: w.config.Tools, Granted: c.granted, Scripts: w.scripts(),
		Messages: a.messageFiles(w.root, talk),
		Account:  c.budget.account(),
	})
	return c, nil
}

// onQuest opens the quest of this workspace for a verb, and closes it.
func (a *App) onQuest(
	ctx context.Context, verb string, talk Talk, do func(*questSession) (flow.Result, error),
) (res *flow.Result, err error) {
	c, err := a.openQuest(verb, talk)
	if err != nil {
		return nil, err
	}
	defer func() { err = c.closeAfter(err) }()
	got, err := do(c)
	return c.finish(ctx, got, a.orUndefined(ctx, err))
}

// turnWall bounds one answer of an agent.
const turnWall = 30 * time.Minute

// dress puts whoever plays a role into its seat.
func (c *questSession) dress(p *seat.Plan) error {
	a, err := c.w.cast(p.Role, c.party())
	if err != nil {
		return err
	}
	a.dress(p, c.w)
	p.Limits.Wall = turnWall
	p.Builtin = readingTools(c.w.config.For(p.Role).Agent)
	return nil
}

// readingTools are an agent's own tools that read, and no others.
func readingTools(kind string) []string {
	switch kind {
	case "claude":
		return []string{"Read", "Grep", "Glob"}
	case "codex":
		return []string{"shell"}
	case "model":
		return []string{model.ListFiles, model.ReadFile, model.SearchFiles}
	case "acp":
		return []string{acp.KindRead, acp.KindSearch}
	}
	return nil
}

// available says early that nobody can play a role here, that the person does
// not trust what it would be told, or that nothing more may be spent.
func (c *questSession) available(role string) error {
	items, err := c.w.roleItems(role)
	if err != nil {
		return environmentError("%w", err)
	}
	if err := c.w.vouchFor(items); err != nil {
		return err
	}
	if _, err = c.w.cast(role, c.party()); err != nil || c.w.config.For(role).Agent == "offline" {
		return err // who asks no model spends nothing
	}
	c.spends = true
	return answerNo(c.budget.Afford())
}

// launch opens the engine and settles what an earlier command left open, before
// what is called for is begun; nothing is settled for the call of nothing.
func (c *questSession) launch(ctx context.Context, called string, input any) error {
	if c.engine != nil {
		return nil
	}
	err := c.w.makePrivate()
	if err != nil {
		return err
	}
	c.engine, err = engine.Open(ctx, engine.Options{
		Dir: c.w.root, Scope: flow.Scope, Wait: c.talk.Wait, Purpose: c.purpose,
		Flows: c.house.Flows(), Asker: c.house.Asker(c.asker), DatabaseURL: c.w.config.Database,
	})
	if held := (*lockfile.HeldError)(nil); err != nil && !errors.As(err, &held) {
		return environmentError("%w", err)
	}
	if err != nil {
		return questError(err)
	}
	c.app.noteWorkspace(c.w.root)
	c.served = c.app.listenAt(ctx, engine.Socket(c.w.root, flow.Scope), c.w.root, c.admit)
	c.budget.recount()
	if c.spends {
		if err := c.budget.Afford(); err != nil {
			return answerNo(err)
		}
	}
	if called == "" {
		return nil
	}
	return c.settle(ctx, called, input)
}

// start runs a new interaction to its end; or, where the person went on with one
// of its kind that was interrupted, that was it.
func (c *questSession) start(ctx context.Context, name string, input any) (flow.Result, error) {
	if err := c.launch(ctx, name, input); err != nil {
		return flow.Result{}, err
	}
	if res := c.taken; res != nil {
		c.taken, c.resumed = nil, true
		return *res, nil
	}
	return c.beside(ctx, name, input)
}

// beside runs a new interaction to its end and leaves alone what was interrupted.
func (c *questSession) beside(ctx context.Context, name string, input any) (flow.Result, error) {
	if err := c.launch(ctx, "", nil); err != nil {
		return flow.Result{}, err
	}
	id := name + "-" + record.NewRunID(time.Now())
	return ended(c.engine.Start(ctx, name, id, input))
}

func (c *questSession) resume(ctx context.Context, id string) (flow.Result, error) {
	return ended(c.engine.Resume(ctx, id))
}

func ended(data json.RawMessage, err error) (flow.Result, error) {
	var res flow.Result
	if err != nil {
		return res, questError(err)
	}
	if err := json.Unmarshal(data, &res); err != nil {
		return res, environmentError("read the result: %w", err)
	}
	return res, nil
}

// closeAfter frees everything, and says which answers were not asked for.
func (c *questSession) closeAfter(err error) error {
	if left := c.asker.leftOver(); left != "" && (err == nil || c.asker.given > 0) {
		c.app.show(Warning{screen.Line(left)})
	}
	return errors.Join(err, c.close())
}

// close frees everything. Ended interactions beyond the last hundred are
// forgotten: files are truth, and the engine's database is memory.
func (c *questSession) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c.served.close() // before anything is gone that it may use
	err := c.house.Close()
	if c.engine != nil {
		_, pruned := c.engine.Prune(ctx, 100)
		err = errors.Join(err, pruned, c.engine.Close())
	}
	return err
}

// finish shows a result, offers the next steps, and goes on for as long as the
// person does. There is no result of what they did last but to leave.
func (c *questSession) finish(ctx context.Context, res flow.Result, err error) (*flow.Result, error) {
	for err == nil && !c.talk.Once {
		shown := res
		if res.Wish != "" && c.app.Person != nil {
			shown.Offers = nil // they have said what comes next
		}
		c.app.show(Outcome{shown})
		if c.app.Person == nil || len(res.Offers) == 0 {
			break
		}
		var done bool
		if res, done, err = c.next(ctx, res); done {
			return nil, err
		}
	}
	if err != nil && len(res.Leaks) > 0 {
		return &res, err // what was found, for those who read JSON
	}
	if err != nil {
		return nil, err
	}
	res = c.house.Retold(res)
	if answeredNo(res) {
		return &res, saidNo()
	}
	return &res, nil
}

// answeredNo: an evaluator said no or nothing, or a conversation did not reach
// its end.
func answeredNo(res flow.Result) bool {
	if res.Flow == "checkpoint" || res.Flow == "confront" {
		return res.Boundary == quest.AfterBlocked || res.Boundary == quest.AfterPrevails ||
			res.Boundary == quest.AfterNoVerdict
	}
	return res.EndedEarly != ""
}

// face is how a member of the cast appears now. Profiles that cannot be read are
// not worn; the next flow says why.
func (c *questSession) face(who policy.Role) profile.Face {
	party, _, _ := profile.Project{Dir: c.w.root}.Party()
	face, _ := party.Face(string(who))
	return face
}
