package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
)

func newInstallCommand(env *environment) *cobra.Command {
	var in app.Plugin
	cmd := answer(env, &cobra.Command{
		Use:   "install CLIENT",
		Short: "Put Conclave's plugin into Claude Code or Codex",
		Long: `Install writes the plugin – the MCP server, skills, hooks that record sessions –
into your data directory, and has the client (claude or codex) take it, by the
client's own commands. What you have there already stays as it is. Doing it twice
is doing it once; after an update of Conclave do it again.

With --project Claude Code has it in this project alone, by its .claude/settings.json.
docs/plugins.md says what is written where.`,
		Example: "  conclave install claude\n  conclave install claude --project\n  conclave install codex --dry-run",
		Args:    oneArg("client: " + strings.Join(app.PluginClients(), " or ")),
	}, func(ctx context.Context, args []string) (*app.PluginChange, error) {
		in.Client = args[0]
		return env.app().InstallPlugin(ctx, in)
	}, func(w *screen.Writer, done *app.PluginChange) error {
		files := screen.Counted(len(done.Files), "file", "files")
		if done.DryRun {
			w.Printf("would write %s below %s\n", files, done.Directory)
		} else {
			w.Printf("%s below %s, %d written now\n", files, done.Directory, len(done.Written))
		}
		printPluginCommands(w, done)
		for _, n := range done.Notes {
			w.Printf("%s\n", screen.Prose("", n))
		}
		return nil
	})
	return pluginFlags(cmd, &in)
}

func newUninstallCommand(env *environment) *cobra.Command {
	var in app.Plugin
	cmd := answer(env, &cobra.Command{
		Use:   "uninstall CLIENT",
		Short: "Take Conclave's plugin out of Claude Code or Codex",
		Long: `Uninstall has the client let go of the plugin and takes away every file that
"conclave install" wrote. A file that somebody has changed since stays, and is
named. What the client itself keeps is listed, and left to it. What was recorded
stays.`,
		Example: "  conclave uninstall claude\n  conclave uninstall claude --project",
		Args:    oneArg("client: " + strings.Join(app.PluginClients(), " or ")),
	}, func(ctx context.Context, args []string) (*app.PluginChange, error) {
		in.Client = args[0]
		return env.app().UninstallPlugin(ctx, in)
	}, printUninstalled)
	return pluginFlags(cmd, &in)
}

func pluginFlags(cmd *cobra.Command, in *app.Plugin) *cobra.Command {
	cmd.Flags().BoolVar(&in.Project, "project", false, "in this project alone (Claude Code)")
	cmd.Flags().BoolVar(&in.DryRun, "dry-run", false, "say what would be done, and do nothing")
	return cmd
}

func printPluginCommands(w *screen.Writer, done *app.PluginChange) {
	verb := "told"
	if done.DryRun {
		verb = "would tell"
	}
	for _, args := range done.Commands {
		w.Printf("%s %s: %s\n", verb, done.Client, strings.Join(args, " "))
	}
}

func printUninstalled(w *screen.Writer, done *app.PluginChange) error {
	printPluginCommands(w, done)
	verb := "took away"
	if done.DryRun {
		verb = "would take away"
	}
	if n := len(done.Files) - len(done.Changed); n > 0 {
		w.Printf("%s %s below %s\n", verb, screen.Counted(n, "file", "files"), done.Directory)
	}
	for _, n := range done.Notes {
		w.Printf("%s\n", screen.Prose("", n))
	}
	for _, part := range []struct {
		title string
		names []string
	}{
		{"Changed since it was written, and left there:", done.Changed},
		{"What " + done.Client + " has now and had not before Conclave came, whatever made it:", done.Left},
		{"What is not as it was before Conclave came:", done.LeftOtherwise},
	} {
		if len(part.names) == 0 {
			continue
		}
		w.Printf("%s\n", part.title)
		for _, name := range part.names {
			w.Printf("  %s\n", filepath.Clean(name))
		}
	}
	return nil
}
