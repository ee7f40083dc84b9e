package main

import (
	"context"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
)

// version is set when a release is built (-ldflags "-X main.version=…").
var version = "0.1.0-dev"

func newVersionCommand(env *environment) *cobra.Command {
	return answer(env, &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  conclave version --json",
		Args:    cobra.NoArgs,
	}, func(context.Context, []string) (app.Build, error) {
		return env.app().Build(), nil
	}, func(w *screen.Writer, b app.Build) error {
		return w.Printf("%s", versionLine(b))
	})
}

// versionLine is what version and --version print.
func versionLine(b app.Build) screen.Text {
	return screen.Sprintf("conclave %s (%s, %s)\n", b.Version, b.Go, b.Platform)
}
