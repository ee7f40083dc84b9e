package report

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"conclave/gate"
)

func readJUnit(t rapid.TB, g Gate) junitSuite {
	t.Helper()
	text, err := JUnit(g)
	if err != nil {
		t.Fatal(err)
	}
	if !utf8.Valid(text) {
		t.Fatalf("no UTF-8: %q", text)
	}
	var read junitSuites
	dec := xml.NewDecoder(strings.NewReader(string(text)))
	if err := dec.Decode(&struct {
		XMLName xml.Name      `xml:"testsuites"`
		Suites  *[]junitSuite `xml:"testsuite"`
	}{Suites: &read.Suites}); err != nil || len(read.Suites) != 1 {
		t.Fatalf("%v in %s", err, text)
	}
	return read.Suites[0]
}

func TestJUnit(t *testing.T) {
	s := readJUnit(t, someGate())
	if s.Tests != 3 || s.Failures != 1 || s.Errors != 1 || s.Time != "1.500" || s.Timestamp != "2026-03-03T07:00:00" {
		t.Errorf("%+v", s)
	}
}

func TestHostileWordsInJUnit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := hostileGate().Draw(t, "gate")
		text, err := JUnit(g)
		if err != nil {
			t.Fatal(err)
		}
		dec := xml.NewDecoder(strings.NewReader(string(text)))
		cases, failures, errors := 0, 0, 0
		for {
			tok, err := dec.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%v in %s", err, text)
			}
			switch e := tok.(type) {
			case xml.StartElement:
				switch e.Name.Local {
				case "testcase":
					cases++
				case "failure":
					failures++
				case "error":
					errors++
				case "testsuites", "testsuite", "properties", "property", "system-out", "system-err":
				default:
					t.Fatalf("an element <%s> that is not ours", e.Name.Local)
				}
			case xml.Comment, xml.Directive:
				t.Fatalf("somebody else's %T", e)
			}
		}
		met, not := 0, 0
		for _, c := range g.Decision.Criteria {
			switch c.Status {
			case gate.Met:
				met++
			case gate.NotMet:
				not++
			}
		}
		if cases != len(g.Decision.Criteria) || failures != not || errors != cases-met-not {
			t.Fatalf("%d cases, %d failures, %d errors: %s", cases, failures, errors, text)
		}
	})
}
