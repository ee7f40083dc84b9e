package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"conclave/agent"
	"conclave/app"
	"conclave/engine"
	"conclave/internal/lockfile"
	"conclave/profile"
	"conclave/quest"
	"conclave/quest/flow"
	"conclave/record"
	"conclave/room"
	"conclave/seat"
	door "conclave/workspace"
)

// campaignFlags are those that every command of a quest has.
type campaignFlags struct {
	message, answers string
	asJSON, wait     bool
	grants           []string
}

func (f *campaignFlags) add(cmd *cobra.Command, messages bool) {
	if messages {
		cmd.Flags().StringVarP(&f.message, "message", "m", "", "what to say: TEXT, @FILE, or - for standard input")
	}
	cmd.Flags().StringVar(&f.answers, "answers", "", "a file with the answers to questions: one a line, or blocks between lines of ---")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print the result as JSON")
	addGrantFlag(cmd, &f.grants)
	cmd.Flags().BoolVar(&f.wait, "wait", false, "wait while another process holds the quest")
}

// campaign is a command at work on the quest of a workspace.
type campaign struct {
	env     *environment
	flags   campaignFlags
	w       *workspace
	house   *flow.House
	asker   *asker
	voice   *voice
	engine  *engine.Engine
	purpose string
	granted []string // keys and logins, by name
}

// openCampaign finds the workspace and prepares everything but the engine:
// what only looks never launches it.
func (env *environment) openCampaign(cmd *cobra.Command, flags campaignFlags) (*campaign, error) {
	w, err := env.openWorkspace()
	if err != nil {
		return nil, err
	}
	env.muted = flags.asJSON
	c := &campaign{env: env, flags: flags, w: w, purpose: cmd.CommandPath()}
	if c.asker, err = newAsker(env, flags); err != nil {
		return nil, err
	}
	if c.granted, err = grantedPaths(w.Root, flags.grants); err != nil {
		return nil, err
	}
	c.voice = &voice{env: env, out: env.Stdout, muted: flags.asJSON}
	if err := w.VouchForProfiles(); err != nil {
		return nil, err
	}
	library, err := env.packLibrary()
	if err != nil {
		return nil, err
	}
	c.house = flow.New(flow.Options{
		Root: w.Root, Trust: w, Dress: c.dress, Listener: c.voice, Instructions: w.Instructions,
		Library: library, Tools: w.Config.Tools, Granted: c.granted,
		Budget: flow.Budget{USD: w.Config.Budget.USD, Tokens: w.Config.Budget.Tokens},
	})
	return c, nil
}

// turnWall bounds one answer of an agent.
const turnWall = 30 * time.Minute

// dress puts whoever plays a role into its seat.
func (c *campaign) dress(p *seat.Plan) error {
	a, err := c.w.Cast(p.Role, app.EmbeddedParty())
	if err != nil {
		return err
	}
	a.Dress(p, c.w)
	c.ration(p)
	settings := c.w.Config.For(p.Role)
	p.Limits = agent.Limits{Turns: settings.Turns, BudgetUSD: settings.USD, Wall: turnWall}
	switch settings.Agent {
	case "claude":
		p.Builtin = []string{"Read", "Grep", "Glob"}
	case "codex":
		p.Builtin, p.Limits.Turns = []string{"shell"}, 0
	}
	return nil
}

// councilSeats is how many share a council's budget.
const councilSeats = 7

// ration leaves a seat what is left of the command's budget, and those who
// speak at once a share of it each.
func (c *campaign) ration(p *seat.Plan) {
	spent, share := c.house.Spent(), int64(1)
	if strings.HasPrefix(p.PromptName, "quest.council.") {
		share = councilSeats
	}
	if b := c.w.Config.Budget; b.Tokens > 0 {
		p.Budget.Tokens = max((b.Tokens-spent.Input-spent.Output-spent.CacheRead-spent.CacheWrite)/share, 1)
	}
	if b := c.w.Config.Budget; b.USD > 0 {
		p.Budget.USD = max((b.USD-spent.CostUSD)/float64(share), 1e-9)
	}
}

// available says early that nobody can play a role here, or that the person does
// not trust what it would be told.
func (c *campaign) available(role string) error {
	items, err := c.w.RoleItems(role)
	if err != nil {
		return environmentError("%w", err)
	}
	if err := c.w.VouchFor(items); err != nil {
		return err
	}
	_, err = c.w.Cast(role, app.EmbeddedParty())
	return err
}

// launch opens the engine and settles what an earlier command left open.
func (c *campaign) launch(ctx context.Context, settle bool) error {
	if c.engine != nil {
		return nil
	}
	err := c.w.MakePrivate()
	if err != nil {
		return err
	}
	c.engine, err = engine.Open(ctx, engine.Options{
		Dir: c.w.Root, Scope: flow.Scope, Wait: c.flags.wait, Purpose: c.purpose,
		Flows: c.house.Flows(), Asker: c.house.Asker(c.asker),
	})
	if err != nil {
		return campaignError(err)
	}
	if !settle {
		return nil
	}
	return c.settle(ctx)
}

