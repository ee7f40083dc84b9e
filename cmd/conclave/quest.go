package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
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
		newQuestLogCommand(env), newQuestReturnCommand(env), newQuestShowCommand(env), newQuestArchiveCommand(env),
	)
	return cmd
}

func newQuestStartCommand(env *environment) *cobra.Command {
	var in app.QuestStart
	cmd := talk(env, &cobra.Command{
		Use:   "start",
		Short: "Define a quest with Gandalf",
		Long: `Start defines a quest: say what you are up to, answer Gandalf's questions, agree
to the success criteria. Nothing becomes a quest that you have not agreed to. In a
script the answers come from --answers, and --yes agrees to what is proposed.

A finished quest is archived first. When one is under way you are asked whether to
go on with it or to begin anew; a script says --archive. Either way the old one is
moved to .campaign/archive once the new one is agreed to, and never overwritten.

With --council the quest begins from the findings of the last council.`,
		Example: `  conclave quest start
  conclave quest start --mode ship -m "A release with a changelog" --answers answers.txt
  conclave quest start -m @idea.md --yes --json`,
		Args: cobra.NoArgs,
	}, talks, func(ctx context.Context, talk app.Talk, _ []string) (*app.Result, error) {
		in.Talk = talk
		return env.app().StartQuest(ctx, in)
	})
	cmd.Flags().StringVar(&in.Mode, "mode", "", `grow, ship or "grow & ship"`)
	cmd.Flags().BoolVar(&in.Yes, "yes", false, "agree to what Gandalf proposes")
	cmd.Flags().BoolVar(&in.Archive, "archive", false, "put a quest that is under way into the archive")
	cmd.Flags().BoolVar(&in.Council, "council", false, "begin from the findings of the last council")
	return cmd
}

func newQuestStatusCommand(env *environment) *cobra.Command {
	return answer(env, &cobra.Command{
		Use:   "status",
		Short: "Where the quest stands, what it cost, what is open",
		Long: `Status looks and changes nothing. It shows the phase, the criteria, the log,
interactions that were interrupted, and tokens and cost by role and phase. Exit
code 1 when quest.md or a profile is damaged: then it says where, and what could be
repaired.`,
		Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) (app.QuestStatus, error) {
		return env.app().QuestStatus(ctx)
	}, func(_ *screen.Writer, v app.QuestStatus) error {
		env.printStatus(v)
		return nil
	})
}

func (env *environment) printStatus(v app.QuestStatus) {
	out := env.Stdout
	if v.None() {
		out.Printf("There is no quest here yet.\n")
		env.printOpen(v)
		return
	}
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
			out.Printf("  %s\n", screen.Emphasis("    ", v.Told(e)))
		}
	}
	env.printOpen(v)
	if len(v.Costs) > 0 {
		out.Printf("\n")
		tw := out.Table(true)
		tw.Printf("PHASE\tROLE\tTURNS\tTOKENS IN\tOUT\tUSD\t\n")
		for _, c := range v.Costs {
			tw.Printf("%s\t%s\t%d\t%d\t%d\t%.4f\t\n", c.Phase, v.Name(c.Role), c.Turns, c.Input, c.Output, c.USD)
		}
		tw.Flush()
	}
	env.PrintOffers(app.Offers{List: v.Offers})
}

// printOpen says what goes on or was interrupted, and how it goes on.
func (env *environment) printOpen(v app.QuestStatus) {
	out := env.Stdout
	if v.Holder != "" {
		out.Printf("\nAt work: %s\n", v.Holder)
	}
	for _, i := range v.Open {
		out.Printf("\nInterrupted: %s; conclave quest continue goes on with it\n", i.What)
	}
	if v.None() {
		out.Printf("(conclave quest continue --drop puts it away; what was said is kept)\n")
	}
}

