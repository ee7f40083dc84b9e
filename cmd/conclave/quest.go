package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"conclave/engine"
	"conclave/internal/screen"
	"conclave/policy"
	"conclave/quest"
	"conclave/quest/flow"
)

func newQuestCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "quest",
		Short: "Start, continue and look at the quest of this workspace",
		Example: `  conclave quest start
  conclave quest status
  conclave quest continue
  conclave quest log "API design finished"`,
	}
	cmd.AddCommand(
		newQuestStartCommand(env), newQuestStatusCommand(env), newQuestContinueCommand(env),
		newQuestLogCommand(env), newQuestShowCommand(env), newQuestArchiveCommand(env),
	)
	return cmd
}

func newQuestStartCommand(env *environment) *cobra.Command {
	var flags campaignFlags
	var in flow.Define
	var mode string
	cmd := &cobra.Command{
		Use:   "start",
		Short: "Define a quest with Gandalf",
		Long: `Start defines a quest: say what you are up to, answer Gandalf's questions, agree
to the success criteria. Nothing becomes a quest that you have not agreed to. In a
script the answers come from --answers, and --yes agrees to what is proposed.

A finished quest is archived first. One that is under way stays until
conclave quest archive puts it away.`,
		Example: `  conclave quest start
  conclave quest start --mode ship -m "A release with a changelog" --answers answers.txt
  conclave quest start -m @idea.md --yes --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if mode != "" {
				if in.Mode, err = quest.ParseMode(mode); err != nil {
					return usageError("%w", err)
				}
			}
			c, err := env.openCampaign(cmd, flags)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, c.Close()) }()
			if in.Message, err = env.message(cmd, flags); err != nil {
				return err
			}
			res, err := c.define(cmd.Context(), in)
			return c.finish(cmd.Context(), res, err)
		},
	}
	cmd.Flags().StringVar(&mode, "mode", "", `grow, ship or "grow & ship"`)
	cmd.Flags().BoolVar(&in.Yes, "yes", false, "agree to what Gandalf proposes")
	flags.add(cmd, true)
	return cmd
}

func (c *campaign) define(ctx context.Context, in flow.Define) (flow.Result, error) {
	if err := c.house.CheckDefine(in); err != nil {
		return flow.Result{}, campaignError(err)
	}
	if strings.TrimSpace(in.Message) == "" && !c.asker.person() && len(c.asker.answers) == 0 {
		return flow.Result{}, usageError("say what the quest is about: --message TEXT, @FILE or -")
	}
	if err := c.available(string(policy.Gandalf)); err != nil {
		return flow.Result{}, err
	}
	res, err := c.start(ctx, "define", in)
	if err != nil || res.Phase != quest.PhaseSetup {
		return res, err
	}
	return c.start(ctx, "setup", flow.Setup{})
}

// questView is what quest status says, also as JSON.
type questView struct {
	Title    string             `json:"title"`
	Mode     quest.Mode         `json:"mode"`
	Phase    quest.Phase        `json:"phase"`
	PhaseIs  string             `json:"phase_name"`
	Created  string             `json:"created"`
	Criteria []quest.Criterion  `json:"criteria"`
	Progress []quest.Entry      `json:"progress"`
	Faults   []quest.Fault      `json:"faults"`
	Open     []openInteraction  `json:"open"`
	Holder   string             `json:"holder,omitempty"`
	Costs    []flow.Cost        `json:"costs"`
	Offers   []quest.Offer      `json:"offers"`
	Problem  string             `json:"problem,omitempty"` // why nothing can be offered
	Others   []quest.Assignment `json:"assignments"`
}

type openInteraction struct {
	ID      string `json:"id"`
	Flow    string `json:"flow"`
	Started string `json:"started"`
}

func newQuestStatusCommand(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Where the quest stands, what it cost, what is open",
		Long: `Status looks and changes nothing. It shows the phase, the criteria, the log,
interactions that were interrupted, and tokens and cost by role and phase. Exit
code 1 when quest.md or a profile is damaged: then it says where, and what could be
repaired.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v, err := env.questStatus(cmd.Context())
			if err != nil {
				return campaignError(err)
			}
			if asJSON {
				err = env.Stdout.JSON(v)
			} else {
				env.printStatus(v)
			}
			blocked := v.Problem != ""
			for _, f := range v.Faults {
				blocked = blocked || f.Blocks
			}
			if err == nil && blocked {
				return saidNo()
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// questStatus never launches the engine: it peeks.
func (env *environment) questStatus(ctx context.Context) (questView, error) {
	root, err := env.findRoot()
	if err != nil {
		return questView{}, err
	}
	store, err := quest.OpenStore(root)
	if err != nil {
		return questView{}, environmentError("%w", err)
	}
	defer store.Close()
	q, err := store.Quest()
	if err != nil {
		return questView{}, err
	}
	v := questView{Title: q.Title, Mode: q.Mode, Phase: q.Phase, PhaseIs: q.Phase.String(), Created: q.Created,
		Criteria: q.Criteria, Progress: q.Progress, Faults: append([]quest.Fault{}, q.Faults...), Others: q.Assignments, Open: []openInteraction{}}
	status, err := engine.Peek(ctx, engine.Options{Dir: root, Scope: flow.Scope})
	if err != nil {
		return v, environmentError("%w", err)
	}
	for _, i := range status.Open {
		v.Open = append(v.Open, openInteraction{i.ID, i.Flow, i.Started.Format("2006-01-02T15:04:05Z07:00")})
	}
	if status.Holder != nil {
		v.Holder = fmt.Sprintf("process %d: %s", status.Holder.PID, status.Holder.Purpose)
	}
	if v.Costs, err = flow.Costs(root, q); err != nil {
		return v, environmentError("%w", err)
	}
	if q.Err() == nil {
		if res, err := flow.New(flow.Options{Root: root}).OffersFor(q); err != nil {
			v.Problem = err.Error()
		} else {
			v.Offers = res.Offers
		}
	}
	return v, nil
}

func (env *environment) printStatus(v questView) {
	out := env.Stdout
	out.Printf("%s\n%s, phase %d (%s), begun %s\n", screen.Bold(v.Title), v.Mode, int(v.Phase), v.PhaseIs, v.Created)
	for _, f := range v.Faults {
		out.Printf("%s %s\n", screen.Red("fault:"), f)
		if f.Repairable() {
			out.Printf("  can be repaired (%s): conclave quest continue --repair\n", f.Offer)
		}
	}
	if v.Problem != "" {
		out.Printf("%s %s\n", screen.Red("fault:"), screen.Indent("  ", v.Problem))
	}
	out.Printf("\nCriteria\n")
	for _, c := range v.Criteria {
		out.Printf("  %d. %s\n", c.Number, screen.Indent("     ", c.Text))
	}
	if n := len(v.Progress); n > 0 {
		out.Printf("\nProgress\n")
		for _, e := range v.Progress[max(0, n-8):] {
			out.Printf("  %s\n", screen.Indent("    ", e.Bullet()))
		}
	}
	if v.Holder != "" {
		out.Printf("\nAt work: %s\n", v.Holder)
	}
	for _, i := range v.Open {
		out.Printf("\nOpen: %s, begun %s; conclave quest continue goes on with it\n", i.Flow, i.Started)
	}
	if len(v.Costs) > 0 {
		out.Printf("\n")
		tw := out.Table(true)
		tw.Printf("PHASE\tROLE\tTURNS\tTOKENS IN\tOUT\tUSD\t\n")
		for _, c := range v.Costs {
			tw.Printf("%s\t%s\t%d\t%d\t%d\t%.4f\t\n", c.Phase, c.Role, c.Turns, c.Input, c.Output, c.USD)
		}
		tw.Flush()
	}
	(&voice{env: env, out: out}).offers(v.Offers)
}

func newQuestContinueCommand(env *environment) *cobra.Command {
	var flags campaignFlags
	var choose string
	var repair bool
	cmd := &cobra.Command{
		Use:   "continue",
		Short: "Go on: with what was interrupted, or with the next step",
		Long: `Continue goes on with an interaction that was interrupted. When there is none it
offers the next steps; --choose takes one of them in a script (a number, or part
of its words). With --repair it repairs what quest status offers to repair.`,
		Example: "  conclave quest continue\n  conclave quest continue --choose \"continue working\"\n  conclave quest continue --answers more.txt",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			c, err := env.openCampaign(cmd, flags)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, c.Close()) }()
			if repair {
				return c.repair(cmd.Context())
			}
			return c.goOn(cmd.Context(), choose)
		},
	}
	cmd.Flags().StringVar(&choose, "choose", "", "the next step to take")
	cmd.Flags().BoolVar(&repair, "repair", false, "repair quest.md as offered")
	flags.add(cmd, false)
	return cmd
}