// settle ends what was interrupted: it is written down as ended early, unless
// the person wants to go on with it.
func (c *campaign) settle(ctx context.Context) error {
	open, err := c.engine.Pending(ctx)
	if err != nil {
		return environmentError("%w", err)
	}
	for _, i := range open {
		name, _, _ := strings.Cut(i.Flow, "/")
		if c.asker.person() {
			goOn, err := c.asker.yes(ctx, fmt.Sprintf("An interaction was interrupted (%s, begun %s). Go on with it?", name, i.Started.Local().Format("2 January 15:04")), true)
			if err != nil {
				return environmentError("%w", err)
			}
			if goOn {
				if _, err := c.resume(ctx, i.ID); err != nil {
					return err
				}
				continue
			}
		}
		c.house.Abandon("it was interrupted and not continued")
		_, err := c.engine.Resume(ctx, i.ID)
		c.house.Abandon("")
		if cut := (*engine.CutError)(nil); errors.As(err, &cut) {
			return campaignError(err)
		}
		c.voice.aside("An interrupted interaction (%s) was ended and written down.", name)
	}
	return nil
}

// start runs a new interaction to its end.
func (c *campaign) start(ctx context.Context, name string, input any) (flow.Result, error) {
	if err := c.launch(ctx, true); err != nil {
		return flow.Result{}, err
	}
	id := name + "-" + record.NewRunID(time.Now())
	data, err := c.engine.Start(ctx, name, id, input)
	return c.ended(data, err)
}

func (c *campaign) resume(ctx context.Context, id string) (flow.Result, error) {
	data, err := c.engine.Resume(ctx, id)
	return c.ended(data, err)
}

func (c *campaign) ended(data json.RawMessage, err error) (flow.Result, error) {
	var res flow.Result
	if err != nil {
		return res, campaignError(err)
	}
	if err := json.Unmarshal(data, &res); err != nil {
		return res, environmentError("read the result: %w", err)
	}
	return res, nil
}

// Close frees everything. Ended interactions beyond the last hundred are
// forgotten: files are truth, and the engine's database is memory.
func (c *campaign) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	err := c.house.Close()
	if c.engine != nil {
		_, pruned := c.engine.Prune(ctx, 100)
		err = errors.Join(err, pruned, c.engine.Close())
	}
	return err
}

// finish prints a result, offers the next steps, and goes on for as long as
// the person does.
func (c *campaign) finish(ctx context.Context, res flow.Result, err error) error {
	for err == nil {
		if c.flags.asJSON {
			if err := c.env.Stdout.JSON(res); err != nil {
				return err
			}
			break
		}
		c.voice.result(res)
		c.voice.offers(res.Offers)
		if !c.asker.person() || len(res.Offers) == 0 {
			break
		}
		var done bool
		if res, done, err = c.next(ctx, res); done {
			return err
		}
	}
	if err != nil {
		return err
	}
	if answeredNo(res) {
		return saidNo()
	}
	return nil
}

// answeredNo: an evaluator said no or nothing, or a conversation did not reach
// its end.
func answeredNo(res flow.Result) bool {
	if res.Flow == "checkpoint" || res.Flow == "confront" {
		return res.Boundary == quest.AfterBlocked || res.Boundary == quest.AfterPrevails || res.Boundary == quest.AfterNoVerdict
	}
	return res.EndedEarly != ""
}

// campaignError gives an error its exit code and the way out.
func campaignError(err error) error {
	var (
		coded  *app.Error
		cut    *engine.CutError
		held   *lockfile.HeldError
		leak   *quest.LeakError
		work   *quest.WorkError
		broken *quest.DamagedError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &cut):
		if errors.As(cut.Err, &coded) {
			return app.ErrorOf(coded.Kind, "%w\nnothing is lost: `conclave quest continue` goes on from here", cut.Err)
		}
		return environmentError("%w\nnothing is lost: `conclave quest continue` goes on from here", cut.Err)
	case errors.As(err, &coded):
		return err
	case errors.As(err, &held):
		return environmentError("%w; wait for it, or say --wait", err)
	case errors.As(err, &leak):
		return noError("%w\nnothing was started; take these words out, or say --accept-context to go on with that on the verdict", err)
	case errors.As(err, &work):
		return usageError("%w", err)
	case errors.As(err, &broken):
		return noError("%w\n`conclave quest status` offers repairs", err)
	case errors.Is(err, quest.ErrNoQuest), errors.Is(err, room.ErrLevel):
		return environmentError("%w", err)
	}
	return noError("%w", err)
}

// message reads what --message names. Nothing of it is changed: it will stand
// in the conversation byte for byte.
func (env *environment) message(cmd *cobra.Command, flags campaignFlags) (string, error) {
	text := flags.message
	var data []byte
	var err error
	switch {
	case text == "-" || !cmd.Flags().Changed("message") && !env.StdinIsTerminal && flags.answers == "":
		data, err = io.ReadAll(io.LimitReader(env.Stdin, maxMessage+1))
	case strings.HasPrefix(text, "@"):
		data, err = door.ReadNamed(inDir(env, text[1:]), maxMessage)
	default:
		data = []byte(text)
	}
	if err != nil {
		return "", environmentError("read the message: %w", err)
	}
	if len(data) > maxMessage {
		return "", usageError("the message has more than %d bytes", maxMessage)
	}
	if !utf8.Valid(data) {
		return "", usageError("the message is not UTF-8 text")
	}
	if strings.ContainsRune(string(data), 0) {
		return "", usageError("the message holds a NUL byte: it is no text")
	}
	return string(data), nil
}

const maxMessage = 64 << 20

// party shows who is who.
func (c *campaign) party() (profile.Party, error) {
	party, _, err := profile.Project{Dir: c.w.Root}.Party()
	return party, err
}