func newQuestContinueCommand(env *environment) *cobra.Command {
	var choose string
	var repair bool
	cmd := talk(env, &cobra.Command{
		Use:   "continue",
		Short: "Go on: with what was interrupted, or with the next step",
		Long: `Continue goes on with an interaction that was interrupted; with --drop it puts it
away instead, and what was said is kept. Nothing else ends it. When there is none
it says where the quest stands – its mode and phase, the last entries of the log,
the last conversations – and offers the next steps; --choose takes one of them in a
script (a number, or part of its words). Without a quest it offers to start one or
to hold a council. With --repair it repairs what quest status offers to repair.`,
		Example: "  conclave quest continue\n  conclave quest continue --choose \"continue working\"\n  conclave quest continue --answers more.txt",
		Args:    cobra.NoArgs,
	}, silent, func(ctx context.Context, talk app.Talk, _ []string) (*app.Result, error) {
		if !repair {
			return env.app().ContinueQuest(ctx, talk, choose)
		}
		did, err := env.app().RepairQuest(ctx, talk)
		if err == nil {
			env.Stdout.Printf("repaired: %s\n", did)
		}
		return nil, err
	})
	cmd.Flags().StringVar(&choose, "choose", "", "the next step to take")
	cmd.Flags().BoolVar(&repair, "repair", false, "repair quest.md as offered")
	return cmd
}

func newQuestLogCommand(env *environment) *cobra.Command {
	var withdraw int
	var cmd *cobra.Command
	cmd = talk(env, &cobra.Command{
		Use:   "log [TEXT]",
		Short: "Add a line about progress to the quest's log, or list the log",
		Long: `Log adds a line about progress. Without a text it lists the log, with the number
of each entry. The log only grows: --withdraw N takes a line about progress back by
adding one that says so. Advisors add such lines too, when you tell them that
something is finished, and you are shown each; verdicts and phases are nobody's to
log but the engine's.`,
		Example: "  conclave quest log \"API design finished\"\n  conclave quest log\n  conclave quest log --withdraw 3",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError("%s: the text is one argument: %[1]s \"%s\"", cmd.CommandPath(), strings.Join(args, " "))
			}
			return nil
		},
	}, silent, func(ctx context.Context, talk app.Talk, args []string) (*app.Result, error) {
		switch changed := cmd.Flags().Changed("withdraw"); {
		case changed && len(args) > 0:
			return nil, usageError("either a text to log or --withdraw N, not both")
		case changed:
			return env.app().WithdrawProgress(ctx, talk, withdraw)
		case len(args) > 0:
			return env.app().LogProgress(ctx, talk, args[0])
		}
		return nil, env.listProgress(ctx, talk.Once)
	})
	cmd.Flags().IntVar(&withdraw, "withdraw", 0, "take back the line with this number")
	return cmd
}

func (env *environment) listProgress(ctx context.Context, asJSON bool) error {
	list, err := env.app().ProgressLog(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return env.Stdout.JSON(list)
	}
	for i, e := range list {
		env.Stdout.Printf("%3d. %s\n", i+1, screen.Emphasis("     ", strings.TrimPrefix(e.Bullet(), "- ")))
	}
	return nil
}

func newQuestReturnCommand(env *environment) *cobra.Command {
	return talk(env, &cobra.Command{
		Use:   "return",
		Short: "Go back to the work after a checkpoint or a confrontation",
		Long: `Return goes back to the work (phase 3): after a checkpoint whatever its verdict,
and after a Dragon that prevailed.`,
		Example: "  conclave quest return",
		Args:    cobra.NoArgs,
	}, silent, func(ctx context.Context, talk app.Talk, _ []string) (*app.Result, error) {
		return env.app().ReturnToQuest(ctx, talk)
	})
}

func newQuestArchiveCommand(env *environment) *cobra.Command {
	return talk(env, &cobra.Command{
		Use:     "archive",
		Short:   "Put the quest away, so that another can begin",
		Long:    "Archive moves quest.md to .campaign/archive, byte for byte. Conversations and records stay.",
		Example: "  conclave quest archive",
		Args:    cobra.NoArgs,
	}, silent, func(ctx context.Context, talk app.Talk, _ []string) (*app.Result, error) {
		return env.app().ArchiveQuest(ctx, talk)
	})
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
		RunE: func(cmd *cobra.Command, args []string) error {
			if asJSON {
				list, err := env.app().Conversations()
				if err != nil {
					return err
				}
				return env.Stdout.JSON(list)
			}
			data, err := env.app().QuestText(cmd.Context(), strings.Join(args, ""))
			if err != nil {
				return err
			}
			_, err = env.Stdout.Raw().Write(data)
			return err
		},
	}
	env.addJSON(cmd, &asJSON, "list the conversations as JSON", (*app.App).Conversations)
	return cmd
}
