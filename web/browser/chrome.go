// Package browser drives the page of the program in a real Chromium: it builds
// the program, starts `conclave web` in a home of its own, opens the page by the
// one-time link that it prints, and watches what a browser alone can see: the
// console, violations of the policy, dialogs, and where requests go. It is for
// tests, and a module of its own so that its driver is no dependency of the
// program.
//
// Nothing here waits by the clock: a wait is a condition that the page itself
// checks at every frame, and a time after which that is an error. Expressions are
// handed to the browser as they are, because the policy of the page forbids it to
// make code of text, for drivers too.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/chromedp/chromedp"

	"conclave/internal/clients"
)

// Browser is a running Chromium with a profile of its own.
type Browser struct {
	ctx context.Context
	end func()
}

// Options of a browser. The zero value is one that resolves no names.
type Options struct {
	// Resolve are rules for host names in Chromium's own words (MAP host address);
	// what is not named is not found.
	Resolve string
	Zoom    float64 // scale of a device pixel; zero means 1
}

// executable finds Chromium: Debian's or the one that script/clients.sh unpacks.
func executable() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	if path, err := clients.Chromium(); err == nil {
		return path, nil
	}
	return "", errors.New("no Chromium here: run `make prepare`")
}

// Start starts Chromium.
func Start(o Options) (*Browser, error) {
	path, err := executable()
	if err != nil {
		return nil, err
	}
	profile, err := os.MkdirTemp("", "conclave-browser-")
	if err != nil {
		return nil, err
	}
	rules := "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
	if o.Resolve != "" {
		rules = o.Resolve + ", " + rules
	}
	flags := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(filepath.Join(profile, "profile")),
		chromedp.Env("HOME="+profile, "XDG_CONFIG_HOME="+profile, "XDG_CACHE_HOME="+profile),
		chromedp.Flag("host-resolver-rules", rules),
		chromedp.Flag("disable-gpu", true),
		// Each of the ten tabs of a test is in front of its person.
		chromedp.Flag("disable-features", "Translate,CalculateNativeWinOcclusion,MediaRouter,OptimizationHints"),
	)
	if o.Zoom != 0 {
		flags = append(flags, chromedp.Flag("force-device-scale-factor", fmt.Sprint(o.Zoom)))
	}
	if os.Getuid() == 0 {
		flags = append(flags, chromedp.NoSandbox)
	}
	alloc, endAlloc := chromedp.NewExecAllocator(context.Background(), flags...)
	ctx, endTab := chromedp.NewContext(alloc)
	b := &Browser{ctx: ctx, end: func() { endTab(); endAlloc(); os.RemoveAll(profile) }}
	if err := chromedp.Do(ctx); err != nil {
		b.Close()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return b, nil
}

// Close ends Chromium and removes its profile.
func (b *Browser) Close() { b.end() }
