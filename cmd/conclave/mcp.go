package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/mcp"
)

func newMCPCommand(env *environment) *cobra.Command {
	var who app.Remote
	var addr string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve this workspace to an agent, as tools",
		Long: `Mcp speaks the Model Context Protocol: advisors, judges, the quest and the record
of this workspace are tools for an agent that works outside. It gets verdicts and
never a room; nobody is asked anything, and what is yours to say it cannot say.
A client starts it by itself and speaks over standard input and output; docs/mcp.md
says how to add it to yours. With --http it listens on this machine alone, and
prints where and with which token.`,
		Example: `  claude mcp add conclave -- conclave mcp
  codex mcp add conclave -- conclave mcp
  conclave mcp --http 127.0.0.1:0`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if addr == "" && cmd.Flag("log").Value.String() == "-" {
				return usageError("--log - and the protocol both want standard output: name a file for the log")
			}
			a, err := who.Here(cmd.Context(), env.app())
			if err != nil {
				return err
			}
			if addr != "" {
				return env.serveHTTP(cmd.Context(), mcp.New(a), addr)
			}
			// A client that has gone must not end the process before its rooms are closed.
			signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
			return mcp.New(a).Serve(cmd.Context(), io.NopCloser(env.Stdin), nopCloser{env.Stdout.Raw()})
		},
	}
	cmd.Flags().StringVar(&addr, "http", "", "listen at `ADDR` of this machine instead, 127.0.0.1:0 for any free port")
	cmd.Flags().BoolVar(&who.WholeArchive, "whole-archive", false,
		"let search, query and usage answer from your whole archive: every workspace, every room")
	return cmd
}

func (env *environment) serveHTTP(ctx context.Context, s *mcp.Server, addr string) error {
	return s.ServeWeb(ctx, addr, func(at mcp.Place) {
		env.Stdout.Printf("url: %s\nAuthorization: Bearer %s\n", at.URL, at.Token)
		_ = env.Stdout.Flush() // who started it waits for this
	})
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
