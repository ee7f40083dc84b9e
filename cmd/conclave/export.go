package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
)

func newExportCommand(env *environment) *cobra.Command {
	var x app.Export
	cmd := archiveFlag(&cobra.Command{
		Use:   "export RUN…",
		Short: "Write runs as Markdown, HTML, JSON lines, CSV, Parquet, traces or trajectories",
		Long: `Export writes one run or many: records of this workspace, bundles, logs, session
files, or runs and sessions that are in the archive. Secrets are taken out, unless
--no-redact says otherwise. A page of HTML is one file that needs nothing else.
JSON lines hold everything; documents for people leave out what programs noted for
themselves, unless --all is given. parquet is a table for data tools with a row
per entry; tokens stand once for each response of a model, and what an agent was
allowed to see, where a record says it, in the columns conclave_….

otlp is traces for OpenTelemetry's tools: a run is a trace, with a span for every
agent, tool call and response of the model. They have names, times and figures;
what was said is in them with --content only. They go to a file, a request a line,
or to a collector, with the headers of OTEL_EXPORTER_OTLP_HEADERS. atif is the
Agent Trajectory Interchange Format, version 1.7, a trajectory a line.`,
		Example: `  conclave export 20260218T143200.000Z-1f0c9a3b5d7e -o run.md
  conclave export bundle.zip --format html -o run.html
  conclave export ~/.claude/projects/-home-ada-work-proj/*.jsonl --format csv -o all.csv
  conclave export bundle.zip --format otlp --endpoint http://127.0.0.1:4318`,
		Args: someArgs("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := env.app().Export(cmd.Context(), x, args, env.Stdout.Raw())
			if err != nil || x.Out == "" && x.Endpoint == "" {
				return err
			}
			return env.Stdout.Printf("%s: %s\n", cmp.Or(x.Out, x.Endpoint), screen.Counted(n, "entry", "entries"))
		},
	}, &x.At)
	f := cmd.Flags()
	f.StringVarP(&x.Format, "format", "f", "", "md, html, jsonl, csv, parquet, otlp or atif (default: as FILE ends, else md)")
	f.StringVarP(&x.Out, "output", "o", "", "the `FILE` to write (default: standard output)")
	f.StringVar(&x.Title, "title", "", "title of the document")
	f.BoolVar(&x.All, "all", false, "also what programs noted for themselves")
	f.BoolVar(&x.Content, "content", false, "put what was said into traces, too")
	f.StringVar(&x.Endpoint, "endpoint", "", "the `URL` of a collector that traces are sent to")
	f.BoolVar(&x.NoRedact, "no-redact", false, "leave secrets in")
	f.BoolVar(&x.Force, "force", false, "replace FILE")
	return cmd
}
