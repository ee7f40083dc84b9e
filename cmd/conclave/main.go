// Command conclave runs a party of AI agents, each behind its own door: every
// agent knows exactly what its role may know, every word is on the record,
// and anyone can check both.
//
// This package is a face: flags, printing and exit codes. What a command does is
// a verb of app; nothing below app is called from here. A command is a function
// newXCommand; most are an answer, which is printed for people or, with --json,
// for programs. One that runs agents is named in withAgents and gets --log.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"reflect"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/terminal"
)

// environment is everything a command takes from the outside.
type environment struct {
	terminal.Terminal
	Dir    string // the working directory
	Root   string // the workspace that --root names
	Getenv func(string) string

	log *app.Log // the stream of --log
	// dial is how tests stand in for a vendor's host; nil dials the host itself.
	dial func(ctx context.Context, host string) (net.Conn, error)

	answers map[*cobra.Command]reflect.Type // what --json prints
}

func main() {
	app.Init()
	os.Exit(run(os.Args[1:]))
}

// run is main with an exit code, so that tests can call it.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	env := &environment{Terminal: terminal.On(os.Stdin, os.Stdout, os.Stderr), Getenv: os.Getenv}
	var err error
	if env.Dir, err = os.Getwd(); err != nil {
		env.Stderr.Printf("conclave: find the working directory: %v\n", err)
		return exitEnvironment
	}
	return execute(ctx, env, args)
}

func execute(ctx context.Context, env *environment, args []string) int {
	env.Begin()
	env.answers = nil
	root := newRootCommand(env)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if e := env.Stdout.Flush(); err == nil && e != nil {
		err = environmentError("write: %w", e)
	}
	if err == nil {
		return exitDone
	}
	code := exitCode(err)
	if !app.Said(err) {
		name := "conclave: "
		if strings.HasPrefix(err.Error(), "conclave ") {
			name = "" // it begins with the command that it is about
		}
		env.Stderr.Printf("%s%v\n", name, err)
		if code == exitUsage && !strings.Contains(err.Error(), "\ntry: ") {
			env.Stderr.Printf("try: conclave --help, or --help after any command\n")
		}
	}
	return code
}

func newRootCommand(env *environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "conclave",
		Short: "A party of AI agents behind locked doors, with every word on the record",
		Long: `Conclave runs a party of AI agents for you, each behind its own door: every
agent knows exactly what its role may know, every word is on the record, and
anyone can check both.

Exit codes: 0 done, 1 the answer is no, 2 usage, 3 something is missing here.`,
		Example: `  conclave demo                        see it work: no key, no network
  conclave council                     six advisors look at this project
  conclave quest start                 begin a quest
  conclave transcript verify           are the conversation files what was said?`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Version:       version,
	}
	root.SetVersionTemplate(versionLine(env.app().Build()).String())
	root.PersistentFlags().StringVar(&env.Root, "root", "", "the workspace, whoever owns it; else the nearest one upwards that is yours")
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError("%w\ntry: %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(
		newAgentsCommand(env),
		newArchiveCommand(env),
		newAuditCommand(env),
		newBundleCommand(env),
		newCheckpointCommand(env),
		newConfrontCommand(env),
		newConsultCommand(env),
		newCouncilCommand(env),
		newDebriefCommand(env),
		newDemoCommand(env),
		newDoctorCommand(env),
		newExportCommand(env),
		newGateCommand(env),
		newHookCommand(env),
		newInitCommand(env),
		newInstallCommand(env),
		newMCPCommand(env),
		newPackCommand(env),
		newPolicyCommand(env),
		newProfileCommand(env),
		newQueryCommand(env),
		newQuestCommand(env),
		newRecordCommand(env),
		newRoomCommand(env),
		newTableCommand(env),
		newSearchCommand(env),
		newTranscriptCommand(env),
		newTrustCommand(env),
		newUninstallCommand(env),
		newUsageCommand(env),
		newVersionCommand(env),
		newWebCommand(env),
	)
	addLogs(env, root)
	strict(root)
	return root
}

// suggestion is the command that a word may have meant.
func suggestion(cmd *cobra.Command, args []string) string {
	if len(args) > 0 {
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			return fmt.Sprintf(" (did you mean %q?)", near[0])
		}
	}
	return ""
}

// meant adds to an error about a word that it may have been a command's.
func meant(f func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if f == nil {
			return nil
		}
		err := f(cmd, args)
		if hint := suggestion(cmd, args); hint != "" && err != nil && exitCode(err) == exitUsage {
			return usageError("%s: no command %q%s\ntry: %[1]s --help", cmd.CommandPath(), args[0], hint)
		}
		return err
	}
}

// strict makes wrong arguments usage errors, and every command group answer an
// unknown word with an error and a suggestion; by itself cobra does so for the
// root only.
func strict(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		strict(sub)
	}
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if exit := (*app.Error)(nil); err == nil || errors.As(err, &exit) {
				return err
			}
			return usageError("%s: %w\ntry: %[1]s --help", cmd.CommandPath(), err)
		}
	}
	if !cmd.HasSubCommands() {
		return
	}
	cmd.SuggestionsMinimumDistance = 2
	if cmd.RunE != nil && cmd.HasParent() { // it does something by itself, too
		cmd.Args, cmd.RunE = meant(cmd.Args), meant(cmd.RunE)
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		hint := suggestion(cmd, args)
		if !cmd.HasParent() {
			return usageError("there is no command %q%s\ntry: %s --help", args[0], hint, cmd.CommandPath())
		}
		return usageError("%s: no command %q%s\ntry: %[1]s --help", cmd.CommandPath(), args[0], hint)
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}
