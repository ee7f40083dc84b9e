package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"conclave/profile"
)

func newPackNewCommand(env *environment) *cobra.Command {
	var theme string
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Write nine documented templates for a pack of your own",
		Long: `Makes profile-packs/NAME with a template for each of the nine. Every template
says what its archetype is for and what to write; validate leads you from one
gap to the next.`,
		Example: `  conclave pack new deep-sea
  conclave pack new rock-roll --theme "Rock & Roll"`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if name := args[0]; profile.Slug(name) != name {
				return usageError("a pack's name is lower case with hyphens: %q could be %q", name, profile.Slug(name))
			}
			root, err := env.findRoot()
			if err != nil {
				return err
			}
			dir := filepath.Join(root, "profile-packs", args[0])
			if err := profile.NewPack(dir, theme); err != nil {
				return usageError("%w", err)
			}
			shown := dir
			if rel, err := filepath.Rel(env.Dir, dir); err == nil {
				shown = rel
			}
			env.Stdout.Printf("%s: nine templates\nFill them in, then: conclave pack validate %[1]s\n", filepath.ToSlash(shown))
			return nil
		},
	}
	cmd.Flags().StringVar(&theme, "theme", "", "the theme in its natural form (default: from the name)")
	return cmd
}

func newPackExportCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "export NAME|PATH DIR",
		Short: "Write a pack's files to a new directory, .zip or .tar.gz",
		Example: `  conclave pack export fantasy my-fantasy
  conclave pack export lighthouse lighthouse.zip`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := env.openPack(args[0])
			if err != nil {
				return err
			}
			if len(p.Faults) > 0 {
				printFaults(env, p.Faults)
				return noError("pack %s has %s and was not exported", p.Name, countOf(len(p.Faults), "fault"))
			}
			if err := p.Export(env.absPath(args[1])); err != nil {
				return environmentError("%w", err)
			}
			env.Stdout.Printf("%s: %s\n", args[1], countOf(len(p.Profiles), "profile"))
			return nil
		},
	}
}
