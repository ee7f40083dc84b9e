package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"

	"conclave/internal/lockfile"
	"conclave/internal/ownpath"
	"conclave/internal/proc"
)

// A workspace has one page at a time. Its lock and its socket lie where things lie
// that can be made again, and not in the workspace: who only looks changes nothing.

// HoldPage serves the page of the workspace while it is the only one that does,
// with link for whoever wants to come in. Where another process of the person does
// so already, nothing is served, and the link that this one gives comes back.
func (a *App) HoldPage(
	ctx context.Context, link func() (string, error), serve func(root string) error,
) (elsewhere string, err error) {
	root, err := a.findRoot()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(a.cacheDir(), "web")
	if !filepath.IsAbs(dir) {
		return "", environmentError("no home is known, so a second page could not be told from this one: set HOME")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", environmentError("%w", err)
	}
	id := sha256.Sum256([]byte(linked(root)))
	base := filepath.Join(dir, hex.EncodeToString(id[:12]))
	socket := base + ".sock"
	err = a.reach(ctx, socket, verb{method: "PageLink", results: []any{&elsewhere}, repeats: true}, func() error {
		lock, err := lockfile.TryLock(base+".lock", "conclave web")
		if err != nil {
			return environmentError("%w", err)
		}
		admit := func(at *App, args []reflect.Value) error {
			if len(args) != 1 { // the context
				return usageError("that is nothing for the page")
			}
			at.pageLink = link
			return nil
		}
		served := a.listenAt(ctx, socket, root, admit)
		err = serve(root)
		served.close()
		return errors.Join(err, lock.Unlock())
	})
	return elsewhere, err
}

// PageLink is a new link to the page, from the process that serves it.
func (a *App) PageLink(context.Context) (string, error) {
	if a.pageLink == nil {
		return "", usageError("no page is served here: conclave web")
	}
	return a.pageLink()
}

// Browse shows a link in the person's browser, where there is a screen for it. That
// it could not is nothing to be told: the link is printed, too.
func (a *App) Browse(link string) {
	var words []string
	switch {
	case runtime.GOOS == "windows":
		words = []string{"rundll32", "url.dll,FileProtocolHandler", link}
	case a.Getenv("SSH_CONNECTION") != "":
		return // the screen is elsewhere
	case runtime.GOOS == "darwin":
		words = []string{"open", link}
	case a.Getenv("DISPLAY") != "" || a.Getenv("WAYLAND_DISPLAY") != "":
		words = []string{"xdg-open", link}
	default:
		return
	}
	program, _, err := ownpath.Find(words[0], a.Dir)
	if err != nil {
		return
	}
	cmd := exec.Command(program, words[1:]...)
	proc.Detach(cmd) // what ends this program does not end the browser
	if cmd.Start() == nil {
		go func() { _ = cmd.Wait() }()
	}
}
