package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"conclave/audit"
	"conclave/internal/screen"
	"conclave/record"
	door "conclave/workspace"
)

func newAuditCommand(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "audit [RUN|FILE…]",
		Short: "Prove from the record who knew what",
		Long: `Audit reads records and holds them against the policy: what each role was
given, which paths it named, whether text that it is denied reached it (in
messages, in the results of tools, in the bytes that its model was sent),
whether its room was shown to be locked, and whether every turn has a receipt.

It needs the record alone, so it can judge one that was made on another
machine. Without a name it judges all records of this workspace. It exits with
1 when anything was found, and says what no record can show.`,
		Example: `  conclave audit
  conclave audit 20260218T143200.000Z-1f0c9a3b5d7e --json
  conclave audit somebody-elses.record`,
		RunE: func(_ *cobra.Command, args []string) error {
			reports, err := env.auditAll(args)
			if err != nil {
				return err
			}
			if asJSON {
				if err := env.Stdout.JSON(reports); err != nil {
					return err
				}
			} else {
				env.printAudit(reports, 0)
			}
			for _, r := range reports {
				if !r.Clean() {
					return saidNo()
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func (env *environment) auditAll(names []string) ([]*audit.Report, error) {
	root, err := env.findRoot()
	if err != nil {
		return nil, err
	}
	var files []string
	for _, name := range names {
		file, err := env.recordFile(root, name)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	if len(names) == 0 {
		list, err := record.List(record.Dir(root))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, environmentError("%w", err)
		}
		for _, info := range list {
			files = append(files, info.Path)
		}
		if len(files) == 0 {
			return nil, noError("no records in %s: nothing has been run here yet", record.Dir(root))
		}
	}
	var reports []*audit.Report
	for _, file := range files {
		r, err := auditFile(file, len(names) == 0)
		if err != nil {
			return nil, environmentError("%s: %w", file, err)
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// recordFile is the file of a record that a person named: a path, a run's id,
// or the beginning of one.
func (env *environment) recordFile(root, name string) (string, error) {
	if file := inDir(env, name); strings.ContainsRune(name, filepath.Separator) || strings.HasSuffix(name, record.Extension) {
		if _, err := os.Stat(file); err != nil {
			return "", environmentError("%w", err)
		}
		return file, nil
	}
	list, err := record.List(record.Dir(root))
	if err != nil {
		return "", environmentError("no record %q: %w", name, err)
	}
	var found []string
	for _, info := range list {
		if info.Run == name {
			return info.Path, nil
		}
		if strings.HasPrefix(info.Run, name) {
			found = append(found, info.Path)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", environmentError("no record of a run %q in %s", name, record.Dir(root))
	}
	return "", usageError("%q is the beginning of %d runs; say more of it", name, len(found))
}

// auditFile judges a record. One that lies among a workspace's own must be the
// run that its name says.
func auditFile(file string, own bool) (*audit.Report, error) {
	f, err := door.OpenNamed(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := audit.Judge(f)
	if err != nil || !own || r.Run == "" {
		return r, err
	}
	if named := record.Named(file, record.Header{Run: r.Run}); named != nil {
		r.Findings = append(r.Findings, audit.Finding{Rule: "name", What: named.Error()})
	}
	return r, nil
}

func (env *environment) printAudit(reports []*audit.Report, beside int) {

	tw := env.Stdout.Table(false)
	tw.Printf("ROLE\tTURN\tGIVEN\tDENIED\tSEARCHED\tROOM\tPROBES\tMODEL INPUT\tCHAIN\tRECEIPT\n")
	findings := beside
	for _, r := range reports {
		chain := "sealed"
		if !r.Sound {
			chain = "BROKEN"
		} else if !r.Sealed {
			chain = "open"
		}
		for _, t := range r.Turns {
			receipt := "yes"
			if !t.Receipt {
				receipt = "MISSING"
			}
			who := t.Role
			if character, ok := strings.CutPrefix(r.Prompt, "table."+t.Role+"."); ok {
				who += " " + character
			}
			tw.Printf("%s\t%s\t%d\t%d\t%d\t%s\t%d\t%s\t%s\t%s\n", who, t.ID, len(t.Given), t.Denied, t.Searched, t.Level, t.Probes, t.Model, chain, receipt)
		}
		findings += len(r.Findings)
	}
	tw.Flush()
	for _, r := range reports {
		for _, f := range r.Findings {
			env.Stdout.Printf("%s %s: %s\n", screen.Red("found"), r.Run, f)
		}
	}
	env.printGaps(reports)
	stamped := env.printStamps(reports)
	switch {
	case findings == 0 && stamped:
		env.Stdout.Printf("beyond what is stamped, nothing reached anyone that they must not know, as far as %s can show\n", counted(len(reports), "record", "records"))
	case findings == 0:
		env.Stdout.Printf("%s nothing reached anyone that they must not know, as far as %s can show\n", screen.Green("clean:"), counted(len(reports), "record", "records"))
	}
	if len(reports) > 0 {
		env.Stdout.Printf("%s\n", screen.Dim("no record shows: "+strings.Join(reports[0].Unseen, "; ")))
	}
}

// printStamps shows what the person allowed and every artefact says: it is not
// found, for it was not hidden, and it is not clean.
func (env *environment) printStamps(reports []*audit.Report) bool {
	any := false
	for _, r := range reports {
		for _, t := range r.Turns {
			for _, stamp := range t.Stamps {
				env.Stdout.Printf("%s %s: %s: %s\n", screen.Bold("stamped"), r.Run, t.Role, stamp)
				any = true
			}
		}
	}
	return any
}

// printGaps names each gap once, with the runs that have it.
func (env *environment) printGaps(reports []*audit.Report) {
	runs := map[string][]string{}
	var order []string
	for _, r := range reports {
		for _, g := range r.Gaps {
			if runs[g] == nil {
				order = append(order, g)
			}
			runs[g] = append(runs[g], r.Run)
		}
	}
	for _, g := range order {
		where := runs[g][0]
		if n := len(runs[g]); n > 1 {
			where = fmt.Sprintf("%d runs", n)
		}
		env.Stdout.Printf("%s %s: %s\n", screen.Dim("gap"), where, g)
	}
}
