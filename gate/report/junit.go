package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"conclave/gate"
)

type (
	junitSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []junitSuite
	}
	junitSuite struct {
		XMLName    xml.Name        `xml:"testsuite"`
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Time       string          `xml:"time,attr"`
		Timestamp  string          `xml:"timestamp,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase
		Err        string `xml:"system-err,omitempty"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		XMLName xml.Name      `xml:"testcase"`
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitProblem `xml:"failure"`
		Error   *junitProblem `xml:"error"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitProblem struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit is a suite for the gate and a case for each criterion: one that is not
// met has failed, one that was not judged is an error.
func JUnit(g Gate) ([]byte, error) {
	name := "conclave gate: " + words(g.Case.Role)
	s := junitSuite{Name: name, Time: seconds(g.took()), Timestamp: g.Made.UTC().Format("2006-01-02T15:04:05"),
		Err: strings.Join(g.failures(), "\n")}
	facts := g.facts()
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		s.Properties = append(s.Properties, junitProperty{name, facts[name]})
	}
	for _, c := range g.criteria() {
		said := strings.Join(c.evidence(), "\n")
		head, _, _ := strings.Cut(c.text, "\n")
		k := junitCase{Class: "gate." + words(g.Case.Role), Name: fmt.Sprintf("%d. %s", c.Number, head), Time: "0", Out: said}
		switch c.Status {
		case gate.Met:
		case gate.NotMet:
			s.Failures++
			k.Failure = &junitProblem{gate.NotMet, gate.NotMet, said}
		default:
			s.Errors++
			k.Error = &junitProblem{gate.NotJudged, gate.NotJudged, said}
		}
		s.Cases = append(s.Cases, k)
	}
	s.Tests = len(s.Cases)
	var b bytes.Buffer
	b.WriteString(xml.Header)
	enc := xml.NewEncoder(&b)
	enc.Indent("", "  ")
	if err := enc.Encode(junitSuites{Suites: []junitSuite{s}}); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// took is how long the judges had, one beside the other or not.
func (g *Gate) took() time.Duration {
	var first, last time.Time
	for _, j := range g.Judges {
		if first.IsZero() || j.Started.Before(first) {
			first = j.Started
		}
		if j.Ended.After(last) {
			last = j.Ended
		}
	}
	return max(0, last.Sub(first))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
