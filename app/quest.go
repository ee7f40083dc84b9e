package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"conclave/engine"
	"conclave/policy"
	"conclave/profile"
	"conclave/quest"
	"conclave/quest/flow"
	"conclave/seat"
)

// QuestStart is what a quest begins with.
type QuestStart struct {
	Talk
	Mode    string // grow, ship or "grow & ship"; "" to be asked
	Yes     bool   // agree to what Gandalf proposes
	Archive bool   // a quest that is under way is put away for it
	Council bool   // begin from the findings of the last council
}

// StartQuest defines a quest with Gandalf. Where one is under way the person
// says which it shall be.
func (a *App) StartQuest(ctx context.Context, in QuestStart) (res *flow.Result, err error) {
	def := flow.Define{Yes: in.Yes, Archive: in.Archive, Council: in.Council}
	if in.Mode != "" {
		if def.Mode, err = quest.ParseMode(in.Mode); err != nil {
			return nil, usageError("%w", err)
		}
	}
	c, err := a.openQuest("quest start", in.Talk)
	if err != nil {
		return nil, err
	}
	defer func() { err = c.closeAfter(err) }()
	if def.Message, err = a.words(in.Message); err != nil {
		return nil, err
	}
	stay, err := c.underWay(ctx, &def)
	switch {
	case errors.Is(err, errLeave):
		return nil, nil
	case err != nil:
		return nil, err
	case stay != nil:
		return c.goOn(ctx, "")
	}
	got, err := c.define(ctx, def)
	return c.finish(ctx, got, err)
}

func (c *questSession) define(ctx context.Context, in flow.Define) (flow.Result, error) {
	if err := c.house.CheckDefine(in); err != nil {
		return flow.Result{}, questError(err)
	}
	if strings.TrimSpace(in.Message) == "" && !c.asker.somebody() {
		if in.Council {
			return flow.Result{}, usageError("say what the quest is about, also where it begins from a council: " +
				"conclave quest start --council --yes --message \"What the council recommends\"")
		}
		return flow.Result{}, usageError("say what the quest is about: conclave quest start --message TEXT, @FILE or -")
	}
	if err := c.preamble(ctx, in); err != nil {
		return flow.Result{}, err
	}
	c.budget.begin(func() (seat.Spending, error) { return flow.SpentDefining(c.w.root, c.w.config.PriceList()) })
	in.Unasked = in.Yes && !c.asker.somebody()
	in.Typed = c.takeTyped()
	res, err := c.begin(ctx, "define", in, policy.Gandalf)
	if c.resumed && in.Message != "" && err == nil {
		c.app.aside("The definition that was open is the one; what you said with --message was not used.")
	}
	if err != nil || res.Phase != quest.PhaseSetup {
		return res, err
	}
	return c.start(ctx, "setup", flow.Setup{})
}

// QuestStatus is where a quest stands.
type QuestStatus struct {
	Workspace string                `json:"workspace"` // its directory
	Title     string                `json:"title"`
	Mode      quest.Mode            `json:"mode"`
	Phase     quest.Phase           `json:"phase"`
	PhaseIs   string                `json:"phase_name"`
	Created   string                `json:"created"`
	Narrative string                `json:"narrative"`
	Dragon    string                `json:"anticipated_dragon"`
	Criteria  []quest.Criterion     `json:"criteria"`
	Others    []quest.Assignment    `json:"assignments"`
	Progress  []quest.Entry         `json:"progress"`
	Guarded   quest.GuardianOutcome `json:"last_checkpoint,omitempty"`
	Fought    quest.DragonOutcome   `json:"last_confrontation,omitempty"`
	Said      []quest.Transcript    `json:"conversations"`
	Faults    []quest.Fault         `json:"faults"`
	Open      []openInteraction     `json:"open"`
	Holder    string                `json:"holder,omitempty"`
	Costs     []flow.Cost           `json:"costs"`
	Offers    []quest.Offer         `json:"offers"`
	Problem   string                `json:"problem,omitempty"` // why nothing can be offered

	party  profile.Party
	none   bool
	holder int // its process
}

func (v QuestStatus) face(who policy.Role) profile.Face {
	face, _ := v.party.Face(string(who))
	return face
}

