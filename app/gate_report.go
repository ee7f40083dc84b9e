package app

import (
	"errors"
	"io"

	"conclave/gate"
	"conclave/gate/report"
	"conclave/internal/atomicfile"
)

// GateDecided is what the votes on one criterion come to.
type GateDecided = gate.Decided

// GateReports are files for other programs, "-" for what is printed; "" for none.
type GateReports struct{ SARIF, JUnit, Markdown string }

// Printed says that one of them takes the place of the answer.
func (r GateReports) Printed() bool { return r.SARIF == "-" || r.JUnit == "-" || r.Markdown == "-" }

// WriteReports tells what came of a gate in the forms that other programs read.
func (a *App) WriteReports(out io.Writer, got *GateAnswer, to GateReports) error {
	g := report.Gate{Body: got.Body, Receipt: got.Receipt, Head: got.Head, Signed: got.Signed, Cached: got.Cached}
	markdown := func(g report.Gate) ([]byte, error) { return report.Markdown(g), nil }
	var errs []error
	for _, r := range []struct {
		to   string
		make func(report.Gate) ([]byte, error)
	}{{to.SARIF, report.SARIF}, {to.JUnit, report.JUnit}, {to.Markdown, markdown}} {
		if r.to != "" {
			errs = append(errs, a.writeReport(out, r.to, g, r.make))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return environmentError("%w", err)
	}
	return nil
}

func (a *App) writeReport(out io.Writer, to string, g report.Gate, make func(report.Gate) ([]byte, error)) error {
	data, err := make(g)
	if err != nil {
		return err
	}
	if to == "-" {
		_, err := out.Write(data)
		return err
	}
	return atomicfile.Replace(a.AbsPath(to), data, 0o644)
}
