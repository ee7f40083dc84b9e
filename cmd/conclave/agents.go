package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
)

func newAgentsCommand(env *environment) *cobra.Command {
	cmd := answer(env, &cobra.Command{
		Use:   "agents",
		Short: "Say who plays whom, in which room and at what price",
		Long: `Agents lists every seat, who plays it by your configuration and the project's, in
what kind of room, and what a million tokens cost. It starts nobody and asks
nobody; what is missing for a seat to be played is said.

Who plays is set by "agents" in conclave.yaml or in your own configuration:

  agents: {default: {agent: model, provider: ollama, model: llama3.2}}

conclave doctor proposes one for what is here, and conclave init writes it.`,
		Example: "  conclave agents\n  conclave agents try cat\n  conclave agents --json",
		Args:    cobra.NoArgs,
	}, func(context.Context, []string) ([]app.Played, error) {
		return env.app().Agents()
	}, printAgents)
	cmd.AddCommand(newTryCommand(env))
	return cmd
}

func newTryCommand(env *environment) *cobra.Command {
	return answer(env, &cobra.Command{
		Use:   "try SEAT",
		Short: "Ask whoever plays a seat one small thing",
		Long: `Try has whoever plays a seat say a sentence, in a room with the walls of that seat
and nothing in it. It shows the room and what was shown of its walls, who
answered, what the model was sent and what that cost, and keeps it on a record
like every other turn. It costs one small call of the model.`,
		Example: "  conclave agents try cat\n  conclave agents try dragon --json",
		Args:    oneArg("SEAT"),
	}, func(ctx context.Context, args []string) (app.Trial, error) {
		return env.app().TryAgent(ctx, args[0])
	}, printTrial)
}

// printAgents lists seats that are played alike together.
func printAgents(w *screen.Writer, list []app.Played) error {
	type line struct{ who, room, price string }
	var order []line
	seats := map[line][]string{}
	missing := map[string][]string{}
	var reasons []string
	for _, p := range list {
		l := line{whoPlays(p), p.Level, p.Price()}
		if seats[l] == nil {
			order = append(order, l)
		}
		seats[l] = append(seats[l], p.Seat)
		if p.Missing != "" {
			why := strings.Replace(p.Missing, p.Seat+" is to be played", "it is to be played", 1)
			if missing[why] == nil {
				reasons = append(reasons, why)
			}
			missing[why] = append(missing[why], p.Seat)
		}
	}
	for _, l := range order {
		w.Printf("%s\n", screen.Bold(strings.Join(seats[l], ", ")))
		w.Printf("  %s\n", l.who)
		w.Printf("  room: %s\n", l.room)
		if l.price != "" {
			w.Printf("  %s\n", l.price)
		}
	}
	for _, why := range reasons {
		w.Printf("\n%s %s: %s\n", screen.Red("✗"), strings.Join(missing[why], ", "), screen.Indent("  ", why))
	}
	return nil
}

func whoPlays(p app.Played) string {
	switch p.Agent {
	case "offline":
		return "the embedded party; no model, nothing leaves this machine"
	case "human":
		return "a person"
	case "scripted":
		return "a script"
	}
	who := p.Agent
	if p.Program != "" {
		who = p.Program + " (" + p.Agent + ")"
	}
	if p.Model != "" {
		who = p.Model + ", by " + who
	}
	if p.Provider != "" {
		who += " (provider " + p.Provider + ")"
	}
	return who
}

func printTrial(w *screen.Writer, t app.Trial) error {
	w.Printf("%s %s\n\n", screen.Bold(t.Played.Seat+":"), screen.Indent("  ", strings.TrimSpace(t.Answer)))
	walls := "none is needed: it runs in this process, and reads nothing but what it is given"
	if t.Walls != "" {
		walls = t.Walls + ", shown by " + screen.Counted(t.Probes, "pair of probes", "pairs of probes")
	}
	tw := w.Table(false)
	for _, l := range [][2]string{
		{"room", walls},
		{"who", strings.TrimSpace(t.Program + " " + t.Version)},
		{"model", t.Model},
		{"what the model was sent", t.ModelInput},
		{"calls of the model", t.ModelCalls()},
		{"tokens", strconv.FormatInt(t.Tokens, 10)},
		{"cost", t.Cost()},
		{"time", strconv.FormatFloat(t.Seconds, 'f', 1, 64) + " s"},
		{"record", t.Record},
	} {
		tw.Printf("  %s\t%s\n", l[0], l[1])
	}
	for _, s := range t.Stamps {
		tw.Printf("  note\t%s\n", s)
	}
	tw.Flush()
	return nil
}
