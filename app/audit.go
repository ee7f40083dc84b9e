package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"conclave/audit"
	"conclave/record"
	door "conclave/workspace"
)

// AuditReport is what one record shows of who knew what.
type AuditReport = audit.Report

// Audited are reports to be shown.
type Audited struct{ Reports []*AuditReport }

func (Audited) isEvent() {}

// Audit judges the records that are named, or all of this workspace. The answer
// is no when anything was found.
func (a *App) Audit(names []string) ([]*AuditReport, error) {
	root, err := a.rootToRead()
	if err != nil {
		return nil, err
	}
	var files []string
	for _, name := range names {
		if a.Remote != nil && a.isRecordPath(name) {
			return nil, personsOwn("to audit a file that is no run of this workspace")
		}
		file, err := a.recordFile(root, name)
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
	reports, err := auditFiles(files, len(names) == 0)
	for i, r := range reports {
		reports[i] = a.shownAudit(root, files[i], r)
	}
	for _, r := range reports {
		if !r.Clean() {
			return reports, saidNo()
		}
	}
	return reports, err
}

func auditFiles(files []string, own bool) (reports []*AuditReport, err error) {
	for _, file := range files {
		r, err := auditFile(file, own)
		if err != nil {
			return nil, environmentError("%s: %w", file, err)
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// auditFile judges a record. One that lies among a workspace's own must be the
// run that its name says.
func auditFile(file string, own bool) (*AuditReport, error) {
	f, err := door.OpenNamed(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := audit.Judge(f)
	if err != nil || !own {
		return r, err
	}
	if r.Run == "" { // it was cut short before its head: its name is all that tells of it
		r.Run = strings.TrimSuffix(filepath.Base(file), record.Extension)
	}
	if named := record.Named(file, record.Header{Run: r.Run}); named != nil {
		r.Findings = append(r.Findings, audit.Finding{Rule: "name", What: named.Error()})
	}
	return r, nil
}

// recordFile is the file of a record that a person named: a path, a run's id,
// or the beginning of one.
func (a *App) recordFile(root, name string) (string, error) {
	if a.isRecordPath(name) {
		file := a.AbsPath(name)
		if _, err := os.Stat(file); err != nil {
			return "", namedError("%w", err)
		}
		return file, nil
	}
	list, err := record.List(record.Dir(root))
	if err != nil {
		return "", environmentError("no record %q: %w", name, err)
	}
	found := beginning(list, name)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", usageError("no record of a run %q in %s", name, record.Dir(root))
	}
	return "", usageError("%q is the beginning of %d runs; say more of it", name, len(found))
}

// isRecordPath: with a separator or the extension it is no run's id.
func (a *App) isRecordPath(name string) bool {
	return !a.Literal && (strings.ContainsRune(name, filepath.Separator) || strings.HasSuffix(name, record.Extension))
}

// beginning are the records of the runs whose id begins with name; the one that
// is called just so is alone.
func beginning(list []record.Info, name string) (found []string) {
	for _, info := range list {
		if info.Run == name {
			return []string{info.Path}
		}
		if strings.HasPrefix(info.Run, name) {
			found = append(found, info.Path)
		}
	}
	return found
}
