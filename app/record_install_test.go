package app

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// odd is a name with everything that a unit or a property list takes for a sign.
const odd = `a %h $HOME "q" 'p' \x &amp; <ü>`

// TestSystemdUnit: the unit names the very program, directory and values, and
// systemd's own checker finds the program where one is installed.
func TestSystemdUnit(t *testing.T) {
	dir, bin := filepath.Join(t.TempDir(), odd), filepath.Join(t.TempDir(), "b %h $HOME <ü>")
	program := filepath.Join(bin, "conclave")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Mkdir(bin, 0o700), os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700)); err != nil {
		t.Fatal(err)
	}
	s, _, err := systemdService(Service{Name: "x"}, "", "/home/ada", program, dir, []string{"CODEX_HOME=/" + odd})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`Environment="CODEX_HOME=/a %%h $HOME \"q\" 'p' \\x &amp; <ü>"`,
		`/b %%h $HOME <ü>/conclave" record watch` + "\n", `/a %%h $HOME "q" 'p' \x &amp; <ü>` + "\n"} {
		if !strings.Contains(s.Text, want) {
			t.Errorf("it lacks %s:\n%s", want, s.Text)
		}
	}
	for _, name := range []string{`"`, `'`, `\`} {
		if _, _, err := systemdService(Service{}, "", "/home/ada", "/a"+name+"/conclave", dir, nil); err == nil {
			t.Errorf("a program with %s in its path, which systemd refuses, was taken", name)
		}
	}
	checker, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Logf("systemd's checker is not installed: the unit was only compared")
		return
	}
	file := filepath.Join(t.TempDir(), "x.service")
	verify := func(text string) (string, error) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), checker, "--user", "verify", file)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := verify(s.Text); err != nil || out != "" {
		t.Errorf("systemd does not take it: %v\n%s\n%s", err, out, s.Text)
	}
	if out, err := verify(strings.ReplaceAll(s.Text, "/conclave\"", "/elsewhere\"")); err == nil {
		t.Errorf("systemd takes a program that is not there: %s", out)
	}
}

// TestLaunchdList: the property list says the very words.
func TestLaunchdList(t *testing.T) {
	s, _, err := launchdService(Service{Name: "x"}, "/Users/ada", "/"+odd+"/conclave", "/"+odd, []string{"CODEX_HOME=" + odd})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for d, text := xml.NewDecoder(strings.NewReader(s.Text)), ""; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, s.Text)
		}
		switch x := token.(type) {
		case xml.StartElement:
			text = ""
		case xml.CharData:
			text += string(x)
		case xml.EndElement:
			if n := x.Name.Local; n != "dict" && n != "array" && n != "plist" {
				got = append(got, n+" "+text)
			}
			text = ""
		}
	}
	want := []string{"key Label", "string x", "key ProgramArguments", "string /" + odd + "/conclave", "string record", "string watch",
		"key WorkingDirectory", "string /" + odd, "key EnvironmentVariables", "key CODEX_HOME", "string " + odd,
		"key RunAtLoad", "true ", "key ProcessType", "string Background", "key KeepAlive", "key Crashed", "true "}
	if !slices.Equal(got, want) {
		t.Errorf("it says\n%q, not\n%q", got, want)
	}
}
