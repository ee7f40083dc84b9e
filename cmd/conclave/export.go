package main

import (
	"github.com/spf13/cobra"

	"conclave/app"
)

func newExportCommand(env *environment) *cobra.Command {
	var x app.Export
	cmd := archiveFlag(&cobra.Command{
		Use:   "export RUN…",
		Short: "Write runs as Markdown, HTML, JSON lines or CSV",
		Long: `Export writes one run or many: records of this workspace, bundles, logs, session
files, or runs and sessions that are in the archive. Secrets are taken out, unless
--no-redact says otherwise. A page of HTML is one file that needs nothing else.
JSON lines hold everything; documents for people leave out what programs noted for
themselves, unless --all is given.`,
		Example: `  conclave export 20260218T143200.000Z-1f0c9a3b5d7e -o run.md
  conclave export bundle.zip --format html -o run.html
  conclave export ~/.claude/projects/-home-ada-work-proj/*.jsonl --format csv -o all.csv`,
		Args: someArgs("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := env.app().Export(cmd.Context(), x, args, env.Stdout.Raw())
			if err != nil || x.Out == "" {
				return err
			}
			return env.Stdout.Printf("%s: %s\n", x.Out, counted(n, "entry", "entries"))
		},
	}, &x.At)
	f := cmd.Flags()
	f.StringVarP(&x.Format, "format", "f", "", "md, html, jsonl or csv (default: as FILE ends, else md)")
	f.StringVarP(&x.Out, "output", "o", "", "the `FILE` to write (default: standard output)")
	f.StringVar(&x.Title, "title", "", "title of the document")
	f.BoolVar(&x.All, "all", false, "also what programs noted for themselves")
	f.BoolVar(&x.NoRedact, "no-redact", false, "leave secrets in")
	f.BoolVar(&x.Force, "force", false, "replace FILE")
	return cmd
}