// Told is an entry of the log under the names that the cast goes by.
func (v QuestStatus) Told(e quest.Entry) string { return e.Told(v.face) }

// None says that there is no quest: something else is open.
func (v QuestStatus) None() bool { return v.none }

// Name is what a role is called in a list: The Rogue (Cat), or cat.
func (v QuestStatus) Name(role string) string {
	if face, ok := v.party.Face(role); ok && face.Skin != "" {
		return face.MenuName()
	}
	return role
}

// openInteraction was interrupted, or is under way in another process.
type openInteraction struct {
	ID      string `json:"id"`
	Flow    string `json:"flow"`
	Started string `json:"started"`
	What    string `json:"what"` // in a person's words, with when it began
}

// QuestStatus looks and changes nothing. The answer is no, in its own words,
// when quest.md or a profile is damaged. It never launches the engine: it peeks.
func (a *App) QuestStatus(ctx context.Context) (QuestStatus, error) {
	root, store, err := a.questStore()
	if err != nil {
		return QuestStatus{}, err
	}
	defer store.Close()
	q, err := store.Quest()
	none := errors.Is(err, quest.ErrNoQuest)
	if err != nil && !none {
		return QuestStatus{}, questError(err)
	}
	said, err := store.Transcripts()
	if err != nil {
		return QuestStatus{}, refusedHere(err)
	}
	said = slices.DeleteFunc(said, func(t quest.Transcript) bool { return !a.shownConversation(t) })
	if none {
		q = &quest.Quest{}
	}
	v := QuestStatus{
		Workspace: root, Title: q.Title, Mode: q.Mode, Phase: q.Phase, PhaseIs: q.Phase.String(), Created: q.Created,
		Narrative: q.Narrative, Dragon: q.Dragon, Criteria: append([]quest.Criterion{}, q.Criteria...),
		Others: append([]quest.Assignment{}, q.Assignments...), Progress: append([]quest.Entry{}, q.Progress...),
		Guarded: q.LastGuardian(), Fought: q.LastDragon(), Said: append([]quest.Transcript{}, said...),
		Faults: append([]quest.Fault{}, q.Faults...), Open: []openInteraction{}, Costs: []flow.Cost{},
		Offers: []quest.Offer{}, none: none,
	}
	if v.party, _, err = (profile.Project{Dir: root}).Party(); err != nil {
		return v, refusedHere(err)
	}
	database, err := a.database()
	if err != nil {
		return v, err
	}
	status, err := engine.Peek(ctx, engine.Options{Dir: root, Scope: flow.Scope, DatabaseURL: database})
	if err != nil {
		return v, environmentError("%w", err)
	}
	for _, i := range status.Open {
		v.Open = append(v.Open, openInteraction{i.ID, i.Flow, i.Started.Format("2006-01-02T15:04:05Z07:00"),
			flow.Describe(i, v.party) + ", begun " + i.Started.Local().Format("2 January 15:04")})
	}
	if status.Holder != nil {
		v.Holder = fmt.Sprintf("process %d: %s", status.Holder.PID, status.Holder.Purpose)
		v.holder = status.Holder.PID
	}
	if none {
		if len(v.Open) == 0 {
			return QuestStatus{}, questError(quest.ErrNoQuest)
		}
		return v, nil
	}
	if v.Costs, err = flow.Costs(root, q); err != nil {
		return v, environmentError("%w", err)
	}
	if q.Err() != nil {
		return v, saidNo()
	}
	res, err := flow.New(flow.Options{Root: root}).OffersFor(q)
	if err != nil {
		v.Problem = err.Error()
		return v, saidNo()
	}
	v.Offers = res.Offers
	return v, nil
}

// questStore opens the quest's files for a look.
func (a *App) questStore() (string, *quest.Store, error) {
	root, err := a.rootToRead()
	if err != nil {
		return "", nil, err
	}
	store, err := quest.OpenStore(root)
	return root, store, refusedHere(err)
}

// ContinueQuest goes on with what was interrupted, or with the next step: one of
// those that are offered, where the person chose it already.
func (a *App) ContinueQuest(ctx context.Context, talk Talk, choose string) (res *flow.Result, err error) {
	c, err := a.openQuest("quest continue", talk)
	if err != nil {
		return nil, err
	}
	defer func() { err = c.closeAfter(err) }()
	return c.goOn(ctx, choose)
}

