package main

import "conclave/app"

// The exit codes and what they mean.
const (
	exitDone        = 0
	exitNo          = 1 // the answer is no: a check failed, something was found
	exitUsage       = 2 // the command line is wrong
	exitEnvironment = 3 // something this machine or project lacks
)

// exitCode is what an error of the app means to a shell.
func exitCode(err error) int {
	switch app.KindOf(err) {
	case app.No:
		return exitNo
	case app.Usage:
		return exitUsage
	}
	return exitEnvironment
}

// noError: the command did its work, and the answer is no.
func noError(format string, args ...any) error { return app.ErrorOf(app.No, format, args...) }

// usageError: the command line is wrong.
func usageError(format string, args ...any) error { return app.ErrorOf(app.Usage, format, args...) }

// environmentError: something is missing here.
func environmentError(format string, args ...any) error {
	return app.ErrorOf(app.Environment, format, args...)
}
