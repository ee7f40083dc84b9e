package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Patience is how long a wait lasts before it is an error: an eternity for a page,
// so that a busy machine is no reason.
const Patience = time.Minute

// Tab is one tab, and what was seen of it since it was opened.
type Tab struct {
	ctx     context.Context
	browser context.Context // what other tabs of the same browser are opened in
	end     func()

	mu       sync.Mutex
	faults   []string // what no page of ours does
	requests []string // every address that was asked for
}

// watch is run in every document before its own scripts: canary is what hostile
// text tries to call.
const watch = `(() => {
	const tell = self.conclaveWatch;
	self.canary = (...what) => { tell('executed: canary(' + what.join() + ')'); return 1; };
	addEventListener('securitypolicyviolation',
		e => tell('policy: ' + e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sample), true);
})()`

// Open opens an empty tab. Isolated ones share no storage with others, like a
// browser of somebody else.
func (b *Browser) Open(isolated bool) (*Tab, error) {
	var opts []chromedp.ContextOption
	if isolated {
		opts = append(opts, chromedp.WithNewBrowserContext())
	}
	return openTab(b.ctx, opts...)
}

// Beside opens another tab of the same person: it shares the storage of this one.
func (t *Tab) Beside() (*Tab, error) {
	return openTab(t.browser, chromedp.WithExistingBrowserContext(chromedp.FromContext(t.ctx).BrowserContextID))
}

func openTab(browser context.Context, opts ...chromedp.ContextOption) (*Tab, error) {
	ctx, end := chromedp.NewContext(browser, opts...)
	t := &Tab{ctx: ctx, end: end, browser: browser}
	if err := t.prepare(); err != nil {
		end()
		return nil, fmt.Errorf("open a tab: %w", err)
	}
	return t, nil
}

// Close closes the tab.
func (t *Tab) Close() { t.end() }

func (t *Tab) prepare() error {
	if err := chromedp.Do(t.ctx); err != nil {
		return err
	}
	console := chromedp.Console(t.ctx)
	sent := chromedp.Events(t.ctx, network.RequestWillBeSent)
	dialogs := chromedp.Events(t.ctx, page.JavascriptDialogOpening)
	told := chromedp.Events(t.ctx, runtime.BindingCalled)
	go func() {
		for m, err := range console {
			if err != nil {
				return
			}
			if m.IsException() || m.Type == "error" || m.Type == "warning" || m.Type == "assert" {
				t.fault("console: " + m.String() + " " + m.URL)
			}
		}
	}()
	go func() {
		for e, err := range sent {
			if err != nil {
				return
			}
			t.mu.Lock()
			t.requests = append(t.requests, e.Request.URL)
			t.mu.Unlock()
		}
	}()
	go func() {
		for e, err := range dialogs {
			if err != nil {
				return
			}
			t.fault("executed: a dialog: " + e.Message)
			chromedp.Call(t.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
		}
	}()
	go func() {
		for e, err := range told {
			if err != nil {
				return
			}
			t.fault(e.Payload)
		}
	}()
	if _, err := chromedp.Call(t.ctx, runtime.AddBinding, runtime.AddBindingParams{Name: "conclaveWatch"}); err != nil {
		return err
	}
	_, err := chromedp.Call(t.ctx, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: watch})
	return err
}

func (t *Tab) fault(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.faults = append(t.faults, what)
}

// Asked are the addresses that were asked for since Faults was last called.
func (t *Tab) Asked() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.requests)
}

// Faults tells what was seen since it was last asked that no page of ours does: an
// error or a warning in the console, a violation of the policy, a dialog, code of
// strangers that ran, a request to anywhere but the origin.
func (t *Tab) Faults(origin string) []string {
	// What the browser sends is in order: after an answer nothing is left under way.
	t.Do(chromedp.Evaluate[bool]("true"))
	t.mu.Lock()
	defer t.mu.Unlock()
	list := slices.Clone(t.faults)
	for _, u := range t.requests {
		if away(u, origin) {
			list = append(list, "request: "+u)
		}
	}
	t.faults, t.requests = nil, nil
	return list
}

func away(address, origin string) bool {
	address = strings.TrimPrefix(address, "blob:")
	u, err := url.Parse(address)
	if err != nil {
		return true
	}
	return u.Scheme != "data" && u.Scheme != "about" && u.Scheme+"://"+u.Host != origin
}

