package main

import (
	"context"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
	"conclave/terminal"
)

func newAuditCommand(env *environment) *cobra.Command {
	cmd := answer(env, &cobra.Command{
		Use:   "audit [RUN|FILE…]",
		Short: "Prove from the record who knew what",
		Long: `Audit reads records and holds them against the policy: what each role was
given, which paths it named, whether text that it is denied reached it (in
messages, in the results of tools, in the bytes that its model was sent),
whether its room was shown to be locked, and whether every turn has a receipt.

It needs the record alone, so it can judge one that was made on another
machine. Without a name it judges all records of this workspace. It exits with
1 when anything was found, and says what no record can show.`,
		Example: `  conclave audit
  conclave audit 20260218T143200.000Z-1f0c9a3b5d7e --json
  conclave audit somebody-elses.record`,
	}, func(_ context.Context, args []string) ([]*app.AuditReport, error) {
		return env.app().Audit(args)
	}, func(w *screen.Writer, reports []*app.AuditReport) error {
		terminal.PrintAudit(w, reports, 0)
		return nil
	})
	cmd.AddCommand(newAuditReceiptCommand(env))
	return cmd
}
