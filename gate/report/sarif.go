package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"conclave/gate"
	"conclave/receipt"
)

// The parts of SARIF 2.1.0 that are written here.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool            `json:"tool"`
		Automation  sarifID              `json:"automationDetails"`
		Invocations []sarifInvocation    `json:"invocations"`
		Bases       map[string]sarifBase `json:"originalUriBaseIds"`
		Results     []sarifResult        `json:"results"`
		ColumnKind  string               `json:"columnKind"`
		Properties  map[string]string    `json:"properties"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string       `json:"id"`
		Short sarifMessage `json:"shortDescription"`
		Full  sarifMessage `json:"fullDescription"`
	}
	sarifID struct {
		ID string `json:"id"`
	}
	sarifBase struct {
		Description sarifMessage `json:"description"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string       `json:"level"`
		Message sarifMessage `json:"message"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Kind         string            `json:"kind"`
		Level        string            `json:"level"`
		Message      sarifMessage      `json:"message"`
		Locations    []sarifLocation   `json:"locations,omitempty"`
		Related      []sarifLocation   `json:"relatedLocations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId"`
	}
	sarifRegion struct {
		Start int `json:"startLine"`
		End   int `json:"endLine,omitempty"`
	}
)

const (
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	sourceRoot  = "%SRCROOT%" // the name by which code hosts know a checkout
	fingerprint = "conclaveCriterion/v1"
)

// SARIF tells what was not met and what was not judged; a criterion that is met
// has a rule and no result.
func SARIF(g Gate) ([]byte, error) {
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "Conclave gate", Version: words(g.version()), Rules: []sarifRule{}}},
		Automation:  sarifID{"conclave-gate/" + words(g.Case.Role)},
		Invocations: []sarifInvocation{g.invocation()},
		Bases:       map[string]sarifBase{sourceRoot: {message("the work")}},
		Results:     []sarifResult{},
		ColumnKind:  "unicodeCodePoints",
		Properties:  g.facts(),
	}
	seen := map[string]int{}
	for i, c := range g.criteria() {
		print := gate.SHA256([]byte(g.Case.Role + "\x00" + c.text))
		id := "criterion-" + print[:12]
		if seen[id]++; seen[id] > 1 {
			id = fmt.Sprintf("%s-%d", id, seen[id])
		}
		head, _, _ := strings.Cut(c.text, "\n")
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{id, message(head), message(c.text)})
		if c.Status == gate.Met {
			continue
		}
		r := sarifResult{RuleID: id, RuleIndex: i, Kind: "fail", Level: "error", Message: g.said(&c),
			Fingerprints: map[string]string{fingerprint: id + "/" + print}}
		if c.Status == gate.NotJudged {
			r.Kind, r.Level = "open", "none" // the standard wants no level where nothing failed
		}
		for n, place := range g.places(&c) {
			if n == 0 {
				r.Locations = append(r.Locations, location(place))
			} else {
				r.Related = append(r.Related, location(place))
			}
		}
		run.Results = append(run.Results, r)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(sarifLog{sarifSchema, "2.1.0", []sarifRun{run}})
	return b.Bytes(), err
}

func (g *Gate) said(c *criterion) sarifMessage {
	text := fmt.Sprintf("Criterion %d is %s: %s", c.Number, c.Status, c.text)
	for _, e := range c.evidence() {
		text += "\n" + e
	}
	return message(text)
}

// invocation is successful if there is a verdict.
func (g *Gate) invocation() sarifInvocation {
	decided := g.outcome() != gate.NotJudged
	in := sarifInvocation{Successful: decided}
	if !decided {
		in.Notifications = append(in.Notifications, sarifNotification{"error", message("the case was not judged")})
	}
	for _, f := range g.failures() {
		in.Notifications = append(in.Notifications, sarifNotification{"error", message(f)})
	}
	return in
}

// placeholder is what a message could be thought to want arguments for.
var placeholder = regexp.MustCompile(`\{(\d+)\}`)

// message keeps foreign text from holding links and placeholders, which a plain
// message may have in SARIF.
func message(text string) sarifMessage {
	text = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`).Replace(text)
	return sarifMessage{placeholder.ReplaceAllString(text, "{{$1}}")}
}

func location(c receipt.Citation) sarifLocation {
	parts := strings.Split(c.Path, "/")
	for i, p := range parts {
		parts[i] = strings.ReplaceAll(url.PathEscape(p), ":", "%3A") // no scheme
	}
	region := sarifRegion{Start: c.Line}
	if c.EndLine > c.Line {
		region.End = c.EndLine
	}
	return sarifLocation{sarifPhysical{sarifArtifact{strings.Join(parts, "/"), sourceRoot}, region}}
}
