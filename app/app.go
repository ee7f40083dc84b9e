// Package app is what a person can do with Conclave: one method a verb. A face
// – the command line, a screen, a page, a tool server – calls app and nothing
// below it, so that what one of them can do the others can, and every rule of
// using the house has its home here: finding and opening a workspace, what of
// it is trusted, who is cast for a role, what may be spent, what becomes of an
// interaction that was cut, what an answer means, who sees what of a table on
// a screen that people share.
//
// # A face and the app
//
// A face makes an App of what it knows: the directory, the environment, the
// version, the words that come in. It calls a verb with options as plain data
// and gets back data, with the JSON tags with which it is printed, and an error:
//
//	res, err := a.Council(ctx, app.Talk{Message: "What is missing?"})
//
// An option is what the person said, word for word; what it means is found out
// here ("@FILE" is read here, "dragon" is looked up here). A type of a lower
// package may stand in a result: a face uses its fields and methods and does
// not import it.
//
// What is to be seen while a verb runs is an Event, and goes to App.Show: events
// are data, and the face decides how they look and whether they do. Show is
// called from several goroutines at once, and blocks who calls it. What is to be
// known from the person goes to App.Person: the question is made here and its
// answer is read here; the face asks and hands back what was typed. Where
// nobody can be asked Person is nil, and the verb says what to give instead.
//
// # Errors
//
// Every error has a Kind, from which a face derives its exit code, its status,
// its colour: No (the work was done, and the answer is no), Usage (what was
// asked for makes no sense), Environment (something is missing here). Its text
// names the file, the line and the way out, and tells its own words from
// foreign ones (screen.Texter). Said(err) is true for an error without words: the
// result, which is returned with it, says no by itself.
//
// # How a verb is written
//
// In the file of its family (quest.go, table.go, trust.go …): options as a
// struct whose zero value works, the verb as a method of App or of what App
// opens (workspace), the result as a struct with JSON tags. It opens what it
// needs, checks what was said, does it through the packages below, and gives
// each error its kind where it becomes one of ours: noError, usageError and
// environmentError. It never prints, never reads a terminal, never ends the
// process.
package app

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"runtime"

	"conclave/internal/screen"
	"conclave/room"
)

// App is Conclave for one person in one place. It is not changed once a verb
// was called.
type App struct {
	Dir     string // where the person is
	Root    string // the workspace that they named; "" for the nearest upwards
	Getenv  func(string) string
	Version string    // of the program
	Stdin   io.Reader // what "-" names

	Log    *Log        // the log stream of what is recorded; nil for none
	Show   func(Event) // nil for nobody
	Person Person      // nil for nobody
	Remote *Remote     // an agent that asks in the person's place; nil for the person

	// Dial reaches a vendor's host for a program with the person's login. It is
	// for tests: nil, as everywhere else, dials the host's public address, and
	// nothing that a person, a file or a variable says changes that.
	Dial func(ctx context.Context, host string) (net.Conn, error)

	// Literal: what comes from outside of the process is words and names of runs and
	// tables. It names no file of this machine, and no command.
	Literal bool

	// Where verbs run that came from another terminal: a table, or a quest.
	at    *tableHub
	quest *questSession
	// pageLink makes a link to the page, where the page is served.
	pageLink func() (string, error)

	wire *attached // that terminal
	seen seen      // what it has shown
}

// Init is what a program calls before anything else in main: a helper of a room
// is this program again.
func Init() { room.Init() }

func (a *App) show(e Event) {
	if a.Show != nil {
		a.Show(e)
	}
}

// tell says to the person what they must know now, beside what was asked for.
func (a *App) tell(text string) { a.show(Warning{screen.Sprintf("%s", text)}) }

// aside tells the person something that is no part of the story.
func (a *App) aside(format string, args ...any) { a.show(Aside{screen.Sprintf(format, args...)}) }

// note says a paragraph of the app's own.
func (a *App) note(format string, args ...any) { a.show(Note{screen.Sprintf(format, args...)}) }

// AbsPath makes a name that the person said absolute.
func (a *App) AbsPath(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.Dir, name)
}

// userConfigFile is the user's own file, "" where no home is known: a relative
// name would be found in whatever directory a command is given.
func (a *App) userConfigFile() string {
	dir := a.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home := a.Getenv("HOME")
		if home == "" {
			home = a.Getenv("USERPROFILE")
		}
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "conclave", "config.yaml")
}

// userDataDir is the directory for a user's data, as this system has it; "" where
// no home is known, for a relative one would be the workspace's.
func (a *App) userDataDir() string {
	return a.userDir("XDG_DATA_HOME", "Application Support", filepath.Join(".local", "share"))
}

// userCacheDir is the directory for what a user can do without.
func (a *App) userCacheDir() string { return a.userDir("XDG_CACHE_HOME", "Caches", ".cache") }

// userDir is what a variable names; else a directory of the user's, of that name in
// the library of a Mac and of the other in a home elsewhere.
func (a *App) userDir(variable, library, inHome string) string {
	if dir := a.Getenv(variable); filepath.IsAbs(dir) {
		return dir
	}
	home := a.Getenv("HOME")
	switch {
	case runtime.GOOS == "windows":
		if dir := a.Getenv("LOCALAPPDATA"); filepath.IsAbs(dir) {
			return dir
		}
		return ""
	case !filepath.IsAbs(home):
		return ""
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", library)
	}
	return filepath.Join(home, inHome)
}