// Do runs steps of the driver.
func (t *Tab) Do(steps ...any) error {
	ctx, cancel := context.WithTimeout(t.ctx, Patience)
	defer cancel()
	for _, step := range steps {
		var err error
		switch step := step.(type) {
		case chromedp.Action[chromedp.Void]:
			err = chromedp.Do(ctx, step)
		case chromedp.Action[bool]:
			_, err = chromedp.Run(ctx, step)
		default:
			err = fmt.Errorf("a step of type %T", step)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Go opens an address, as if it were typed.
func (t *Tab) Go(address string) error {
	if err := t.Do(chromedp.Navigate(address)); err != nil {
		return fmt.Errorf("open %s: %w", address, err)
	}
	return nil
}

// Eval has the page work an expression out, and waits if that is a promise.
func Eval[T any](t *Tab, expression string) (T, error) {
	return evalFor[T](t, expression, Patience)
}

func evalFor[T any](t *Tab, expression string, patience time.Duration) (T, error) {
	var value T
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	// As JSON, so that what is undefined or null is a zero value and not an error.
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](
		`(async () => JSON.stringify((await (`+expression+`)) ?? null))()`, chromedp.EvalAwaitPromise))
	if err != nil {
		return value, fmt.Errorf("%.200s: %w", expression, err)
	}
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return value, fmt.Errorf("%.200s: %w", expression, err)
	}
	return value, nil
}

// Wait waits until an expression is true in the page, checked at every frame, and
// goes on when the page is loaded anew meanwhile.
func (t *Tab) Wait(expression string) error {
	until := time.Now().Add(Patience)
	poll := fmt.Sprintf(`new Promise((yes, no) => {
		const end = performance.now() + %d;
		const look = async () => {
			let v; try { v = await (%s) } catch {}
			if (v) yes(true); else if (performance.now() > end) no(new Error('it never came true')); else setTimeout(look, 8);
		};
		look();
	})`, Patience.Milliseconds(), expression)
	for {
		ok, err := evalFor[bool](t, poll, Patience+5*time.Second)
		if ok || time.Now().After(until) || t.ctx.Err() != nil || err != nil && !lost(err) {
			if err != nil {
				err = fmt.Errorf("wait for %s: %w; the page says: %s", expression, err, t.words())
			}
			return err
		}
	}
}

// lost says whether an answer is missing because the document went away.
func lost(err error) bool {
	var e *cdp.Error
	return errors.As(err, &e) || strings.Contains(err.Error(), "context")
}

// words is what a person sees, for messages.
func (t *Tab) words() string {
	text, _ := evalFor[string](t, `document.title + ' | ' + document.body.innerText.slice(0, 800)`, 5*time.Second)
	return strings.Join(strings.Fields(text), " ")
}

// Look says how the page is looked at.
type Look struct {
	Width, Height int64
	Dark, Mobile  bool
	Scale         float64 // zero means 1
	Print         bool
	Still         bool // prefers-reduced-motion
	Forced        bool // forced-colors
}

// See sets how the page is looked at.
func (t *Tab) See(l Look) error {
	scale := l.Scale
	if scale == 0 {
		scale = 1
	}
	scheme, motion, forced, media := "light", "no-preference", "none", ""
	if l.Dark {
		scheme = "dark"
	}
	if l.Still {
		motion = "reduce"
	}
	if l.Forced {
		forced = "active"
	}
	if l.Print {
		media = "print"
	}
	_, err := chromedp.Call(t.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: l.Width, Height: l.Height, DeviceScaleFactor: scale, Mobile: l.Mobile})
	if err != nil {
		return err
	}
	_, err = chromedp.Call(t.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: media,
		Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: motion},
			{Name: "forced-colors", Value: forced}}})
	return err
}

// Shot is the picture of what is seen.
func (t *Tab) Shot() ([]byte, error) { return chromedp.Run(t.ctx, chromedp.CaptureScreenshot()) }

// Key presses a key by the name that the page sees (Enter, Tab, j), with modifiers
// before it: Control+k, Shift+Tab. It writes what it writes unless the page prevents
// that, as on a keyboard.
func (t *Tab) Key(names ...string) error {
	ctx, cancel := context.WithTimeout(t.ctx, Patience)
	defer cancel()
	for _, name := range names {
		parts := strings.Split(name, "+")
		var held chromedp.Modifier
		for _, m := range parts[:len(parts)-1] {
			held |= modifiers[m]
		}
		key := parts[len(parts)-1]
		if k, ok := keys[key]; ok {
			key = k
		}
		for _, r := range key {
			events := kb.Encode(r)
			down, up := events[0], events[len(events)-1]
			down.Modifiers |= int64(held)
			up.Modifiers |= int64(held)
			if len(events) == 3 && held&^chromedp.ModifierShift == 0 {
				down.Text, down.UnmodifiedText = events[1].Text, events[1].UnmodifiedText
			}
			for _, e := range []*input.DispatchKeyEventParams{down, up} {
				if _, err := chromedp.Call(ctx, input.DispatchKeyEvent, *e); err != nil {
					return fmt.Errorf("press %s: %w", name, err)
				}
			}
		}
	}
	return nil
}