func (c *questSession) goOn(ctx context.Context, choose string) (*flow.Result, error) {
	status, err := engine.Peek(ctx, engine.Options{Dir: c.w.root, Scope: flow.Scope, DatabaseURL: c.w.config.Database})
	if err != nil {
		return nil, environmentError("%w", err)
	}
	switch {
	case len(status.Open) == 0:
	case c.talk.Drop || choose != "":
		if err := c.launch(ctx, "continue", nil); err != nil || choose == "" {
			return nil, err
		}
	default:
		if err := c.budget.Afford(); err != nil {
			return nil, noError("%w\nwhat was interrupted stays open", err)
		}
		if err := c.launch(ctx, "", nil); err != nil {
			return nil, err
		}
		res, err := c.resume(ctx, status.Open[0].ID)
		if err == nil && res.Flow == "define" && res.Phase == quest.PhaseSetup {
			res, err = c.beside(ctx, "setup", flow.Setup{}) // as the person chose at its end
		}
		return c.finish(ctx, res, err)
	}
	q, err := c.quest()
	if errors.Is(err, quest.ErrNoQuest) && (c.app.Person != nil || choose != "") {
		return c.withoutQuest(ctx, choose)
	}
	if err != nil {
		return nil, err
	}
	return c.goOnWith(ctx, q, choose)
}

// goOnWith goes on with a quest in which nothing was interrupted.
func (c *questSession) goOnWith(ctx context.Context, q *quest.Quest, choose string) (*flow.Result, error) {
	if choose == "" && !c.talk.Once {
		if err := c.showStanding(q); err != nil {
			return nil, err
		}
	}
	if q.Phase == quest.PhaseSetup {
		res, err := c.start(ctx, "setup", flow.Setup{})
		return c.finish(ctx, res, err)
	}
	res, err := c.house.OffersFor(q)
	if err != nil {
		return nil, questError(err)
	}
	if choose == "" {
		return c.finish(ctx, res, nil)
	}
	return c.take(ctx, res, choose)
}

func labels(offers []quest.Offer) string {
	var list []string
	for _, o := range offers {
		list = append(list, o.Label)
	}
	return strings.Join(list, "; ")
}

// RepairQuest does the first thing that Fault.Repair can do, at the person's
// word, and says what it was.
func (a *App) RepairQuest(ctx context.Context, talk Talk) (did string, err error) {
	c, err := a.openQuest("quest continue", talk)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	q, err := c.damagedQuest()
	if err != nil {
		return "", err
	}
	if len(q.Faults) == 0 {
		return "", noError("nothing in quest.md is damaged: there is nothing to repair")
	}
	for _, f := range q.Faults {
		if !f.Repairable() {
			continue
		}
		before := q.Bytes()
		after, err := f.Repair(before)
		if err != nil {
			return "", noError("%w", err)
		}
		_, err = c.beside(ctx, "move", flow.Move{Repair: after, Before: before})
		return f.Offer, err
	}
	return "", noError("nothing in quest.md can be repaired without you; `conclave quest status` says what is wrong")
}

// LogProgress adds a line about progress to the quest's log.
func (a *App) LogProgress(ctx context.Context, talk Talk, text string) (*flow.Result, error) {
	if strings.TrimSpace(text) == "" {
		return nil, usageError("say what was done: conclave quest log TEXT")
	}
	if a.Remote != nil {
		text = strings.TrimSpace(text) + quest.ByCaller
	}
	v := verb{method: "LogProgress", args: []any{talk, text}}
	return a.noteProgress(ctx, v, talk, flow.Move{Progress: text})
}

// WithdrawProgress takes back a line about progress by adding a second one: the
// log only grows. Lines are counted from 1.
func (a *App) WithdrawProgress(ctx context.Context, talk Talk, number int) (*flow.Result, error) {
	if number < 1 {
		return nil, usageError("say which entry: conclave quest log lists them with their numbers")
	}
	v := verb{method: "WithdrawProgress", args: []any{talk, number}}
	return a.noteProgress(ctx, v, talk, flow.Move{Withdraw: number})
}

