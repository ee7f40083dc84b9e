package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"conclave/internal/screen"
	"conclave/quest/flow"
)

func newTranscriptVerifyCommand(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify [FILE…]",
		Short: "Prove conversation files against the record",
		Long: `Verify makes each conversation file of the quest anew, from the record of what
was really exchanged, and compares the bytes. Without a name it proves all of
them, and finds those that are gone. Files that other programs or people wrote
are named and are no contradiction. Exit code 1 when a file differs.`,
		Example: "  conclave transcript verify\n  conclave transcript verify .campaign/conversations/2026-02-18-14-32-cat.md\n  conclave transcript verify --json",
		RunE: func(_ *cobra.Command, args []string) error {
			var names []string
			for _, a := range args {
				names = append(names, filepath.Base(a))
			}
			root, err := env.findRoot()
			if err != nil {
				return err
			}
			proofs, err := flow.Verify(root, names...)
			if err != nil {
				return noError("%w", err)
			}
			if asJSON {
				if err := env.Stdout.JSON(append([]flow.Proof{}, proofs...)); err != nil {
					return err
				}
			}
			return env.printProofs(proofs, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func (env *environment) printProofs(proofs []flow.Proof, quiet bool) error {

	bad, proved := 0, 0
	for _, p := range proofs {
		word := screen.Green("verbatim")
		switch {
		case p.OK:
			proved++
		case p.Foreign:
			word = screen.Dim("not ours")
		default:
			bad++
			word = screen.Red("DIFFERS")
		}
		if quiet {
			continue
		}
		env.Stdout.Printf("%s  %s", word, p.File)
		if p.Reason != "" {
			env.Stdout.Printf(": %s", p.Reason)
		}
		env.Stdout.Printf("\n")
	}
	if !quiet {
		env.Stdout.Printf("%s proved byte for byte\n", counted(proved, "conversation", "conversations"))
	}
	if bad > 0 {
		return saidNo()
	}
	return nil
}
