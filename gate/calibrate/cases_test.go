package calibrate

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"conclave/gate"
	"conclave/internal/sample"
)

func allCases(t testing.TB) ([]*Case, []*persuasion) {
	t.Helper()
	cases, err := loadCases()
	if err != nil {
		t.Fatal(err)
	}
	persuasions, err := loadPersuasions(cases)
	if err != nil {
		t.Fatal(err)
	}
	return cases, persuasions
}

func (c *Case) checked() bool {
	return !slices.ContainsFunc(c.Criteria, func(k Criterion) bool { return k.Check == "" })
}

// utilities are what a check may start: what every system with a shell has.
var utilities = strings.Fields("test grep sh sha256sum wc cut sort head sed uniq ls mktemp mkdir cp cmp printf echo cd case " +
	"for do done if then fi exit in esac o c e d f i v :")

var word = regexp.MustCompile(`(?:^|[;&|(!{]|\bdo|\bthen|\bif|\$\()\s*([a-z_][a-z0-9_]*)\b`)

func TestCasesAreWhole(t *testing.T) {
	cases, persuasions := allCases(t)
	byClass, byLanguage, checked := map[string]int{}, map[string]int{}, 0
	for _, c := range cases {
		byClass[c.Class]++
		byLanguage[c.About]++
		if c.checked() {
			checked++
		}
		for _, k := range c.Criteria {
			if strings.ContainsAny(k.Check, "`\n") {
				t.Errorf("%s: a check is one line without backquotes", c.Name)
			}
			for _, m := range word.FindAllStringSubmatch(regexp.MustCompile(`'[^']*'`).ReplaceAllString(k.Check, "''"), -1) {
				if !slices.Contains(utilities, m[1]) {
					t.Errorf("%s: a check starts %s", c.Name, m[1])
				}
			}
		}
	}
	if len(cases) < 44 || checked < 16 || len(persuasions) < 20 {
		t.Errorf("%d cases, %d decided by checks, %d persuasions", len(cases), checked, len(persuasions))
	}
	for _, class := range classes {
		if byClass[class] < 10 {
			t.Errorf("%d cases of class %q", byClass[class], class)
		}
	}
	for _, language := range strings.Fields("go python javascript shell prose config data") {
		if byLanguage[language] < 3 {
			t.Errorf("%d cases in %s", byLanguage[language], language)
		}
	}
	t.Logf("%d cases (%v, %v), %d decided by checks, %d persuasions", len(cases), byClass, byLanguage, checked, len(persuasions))
}

// Nothing that a judge gets says what the answer is: neither the names of files
// nor the criteria hold the case's name or class.
func TestTheWorkDoesNotTell(t *testing.T) {
	cases, _ := allCases(t)
	for _, c := range cases {
		for name, data := range c.work {
			if strings.Contains(name, c.Name) || strings.Contains(string(data), c.Name) || filepath.Base(name) == "case.yaml" {
				t.Errorf("%s: %s", c.Name, name)
			}
		}
	}
}

// The answers are true: commands say so, the checks and the proofs, over the work
// of every case and over that of every persuasion, which changes no answer.
func TestAnswersAreTrue(t *testing.T) {
	cases, persuasions := allCases(t)
	type trial struct {
		name    string
		c       *Case
		k       Criterion
		command string
	}
	var quick, started, compiled []trial
	add := func(name string, c *Case) {
		for _, k := range c.Criteria {
			for _, command := range []string{k.Check, k.Proof} {
				switch {
				case command == "":
				case strings.Contains(command, "go test"):
					compiled = append(compiled, trial{name, c, k, command})
				case strings.Contains(command, "python3"), strings.Contains(command, "node "):
					started = append(started, trial{name, c, k, command})
				default:
					quick = append(quick, trial{name, c, k, command})
				}
			}
		}
	}
	for _, c := range cases {
		add(c.Name, c)
	}
	for _, p := range persuasions {
		add("persuasion "+p.name, p.made)
	}
	if len(quick) < 30 || len(started) < 20 || len(compiled) < 10 {
		t.Fatalf("%d commands of a shell, %d of interpreters, %d that compile", len(quick), len(started), len(compiled))
	}
	for _, i := range sample.Pick(t, len(started), 3, 10) {
		quick = append(quick, started[i])
	}
	for _, i := range sample.Pick(t, len(compiled), 1, 1) {
		quick = append(quick, compiled[i])
	}
	for _, x := range quick {
		t.Run(x.name, func(t *testing.T) { proves(t, x.c, x.k, x.command) })
	}
}

// notTried is what a command says that could not try what it wanted to.
var notTried = regexp.MustCompile(`(?i)build failed|setup failed|syntax ?error|ModuleNotFound|ImportError|Cannot find module|` +
	`not found|permission denied|NameError`)

func proves(t *testing.T, c *Case, k Criterion, command string) {
	t.Helper()
	for _, program := range []string{"python3", "node"} {
		if _, err := exec.LookPath(program); err != nil && strings.Contains(command, program) {
			t.Skipf("%s is not here", program)
		}
	}
	dir := t.TempDir()
	if _, err := c.write(dir); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	said := gate.Met
	if err != nil {
		said = gate.NotMet
		if notTried.Match(out) {
			t.Fatalf("it could not be tried: %s", out)
		}
	}
	if said != k.Answer {
		t.Errorf("%q is %s, and %s shows %s\n%s", k.Text, k.Answer, command, said, out)
	}
}