// ProgressLog is the quest's log, oldest first.
func (a *App) ProgressLog(ctx context.Context) ([]quest.Entry, error) {
	_, store, err := a.questStore()
	if err != nil {
		return nil, err
	}
	defer store.Close()
	q, err := store.Quest()
	if err != nil {
		return nil, a.orUndefined(ctx, questError(err))
	}
	return append([]quest.Entry{}, q.Progress...), nil
}

// ReturnToQuest goes back to the work after a checkpoint or a confrontation.
func (a *App) ReturnToQuest(ctx context.Context, talk Talk) (*flow.Result, error) {
	return a.onQuest(ctx, "quest return", talk, func(c *questSession) (flow.Result, error) {
		q, err := c.quest()
		if err != nil {
			return flow.Result{}, err
		}
		switch q.Phase {
		case quest.PhaseExecution:
			res, err := c.house.OffersFor(q)
			res.Notes = append(res.Notes, "The quest is at work already.")
			return res, questError(err)
		case quest.PhaseCheckpoint, quest.PhaseConfrontation:
			in := flow.Move{To: quest.PhaseExecution}
			if err := c.house.CheckMove(in); err != nil {
				return flow.Result{}, questError(err)
			}
			return c.start(ctx, "move", in)
		}
		return flow.Result{}, noError("in phase %d (%s) there is nothing to return from: `conclave quest continue` goes on",
			int(q.Phase), q.Phase.String())
	})
}

// ArchiveQuest puts the quest away, so that another can begin.
func (a *App) ArchiveQuest(ctx context.Context, talk Talk) (*flow.Result, error) {
	root, err := a.rootToChange()
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(filepath.Join(root, filepath.FromSlash(quest.QuestFile))); err != nil {
		return nil, a.orUndefined(ctx, questError(quest.ErrNoQuest))
	}
	return a.move(ctx, "quest archive", talk, flow.Move{Archive: true})
}

// noteProgress writes a line into the quest's log; where another process holds the quest it
// is done there, beside what is under way.
func (a *App) noteProgress(ctx context.Context, v verb, talk Talk, in flow.Move) (res *flow.Result, err error) {
	if a.quest != nil {
		return a.quest.noteFor(ctx, a, in)
	}
	root, err := a.rootToChange()
	if err != nil {
		return nil, err
	}
	here := false
	v.results = []any{&res}
	err = a.reach(ctx, engine.Socket(root, flow.Scope), v, func() (err error) {
		res, err = a.move(ctx, "quest log", talk, in)
		here = err == nil
		return err
	})
	if err == nil && res != nil && !here {
		a.show(Outcome{*res})
	}
	return res, err
}

func (a *App) move(ctx context.Context, verb string, talk Talk, in flow.Move) (*flow.Result, error) {
	return a.onQuest(ctx, verb, talk, func(c *questSession) (flow.Result, error) {
		if err := c.house.CheckMove(in); err != nil {
			return flow.Result{}, questError(err)
		}
		if !in.Archive {
			return c.beside(ctx, "move", in) // a line in the log is in nobody's way
		}
		return c.start(ctx, "move", in)
	})
}

// Conversations lists the conversations of the quest.
func (a *App) Conversations() ([]quest.Transcript, error) {
	_, store, err := a.questStore()
	if err != nil {
		return nil, err
	}
	defer store.Close()
	list, err := store.Transcripts()
	list = slices.DeleteFunc(list, func(t quest.Transcript) bool { return !a.shownConversation(t) })
	return append([]quest.Transcript{}, list...), refusedHere(err)
}

// QuestText is the quest as it is kept, or one of its conversations.
func (a *App) QuestText(ctx context.Context, conversation string) ([]byte, error) {
	_, store, err := a.questStore()
	if err != nil {
		return nil, err
	}
	defer store.Close()
	if a.Remote != nil && conversation != "" {
		return a.conversationText(conversation)
	}
	name := quest.QuestFile
	if conversation != "" {
		name = quest.ConversationsDir + "/" + path.Base(filepath.ToSlash(conversation))
	} else if _, err := store.Quest(); err != nil {
		return nil, a.orUndefined(ctx, questError(err))
	}
	data, err := store.Read(name)
	if conversation != "" && errors.Is(err, fs.ErrNotExist) {
		return nil, usageError("there is no conversation %q; `conclave quest show --json` lists them", conversation)
	}
	return data, refusedHere(err)
}
