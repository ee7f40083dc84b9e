package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
)

func newRecordInstallCommand(env *environment) *cobra.Command {
	var remove, show bool
	cmd := answer(env, &cobra.Command{
		Use:   "install",
		Short: "Record what agents do from now on, whenever you are logged in",
		Long: `Install has "conclave record watch" of this workspace started by the system when
you log in, and now: by a user unit of systemd, or by launchd. It needs no rights
but yours. --print shows what would be written, and writes nothing; --remove stops
it and leaves no trace of it. What was recorded stays.`,
		Example: "  conclave record install\n  conclave record status\n  conclave record install --remove",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, _ []string) (app.Service, error) {
		if show && remove {
			return app.Service{}, usageError("--print and --remove: one of them")
		}
		return env.app().RecordService(ctx, !show && !remove, remove)
	}, func(w *screen.Writer, s app.Service) error {
		switch {
		case show:
			w.Printf("# %s\n", s.File)
			for line := range strings.Lines(s.Text) {
				w.Printf("%s\n", strings.TrimSuffix(line, "\n"))
			}
			return nil
		case s.Removed:
			return w.Printf("%s is gone; nothing records here by itself\n", s.Name)
		}
		return w.Printf("%s records what agents do into this workspace\nconclave record status says how far it is, "+
			"conclave record install --remove ends it\n", s.Name)
	})
	cmd.Flags().BoolVar(&show, "print", false, "show the service, and write nothing")
	cmd.Flags().BoolVar(&remove, "remove", false, "stop the service and remove it")
	return cmd
}

func newRecordStatusCommand(env *environment) *cobra.Command {
	return answer(env, &cobra.Command{
		Use:     "status",
		Short:   "Say whether agents are being recorded here, and how far that is",
		Example: "  conclave record status\n  conclave record status --json",
		Args:    cobra.NoArgs,
	}, func(context.Context, []string) (app.RecordState, error) {
		return env.app().Recording()
	}, func(w *screen.Writer, s app.RecordState) error {
		doing := "nobody records here now; conclave record watch does, or conclave record install for good"
		if s.Watching {
			doing = screen.Sprintf("recording: %s", s.By).String()
		}
		if s.At.IsZero() {
			return w.Printf("%s\n", doing)
		}
		behind := "everything was read"
		if s.Behind > 0 {
			behind = screen.Bytes(s.Behind) + " behind"
		}
		return w.Printf("%s\nin all %s, %s, %s\nlast %s; %s (%s)\n", doing, screen.Counted(s.All.Records, "session", "sessions"),
			screen.Counted(int(s.All.Entries), "entry", "entries"), screen.Bytes(s.All.Bytes),
			screen.Counted(s.Files, "file", "files"), behind, s.At.Local().Format(time.DateTime))
	})
}
