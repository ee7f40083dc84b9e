package main

import "conclave/app"

// app is what this command line calls: the environment as it stands now, with
// the flags read.
func (env *environment) app() *app.App {
	return &app.App{
		Dir: env.Dir, Root: env.Root, Getenv: env.Getenv, Stdin: env.Stdin, Version: version,
		Log: env.log, Show: env.Show, Person: env.Person(), Dial: env.dial,
	}
}
