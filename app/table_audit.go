package app

import (
	"conclave/audit"
	"conclave/table"
	"conclave/table/calls"
	"conclave/table/look"
)

// TableAudit is what fed every call of a table, and what was found in it.
type TableAudit struct {
	Calls    []calls.Call    `json:"calls"`
	Files    []table.Finding `json:"files"`
	Findings int             `json:"findings"`
	Reports  []*audit.Report `json:"reports"`

	tools map[string][]audit.Tool // by run and turn
}

// Tools are those that were called in a turn of the table.
func (t TableAudit) Tools(c calls.Call) []audit.Tool { return t.tools[c.Run+" "+c.Turn] }

// AuditTable holds the sources of every call against what the seat may read,
// judges the records, and looks through the campaign's files. The answer is no,
// in its own words, when anything was found.
func (a *App) AuditTable(name string) (out TableAudit, err error) {
	root, err := a.rootToRead()
	if err != nil {
		return out, err
	}
	if out.Calls, err = calls.List(root, name); err != nil {
		return out, environmentError("%w", err)
	}
	if len(out.Calls) == 0 {
		if _, _, err := a.checkSeat(name, ""); err != nil {
			return out, err
		}
		return out, noError("no call of %s is on record", name)
	}
	files, err := calls.Records(root, name)
	if err != nil {
		return out, environmentError("%w", err)
	}
	if out.Reports, err = auditFiles(files, true); err != nil {
		return out, err
	}
	if out.Files, err = look.Findings(root, name, table.Caps{}); err != nil {
		return out, environmentError("%w", err)
	}
	out.Findings, out.tools = len(out.Files), map[string][]audit.Tool{}
	for _, c := range out.Calls {
		out.Findings += len(c.Trespasses())
	}
	for _, r := range out.Reports {
		out.Findings += len(r.Findings)
		for _, t := range r.Turns {
			out.tools[r.Run+" "+t.ID] = t.Tools
		}
	}
	if out.Findings > 0 {
		return out, saidNo()
	}
	return out, nil
}