func (c *campaign) goOn(ctx context.Context, choose string) error {
	status, err := engine.Peek(ctx, engine.Options{Dir: c.w.Root, Scope: flow.Scope})
	if err != nil {
		return environmentError("%w", err)
	}
	if len(status.Open) > 0 {
		if err := c.launch(ctx, false); err != nil {
			return err
		}
		res, err := c.resume(ctx, status.Open[0].ID)
		return c.finish(ctx, res, err)
	}
	q, err := c.quest()
	if err != nil {
		return err
	}
	if q.Phase == quest.PhaseSetup {
		res, err := c.start(ctx, "setup", flow.Setup{})
		return c.finish(ctx, res, err)
	}
	res, err := c.house.OffersFor(q)
	if err != nil {
		return campaignError(err)
	}
	if choose == "" {
		return c.finish(ctx, res, nil)
	}
	choice, err := quest.Choose(res.Offers, choose)
	if err != nil {
		return usageError("%w", err)
	}
	if choice.Offer == nil {
		return usageError("%q is none of the next steps: %s", choose, labels(res.Offers))
	}
	out, done, err := c.follow(ctx, res, *choice.Offer)
	if done {
		return err
	}
	return c.finish(ctx, out, err)
}

func labels(offers []quest.Offer) string {
	var list []string
	for _, o := range offers {
		list = append(list, o.Label)
	}
	return strings.Join(list, "; ")
}

