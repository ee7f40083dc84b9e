package main

import (
	"strings"

	"conclave/app"
	"conclave/profile"
)

// app is what this command line calls: the environment as it stands now, with
// the flags read.
func (env *environment) app() *app.App {
	a := &app.App{
		Dir: env.Dir, Root: env.Root, Getenv: env.Getenv, Stdin: env.Stdin, Version: version, Show: env.show,
	}
	if env.StdinIsTerminal {
		a.Person = env.keyboard()
	}
	return a
}

// keyboard is the one reader of what is typed.
func (env *environment) keyboard() *keyboard {
	if env.person == nil {
		env.person = &keyboard{env: env}
	}
	return env.person
}

// show prints an event.
func (env *environment) show(e app.Event) {
	switch e := e.(type) {
	case app.Warning:
		env.Stderr.Printf("conclave: %s\n", e.Text)
	case app.Faults:
		printFaults(env.Stdout, e)
	case app.Following:
		env.Stderr.Printf("following %s\n", strings.Join(e.Roots, " and "))
	case app.Collecting:
		env.showCollecting(e.Balance)
	case app.Progress:
		env.showProgress(e)
	}
}

// What follows stands between commands that have not moved to app yet and what
// has.

type workspace = app.Workspace

func (env *environment) findRoot() (string, error)                   { return env.app().FindRoot() }
func (env *environment) enter() (*workspace, error)                  { return env.app().Enter() }
func (env *environment) openWorkspace() (*workspace, error)          { return env.app().OpenWorkspace() }
func (env *environment) packLibrary() (profile.Library, error)       { return env.app().PackLibrary() }
func (env *environment) openPack(name string) (*profile.Pack, error) { return env.app().OpenPack(name) }
func (env *environment) absPath(name string) string                  { return env.app().AbsPath(name) }
func (env *environment) userDataDir() string                         { return env.app().UserDataDir() }
func (env *environment) userConfigFile() string                      { return env.app().UserConfigFile() }
func inDir(env *environment, file string) string                     { return env.app().AbsPath(file) }
