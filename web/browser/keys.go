package browser

import (
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var modifiers = map[string]chromedp.Modifier{
	"Control": chromedp.ModifierCtrl, "Shift": chromedp.ModifierShift,
	"Alt": chromedp.ModifierAlt, "Meta": chromedp.ModifierMeta,
}

var keys = map[string]string{
	"Enter": kb.Enter, "Tab": kb.Tab, "Escape": kb.Escape, "ArrowDown": kb.ArrowDown, "ArrowUp": kb.ArrowUp,
	"ArrowLeft": kb.ArrowLeft, "ArrowRight": kb.ArrowRight, "End": kb.End, "Home": kb.Home, "PageDown": kb.PageDown,
	"PageUp": kb.PageUp, "Space": " ", "Backspace": kb.Backspace,
}
