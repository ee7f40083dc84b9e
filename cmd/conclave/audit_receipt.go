package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
)

func newAuditReceiptCommand(env *environment) *cobra.Command {
	var in app.ReceiptFile
	cmd := answer(env, &cobra.Command{
		Use:   "receipt FILE",
		Short: "Check a gate's receipt, on any machine",
		Long: `Receipt says what the receipt of a gate proves to you, line by line. It needs
the file alone: no workspace, no records, no network.

It is held against itself (form, digests, what each judge was given and what
its room was shown to hold back, the votes counted again), and against what
you know: the head of the gate's record, which the gate printed where it ran;
the keys that you allow, in a file as ssh-keygen and git have it
(gpg.ssh.allowedSignersFile); the work as it lies here; records of its runs,
or bundles of them: what is stated of a judge is compared with its record.

What it computed it calls shown; what whoever made the receipt says, and
nothing contradicts, it calls stated; open is what the receipt leaves open.

It exits with 0 only if nothing is wrong and somebody vouches for it: by a
head that you know, or a signature by a key that you allow. docs/receipt.md
says what each line of a receipt proves, and what none does.`,
		Example: `  conclave audit receipt receipt.json --head 5d1c…e7
  conclave audit receipt receipt.json --signers allowed_signers --work .
  conclave audit receipt receipt.json --record judge.record --json`,
		Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, args []string) (*app.ReceiptCheck, error) {
		in.File = args[0]
		return env.app().CheckReceipt(ctx, in)
	}, func(w *screen.Writer, c *app.ReceiptCheck) error {
		printReceiptCheck(w, c)
		return nil
	})
	flags := cmd.Flags()
	flags.StringVar(&in.Work, "work", "", "where the work lies: the `DIR` that its paths begin in, or its one file")
	flags.StringVar(&in.Head, "head", "", "the head of the gate's record, as you know it (`HEX`)")
	flags.StringVar(&in.Signers, "signers", "", "a `FILE` of allowed signers: it must be signed by one of them")
	flags.StringArrayVar(&in.Records, "record", nil, "a record or bundle of a judge or the gate (`FILE`; repeatable)")
	return cmd
}

func printReceiptCheck(w *screen.Writer, c *app.ReceiptCheck) {
	switch {
	case len(c.Findings) > 0:
		w.Printf("%s: it is no receipt, or contradicts itself or what you know\n", screen.Red("does not hold"))
		printStatements(w, screen.Red("found"), c.Findings)
		return
	case c.Vouched():
		w.Printf("%s: the verdict is %s\n", screen.Green("holds"), screen.Bold(c.Outcome))
	default:
		w.Printf("%s: nothing is wrong in it, and anybody could have written it; its verdict is %s\n",
			screen.Bold("nobody vouches for it"), c.Outcome)
		w.Printf("%s\n", screen.Dim("try: --head HEX, as the gate printed it, or --signers FILE"))
	}
	printStatements(w, screen.Green("shown"), c.Shown)
	printStatements(w, screen.Bold("stated"), c.Stated)
	printStatements(w, screen.Dim("open"), c.Open)
	w.Printf("%s\n", screen.Dim("no receipt proves: "+strings.Join(c.Unproved, "; ")))
}

func printStatements(w *screen.Writer, mark screen.Text, list []app.ReceiptStatement) {
	for _, s := range list {
		w.Printf("%s %s: %s\n", mark, s.About, s.What)
	}
}