// repair offers what Fault.Repair can do, and does it at the person's word.
func (c *campaign) repair(ctx context.Context) error {
	store, err := quest.OpenStore(c.w.Root)
	if err != nil {
		return environmentError("%w", err)
	}
	defer store.Close()
	q, err := store.Quest()
	if err != nil {
		return campaignError(err)
	}
	for _, f := range q.Faults {
		if !f.Repairable() {
			continue
		}
		before := q.Bytes()
		after, err := f.Repair(before)
		if err != nil {
			return noError("%w", err)
		}
		if _, err := c.start(ctx, "move", flow.Move{Repair: after, Before: before}); err != nil {
			return err
		}
		c.env.Stdout.Printf("repaired: %s\n", f.Offer)
		return nil
	}
	return noError("nothing in quest.md can be repaired without you; `conclave quest status` says what is wrong")
}

func newQuestLogCommand(env *environment) *cobra.Command {
	var flags campaignFlags
	cmd := &cobra.Command{
		Use:     "log TEXT",
		Short:   "Add a line about progress to the quest's log",
		Example: `  conclave quest log "API design finished"`,
		Args:    oneArg("TEXT"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if strings.TrimSpace(args[0]) == "" {
				return usageError("say what was done: conclave quest log TEXT")
			}
			return env.moveCommand(cmd, flags, flow.Move{Progress: args[0]})
		},
	}
	flags.add(cmd, false)
	return cmd
}

func newQuestArchiveCommand(env *environment) *cobra.Command {
	var flags campaignFlags
	cmd := &cobra.Command{
		Use:     "archive",
		Short:   "Put the quest away, so that another can begin",
		Long:    "Archive moves quest.md to .campaign/archive, byte for byte. Conversations and records stay.",
		Example: "  conclave quest archive",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := env.findRoot()
			if err != nil {
				return err
			}
			if _, err := os.Lstat(filepath.Join(root, filepath.FromSlash(quest.QuestFile))); err != nil {
				return campaignError(quest.ErrNoQuest)
			}
			return env.moveCommand(cmd, flags, flow.Move{Archive: true})
		},
	}
	flags.add(cmd, false)
	return cmd
}

func (env *environment) moveCommand(cmd *cobra.Command, flags campaignFlags, in flow.Move) (err error) {
	c, err := env.openCampaign(cmd, flags)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.house.CheckMove(in); err != nil {
		return campaignError(err)
	}
	res, err := c.start(cmd.Context(), "move", in)
	return c.finish(cmd.Context(), res, err)
}

func newQuestShowCommand(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show [CONVERSATION]",
		Short: "Print the quest, or a conversation",
		Example: `  conclave quest show
  conclave quest show 2026-02-18-14-32-cat.md
  conclave quest show --json       list the conversations`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			root, err := env.findRoot()
			if err != nil {
				return err
			}
			store, err := quest.OpenStore(root)
			if err != nil {
				return environmentError("%w", err)
			}
			defer store.Close()
			if asJSON {
				list, err := store.Transcripts()
				if err != nil {
					return environmentError("%w", err)
				}
				return env.Stdout.JSON(append([]quest.Transcript{}, list...))
			}
			name := quest.QuestFile
			if len(args) == 1 {
				name = quest.ConversationsDir + "/" + strings.TrimPrefix(args[0], quest.ConversationsDir+"/")
			} else if _, err := store.Quest(); err != nil {
				return campaignError(err)
			}
			data, err := store.Read(name)
			if err != nil {
				return environmentError("%w", err)
			}
			_, err = env.Stdout.Raw().Write(data)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "list the conversations as JSON")
	return cmd
}
