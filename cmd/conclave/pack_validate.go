package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"conclave/internal/screen"
	"conclave/profile"
	door "conclave/workspace"
)

// packValidation is the result for one path.
type packValidation struct {
	Path      string          `json:"path"`
	Pack      string          `json:"pack,omitempty"`
	Faults    []profile.Fault `json:"faults"`
	Checklist []profile.Item  `json:"checklist,omitempty"`
}

func newPackValidateCommand(env *environment) *cobra.Command {
	var asJSON, github bool
	cmd := &cobra.Command{
		Use:   "validate PATH|NAME...",
		Short: "Check packs or single profiles, and say what to do about each fault",
		Long: `Checks a pack (a directory, a .zip, a .tar.gz, or the name of one) or a single
profile (a .md file). What rules can find is a fault; what needs a reader is a
checklist, judged by the mentor where one is configured and "not judged"
otherwise. Exit code 1 if there are faults.`,
		Example: `  conclave pack validate profile-packs/lighthouse
  conclave pack validate lighthouse.zip --json
  conclave pack validate profile-packs/* --github`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if asJSON && github {
				return usageError("say --json or --github, not both")
			}
			var results []packValidation
			faults := 0
			for _, name := range args {
				v, err := env.validatePack(cmd.Context(), name)
				if err != nil {
					return err
				}
				results = append(results, v)
				faults += len(v.Faults)
			}
			if err := printValidations(env, results, asJSON, github); err != nil {
				return err
			}
			if faults > 0 {
				return saidNo()
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&github, "github", false, "print annotations for GitHub Actions")
	return cmd
}

func (env *environment) validatePack(ctx context.Context, name string) (packValidation, error) {
	v := packValidation{Path: name, Faults: []profile.Fault{}}
	info, err := os.Stat(env.absPath(name))
	if err == nil && !info.IsDir() && strings.HasSuffix(strings.ToLower(name), ".md") {
		data, err := door.ReadNamed(env.absPath(name), door.MaxText)
		if err != nil {
			return v, environmentError("%w", err)
		}
		_, faults := profile.Parse(name, data)
		v.Faults = append(v.Faults, faults...)
		return v, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return v, environmentError("%w", err)
	}
	if err == nil {
		name = env.absPath(name) // a path without a slash is a path all the same
	}
	p, err := env.openPack(name)
	if err != nil {
		return v, err
	}
	v.Pack = p.Name
	v.Faults = append(v.Faults, p.Faults...)
	v.Checklist = profile.Review(ctx, p, nil)
	return v, nil
}

func printValidations(env *environment, results []packValidation, asJSON, github bool) error {
	if asJSON {
		return env.Stdout.JSON(results)
	}

	for _, v := range results {
		if github {
			for _, f := range v.Faults {
				env.Stdout.Printf("%s\n", f.Annotation())
			}
			continue
		}
		printFaults(env, v.Faults)
		if n := len(v.Faults); n > 0 {
			env.Stdout.Printf("%s: %s\n", v.Path, screen.Red(countOf(n, "fault")))
		} else {
			env.Stdout.Printf("%s: %s\n", v.Path, screen.Green("no faults"))
		}
		if len(v.Checklist) > 0 {
			env.Stdout.Printf("what rules cannot find:\n")
		}
		for _, item := range v.Checklist {
			env.Stdout.Printf("  %s: %s\n", item.Text, item.Answer)
		}
	}
	return nil
}

func countOf(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
