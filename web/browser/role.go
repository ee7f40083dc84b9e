package browser

import (
	"fmt"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// find looks for what a screen reader announces by a role and a name, and waits for it.
func (t *Tab) find(role, name string) (cdp.BackendNodeID, error) {
	for until := time.Now().Add(Patience); ; {
		document, err := chromedp.Call(t.ctx, dom.GetDocument, dom.GetDocumentParams{})
		if err != nil {
			return 0, err
		}
		found, err := chromedp.Call(t.ctx, accessibility.QueryAXTree, accessibility.QueryAXTreeParams{
			NodeID: document.Root.NodeID, Role: role, AccessibleName: name})
		if err == nil {
			for _, n := range found.Nodes {
				if !n.Ignored && n.BackendDOMNodeID != 0 {
					return n.BackendDOMNodeID, nil
				}
			}
		}
		if time.Now().After(until) {
			return 0, fmt.Errorf("there is no %s called %q; the page says: %s", role, name, t.words())
		}
		// A frame later there may be one.
		if err := t.Do(chromedp.Evaluate[bool](`new Promise(r => setTimeout(r, 16, true))`, chromedp.EvalAwaitPromise)); err != nil {
			return 0, err
		}
	}
}

// Press clicks what has a role and a name, in its middle, with a mouse. What is drawn
// anew meanwhile is looked for again.
func (t *Tab) Press(role, name string) error {
	for until := time.Now().Add(Patience); ; {
		x, y, err := t.middle(role, name)
		if err == nil {
			return t.Do(chromedp.MouseClickXY(x, y))
		}
		if time.Now().After(until) {
			return fmt.Errorf("press the %s %q: %w", role, name, err)
		}
	}
}

// middle brings something into view and says where it is.
func (t *Tab) middle(role, name string) (x, y float64, err error) {
	node, err := t.find(role, name)
	if err != nil {
		return 0, 0, err
	}
	_, err = chromedp.Call(t.ctx, dom.ScrollIntoViewIfNeeded, dom.ScrollIntoViewIfNeededParams{BackendNodeID: node})
	if err != nil {
		return 0, 0, err
	}
	box, err := chromedp.Call(t.ctx, dom.GetBoxModel, dom.GetBoxModelParams{BackendNodeID: node})
	if err != nil {
		return 0, 0, err
	}
	q := box.Model.Content
	return (q[0] + q[2] + q[4] + q[6]) / 4, (q[1] + q[3] + q[5] + q[7]) / 4, nil
}

// Write puts words into a field that has a name.
func (t *Tab) Write(name, words string) error { return t.WriteIn("textbox", name, words) }

// WriteIn is Write for a field that has another role: spinbutton, searchbox.
func (t *Tab) WriteIn(role, name, words string) error {
	node, err := t.find(role, name)
	if err != nil {
		return err
	}
	if _, err := chromedp.Call(t.ctx, dom.Focus, dom.FocusParams{BackendNodeID: node}); err != nil {
		return fmt.Errorf("write into %q: %w", name, err)
	}
	_, err = chromedp.Call(t.ctx, input.InsertText, input.InsertTextParams{Text: words})
	return err
}
