package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
)

func newDoctorCommand(env *environment) *cobra.Command {
	return answer(env, &cobra.Command{
		Use:   "doctor",
		Short: "Say what is found here and what is missing",
		Long: `Doctor looks at what Conclave can use on this machine: whether rooms can be
sealed, which agents are installed, how each of them would pay (an API key in
the environment, or a login of its own), which variables hold a key, which
servers of models answer on this machine (Ollama, LM Studio, llama.cpp, vLLM at
their usual ports), and which files are read. It looks at names and at whether
something exists, never into a file of credentials, and asks nobody beyond this
machine. For what it finds it proposes a configuration.

It exits with 3 when evaluators could not be locked in here.`,
		Example: "  conclave doctor\n  conclave doctor --json",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, _ []string) ([]app.Finding, error) {
		return env.app().Doctor(ctx)
	}, func(w *screen.Writer, findings []app.Finding) error {
		for _, f := range findings {
			mark := screen.Green("✓")
			if !f.OK {
				mark = screen.Red("✗")
			}
			w.Printf("%s %-20s %s\n", mark, f.What, screen.Indent(strings.Repeat(" ", 23), f.State))
			if f.Hint != "" {
				w.Printf("  %-20s %s\n", "", screen.Dim(f.Hint))
			}
		}
		for _, f := range findings {
			if p := f.Proposal; p != nil {
				w.Printf("\nTo have the party answered by %s, in your own configuration "+
					"(conclave init --play %s writes it):\n", p.What, p.Name)
				w.Printf("  %s\n", screen.Indent("  ", strings.Join(p.Lines, "\n")))
			}
		}
		return nil
	})
}
